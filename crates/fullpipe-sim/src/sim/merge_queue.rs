//! Merge queue of a way that several hosts send into: packets leave it in order of time, at one time in the order of the hosts.
//!
//! Hosts work ahead of each other, so what one has sent waits here until no other one can send anything before it.

use crate::packet::Train;
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Trains that each host has sent and that have not entered the way.
pub(super) struct MergeQueue(Vec<VecDeque<Train>>);

impl MergeQueue {
    /// For so many hosts.
    pub(super) fn new(hosts: usize) -> MergeQueue {
        MergeQueue((0..hosts).map(|_| VecDeque::new()).collect())
    }

    /// The host at this place sends a train, later than what it has sent before.
    pub(super) fn put(&mut self, host: usize, train: Train) {
        self.0[host].push_back(train);
    }

    /// When the first packet that waits is to enter.
    pub(super) fn next(&self) -> Time {
        self.heads().map(|(time, _)| time).min().unwrap_or(Time::NEVER)
    }

    /// Takes the first packets, those of one train that enter before `end` and before any other host's.
    pub(super) fn take(&mut self, end: Time) -> Option<Train> {
        let (time, host) = self.heads().min().filter(|(time, _)| *time < end)?;
        let others = self.heads().filter(|(_, other)| *other != host).min();
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

    /// Calls `each` for every train that waits.
    pub(super) fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.0.iter().flatten().for_each(each);
    }

    /// The first packet of each host, by its time and the host's place.
    fn heads(&self) -> impl Iterator<Item = (Time, usize)> {
        let fronts = self.0.iter().enumerate();
        fronts.filter_map(|(host, waiting)| Some((waiting.front()?.first, host)))
    }
}
