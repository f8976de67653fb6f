//! Merge queue of a direction that several hosts send into. Packets leave it in order of time, at equal times in the
//! order of the hosts.
//!
//! Hosts work ahead of each other. So a host's packets wait here until no other host can send anything earlier.

use crate::packet::Train;
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Trains by host that were sent but have not entered the direction.
pub(super) struct MergeQueue(Vec<VecDeque<Train>>);

impl MergeQueue {
    /// A queue for so many hosts.
    pub(super) fn new(hosts: usize) -> MergeQueue {
        MergeQueue((0..hosts).map(|_| VecDeque::new()).collect())
    }

    /// Adds a train of the host at this place, later than its earlier ones.
    pub(super) fn put(&mut self, host: usize, train: Train) {
        self.0[host].push_back(train);
    }

    /// Time at which the first waiting packet is to enter.
    pub(super) fn next(&self) -> Time {
        self.heads().map(|(time, _)| time).min().unwrap_or(Time::NEVER)
    }

    /// Takes the first packets: those of one train that enter before `end` and before any other host's.
    pub(super) fn take(&mut self, end: Time) -> Option<Train> {
        let (time, host) = self.heads().min().filter(|(time, _)| *time < end)?;
        let others = self.heads().filter(|(_, other)| *other != host).min();

        // At equal times the host that comes first in the order has priority.
        let last = end.saturating_sub(Time(1));
        let last = match others {
            Some((next, other)) if host < other => last.min(next),
            Some((next, _)) => last.min(next.saturating_sub(Time(1))),
            None => last,
        };
        let waiting = self.0[host].front_mut()?;
        let count = waiting.until(last.max(time)).max(1);
        let taken = waiting.part(0, count);
        if count == waiting.count {
            self.0[host].pop_front();
        } else {
            *waiting = waiting.part(count, waiting.count - count);
        }
        Some(taken)
    }

    /// Calls `each` for every waiting train.
    pub(super) fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.0.iter().flatten().for_each(each);
    }

    /// The first packet of each host, by its time and the host's place.
    fn heads(&self) -> impl Iterator<Item = (Time, usize)> {
        let fronts = self.0.iter().enumerate();
        fronts.filter_map(|(host, waiting)| Some((waiting.front()?.first, host)))
    }
}
