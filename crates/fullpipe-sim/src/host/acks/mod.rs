//! Content of the ACKs on their way; a train of ACKs refers to entries of its flow's log.

mod log;

use crate::tcp::Ack;
use alloc::vec::Vec;
use log::Log;

/// Least number of entries, over all flows, at which old ones are looked for.
const MANY: usize = 256;

/// The logs of all flows.
pub(crate) struct Acks {
    logs: Vec<Log>,
    /// Whether the ACKs of each flow arrive at most once and in the order of sending.
    in_order: Vec<bool>,
    entries: usize,
    /// Number of entries at which old ones are looked for.
    many: usize,
}

impl Acks {
    /// An empty log of each flow; the flag says whether its ACKs arrive in order.
    pub(crate) fn new(in_order: Vec<bool>) -> Acks {
        let logs = in_order.iter().map(|_| Log::default()).collect();
        Acks { logs, in_order, entries: 0, many: MANY }
    }

    /// Number of flows.
    pub(crate) fn flows(&self) -> usize {
        self.logs.len()
    }

    /// Adds an entry and returns its number.
    pub(crate) fn push(&mut self, flow: usize, ack: &Ack) -> u64 {
        self.entries += 1;
        self.logs[flow].push(ack)
    }

    /// Adds `count` entries: `first`, and ACKs that differ only in the first SACK block, which grows by `growth` bytes
    /// each. Returns the first one's number.
    pub(crate) fn push_row(&mut self, flow: usize, first: &Ack, growth: u32, count: u32) -> u64 {
        let number = self.logs[flow].next();
        self.entries += count as usize;
        self.logs[flow].push_row(first, growth.into(), count.into());
        number
    }

    /// Takes the entry `number`. Where ACKs arrive in order, earlier entries were lost on the way and are forgotten.
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

    /// Whether it is time to look for old entries.
    pub(crate) fn are_many(&self) -> bool {
        self.entries >= self.many && self.in_order.contains(&false)
    }

    /// Forgets each flow's entries before the oldest one that is still on its way.
    pub(crate) fn forget_before(&mut self, oldest: &[u64]) {
        for (log, oldest) in self.logs.iter_mut().zip(oldest) {
            self.entries -= log.forget_before(*oldest);
        }
        self.many = MANY.max(2 * self.entries);
    }
}
