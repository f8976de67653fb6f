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

use crate::trace::StageInfo;
use alloc::format;

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
