//! Stages of a host, one file each, and the two ways that join them: `transmit` (qdisc, transmit
//! ring) and `receive` (receive ring, backlog), behind which is `gro`.

mod backlog;
pub mod bql;
mod completion;
pub mod gro;
mod held;
mod qdisc;
pub mod receive;
mod rx_ring;
pub mod transmit;
mod tx_ring;

use crate::packet::Train;
use crate::trace::StageInfo;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;

/// Moves the first `left` packets of `held` to `out`.
fn take_first(held: &mut VecDeque<Train>, mut left: u64, out: &mut Vec<Train>) {
    while left > 0
        && let Some(train) = held.front_mut()
    {
        let taken = u64::from(train.count).min(left) as u32;
        out.push(train.part(0, taken));
        if taken == train.count {
            held.pop_front();
        } else {
            *train = train.part(taken, train.count - taken);
        }
        left -= u64::from(taken);
    }
}

/// The description of a host's stage, one that is timed; index and direction are filled in by the run.
pub fn info(
    host: &str,
    kind: &'static str,
    unit: &'static str,
    capacity: Option<u64>,
) -> StageInfo {
    StageInfo {
        index: 0,
        name: format!("{host}.{kind}"),
        kind,
        direction: "",
        unit,
        capacity,
        timed: true,
    }
}
