//! Occupancy of a place that holds packets for a qdisc.

use super::{QueueLimit, Size};
use crate::stage::{DueCounter, Occupancy};
use crate::units::Time;

/// Number and bytes of packets that wait for a qdisc, which may take out any of them.
#[derive(Clone, Debug)]
pub struct Filling {
    limit: QueueLimit,
    /// Packets that wait.
    pub size: Size,
    /// Bytes of the last arrival.
    last: u32,
    /// Durations for which the place was occupied, or full.
    pub times: Occupancy,
}

impl Filling {
    /// An empty place.
    pub fn new(limit: QueueLimit) -> Filling {
        Filling { limit, size: Size::default(), last: 0, times: Occupancy::default() }
    }

    /// Adds an arriving packet.
    pub fn come(&mut self, bytes: u32) {
        self.size = self.size.and(1, bytes);
        self.last = bytes;
    }

    /// Removes a packet that has left or was dropped.
    pub fn go(&mut self, bytes: u64) {
        self.size = Size { packets: self.size.packets - 1, bytes: self.size.bytes - bytes };
    }

    /// Updates the times for the packets that wait from `now` on.
    pub fn settle(&mut self, now: Time) {
        let waits = self.size.packets > 0;
        self.times.occupied.set(now, waits);
        self.times.full.set(now, waits && !self.size.and(1, self.last).fits(self.limit));
    }
}

/// Lets counters weigh bytes, where bytes bound the place.
pub fn weigh_where_bounded<'a>(
    limit: QueueLimit,
    counters: impl IntoIterator<Item = &'a mut DueCounter>,
) {
    if matches!(limit, QueueLimit::Bytes(_)) {
        counters.into_iter().for_each(DueCounter::weigh);
    }
}
