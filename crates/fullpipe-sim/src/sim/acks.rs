//! What the ACKs on their way say; a train of ACKs names entries of its flow's log.

use crate::tcp::Ack;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Entries of all flows that are kept without looking which are still needed, at least.
const MANY: usize = 256;

/// The logs of all flows.
pub(crate) struct Acks {
    logs: Vec<Log>,
    /// Whether each ACK comes at most once, and none before one that was sent earlier.
    in_order: bool,
    entries: usize,
    /// So many entries are worth the work of looking which are still needed.
    many: usize,
}

#[derive(Default)]
struct Log {
    /// Number of the first entry.
    first: u64,
    acks: VecDeque<Ack>,
}

impl Log {
    /// Forgets the entries before `number`, and says how many.
    fn forget_before(&mut self, number: u64) -> usize {
        let gone = number.saturating_sub(self.first).min(self.acks.len() as u64);
        self.acks.drain(..gone as usize);
        self.first += gone;
        gone as usize
    }
}

impl Acks {
    /// Empty logs of `flows` flows.
    pub(crate) fn new(flows: usize, in_order: bool) -> Acks {
        let logs = (0..flows).map(|_| Log::default()).collect();
        Acks { logs, in_order, entries: 0, many: MANY }
    }

    /// Adds an entry and returns its number.
    pub(crate) fn push(&mut self, flow: usize, ack: Ack) -> u64 {
        let log = &mut self.logs[flow];
        log.acks.push_back(ack);
        self.entries += 1;
        log.first + log.acks.len() as u64 - 1
    }

    /// The entry of a flow that came last.
    pub(crate) fn last(&self, flow: usize) -> Option<&Ack> {
        self.logs[flow].acks.back()
    }

    /// The entry `number`. In order, those before it were lost on the way.
    pub(crate) fn take(&mut self, flow: usize, number: u64) -> Option<Ack> {
        let log = &mut self.logs[flow];
        if !self.in_order {
            return log.acks.get(number.checked_sub(log.first)? as usize).cloned();
        }
        self.entries -= log.forget_before(number);
        let ack = log.acks.pop_front()?;
        log.first += 1;
        self.entries -= 1;
        Some(ack)
    }

    /// Whether it should be found out what may be forgotten.
    pub(crate) fn are_many(&self) -> bool {
        !self.in_order && self.entries >= self.many
    }

    /// Forgets each flow's entries before the oldest that is still on its way.
    pub(crate) fn forget_before(&mut self, oldest: &[u64]) {
        for (log, oldest) in self.logs.iter_mut().zip(oldest) {
            self.entries -= log.forget_before(*oldest);
        }
        self.many = MANY.max(2 * self.entries);
    }
}
