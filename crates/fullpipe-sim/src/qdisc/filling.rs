//! Occupancy of a place whose packets wait for a discipline.

use super::{QueueLimit, Size};
use crate::stage::{DueCounter, Occupancy};
use crate::units::Time;

/// What waits for a discipline, which may take any of it out.
#[derive(Clone, Debug)]
pub struct Filling {
    limit: QueueLimit,
    /// What waits.
    pub size: Size,
    /// Bytes of the packet that came last.
    last: u32,
    /// For how long.
    pub times: Occupancy,
}

impl Filling {
    /// Nothing waits.
    pub fn new(limit: QueueLimit) -> Filling {
        Filling { limit, size: Size::default(), last: 0, times: Occupancy::default() }
    }

    /// A packet comes.
    pub fn come(&mut self, bytes: u32) {
        self.size = self.size.and(1, bytes);
        self.last = bytes;
    }

    /// A packet is gone: it has left, or was dropped.
    pub fn go(&mut self, bytes: u64) {
        self.size = Size { packets: self.size.packets - 1, bytes: self.size.bytes - bytes };
    }

    /// From `now` on that is so.
    pub fn settle(&mut self, now: Time) {
        let waits = self.size.packets > 0;
        self.times.occupied.set(now, waits);
        self.times.full.set(now, waits && !self.size.and(1, self.last).fits(self.limit));
    }
}

/// Tallies of packets that wait in such a place: bytes are of interest where they bound it.
pub fn weigh_where_bounded<'a>(
    limit: QueueLimit,
    counters: impl IntoIterator<Item = &'a mut DueCounter>,
) {
    if matches!(limit, QueueLimit::Bytes(_)) {
        counters.into_iter().for_each(DueCounter::weigh);
    }
}
