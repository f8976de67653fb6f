//! Counters of an element without a queue: a packet passes at once, or is dropped.

use crate::packet::{Train, append};
use crate::stage::{Drops, DueCounter};
use crate::trace::StageSample;
use crate::units::Time;
use alloc::vec::Vec;

/// Packets that passed, and packets that were dropped.
#[derive(Default)]
pub(super) struct Passing {
    left: DueCounter,
    dropped: Drops,
}

impl Passing {
    /// Counters that use `left` for packets that pass.
    pub(super) fn new(left: DueCounter) -> Passing {
        Passing { left, dropped: Drops::default() }
    }

    /// Passes packets on unchanged.
    pub(super) fn pass(&mut self, packets: Train, out: &mut Vec<Train>) {
        self.left.add(packets.first, packets.spacing, packets.count, packets.ip_len);
        append(out, packets);
    }

    /// Drops packets.
    pub(super) fn lose(&mut self, packets: &Train) {
        self.dropped.lose(packets, packets.ip_len);
    }

    pub(super) fn drops(&mut self) -> &mut Drops {
        &mut self.dropped
    }

    /// Sample of the element at `now`.
    pub(super) fn sample(&mut self, now: Time) -> StageSample {
        self.left.advance(now);
        self.dropped.advance(now);
        StageSample {
            entered: self.left.count,
            left: self.left.count,
            dropped: self.dropped.count,
            ..StageSample::without_room(now)
        }
    }
}
