//! What the ACKs on their way say; a train of ACKs names entries of its flow's log.

mod log;

use crate::tcp::Ack;
use alloc::vec::Vec;
use log::Log;

/// Entries of all flows that are kept without looking which are still needed, at least.
const MANY: usize = 256;

/// The logs of all flows.
pub(crate) struct Acks {
    logs: Vec<Log>,
    /// Of each flow whether an ACK comes at most once, and none before one that was sent earlier.
    in_order: Vec<bool>,
    entries: usize,
    /// So many entries are worth the work of looking which are still needed.
    many: usize,
}

impl Acks {
    /// An empty log of each flow, whose ACKs come in order or do not.
    pub(crate) fn new(in_order: Vec<bool>) -> Acks {
        let logs = in_order.iter().map(|_| Log::default()).collect();
        Acks { logs, in_order, entries: 0, many: MANY }
    }

    /// How many flows there are.
    pub(crate) fn flows(&self) -> usize {
        self.logs.len()
    }

    /// Adds an entry and returns its number.
    pub(crate) fn push(&mut self, flow: usize, ack: &Ack) -> u64 {
        self.entries += 1;
        self.logs[flow].push(ack)
    }

    /// Adds `count` entries: `first`, and those that only tell of `growth` bytes more each in their first
    /// SACK block, if they have any. Returns the first one's number.
    pub(crate) fn push_row(&mut self, flow: usize, first: &Ack, growth: u32, count: u32) -> u64 {
        let number = self.logs[flow].next();
        self.entries += count as usize;
        self.logs[flow].push_row(first, growth.into(), count.into());
        number
    }

    /// The entry `number`. In order, those before it were lost on the way.
    pub(crate) fn take(&mut self, flow: usize, number: u64) -> Option<Ack> {
        let log = &mut self.logs[flow];
        if !self.in_order[flow] {
            return log.get(number);
        }
        self.entries -= log.forget_before(number);
        let ack = log.pop();
        self.entries -= usize::from(ack.is_some());
        ack
    }

    /// Whether it should be found out what may be forgotten.
    pub(crate) fn are_many(&self) -> bool {
        self.entries >= self.many && self.in_order.contains(&false)
    }

    /// Forgets each flow's entries before the oldest that is still on its way.
    pub(crate) fn forget_before(&mut self, oldest: &[u64]) {
        for (log, oldest) in self.logs.iter_mut().zip(oldest) {
            self.entries -= log.forget_before(*oldest);
        }
        self.many = MANY.max(2 * self.entries);
    }
}
