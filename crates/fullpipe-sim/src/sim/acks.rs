//! What the ACKs on their way say; a train of ACKs names entries of this log.

use crate::tcp::Ack;
use alloc::collections::VecDeque;

/// Entries that are kept without being looked at, at least.
const LONG: usize = 4096;

/// See the module's description.
pub(crate) struct AckLog {
    /// Number of the first entry.
    first: u64,
    acks: VecDeque<Ack>,
    /// Whether each ACK comes once, and after those that were sent before it.
    in_order: bool,
    /// So many entries are worth the work of looking which are still needed.
    long: usize,
}

impl AckLog {
    pub(crate) fn new(in_order: bool) -> AckLog {
        AckLog { first: 0, acks: VecDeque::new(), in_order, long: LONG }
    }

    /// Adds an entry and returns its number.
    pub(crate) fn push(&mut self, ack: Ack) -> u64 {
        self.acks.push_back(ack);
        self.first + self.acks.len() as u64 - 1
    }

    /// The entry `number`. In order, those before it were lost on the way.
    pub(crate) fn take(&mut self, number: u64) -> Option<Ack> {
        if !self.in_order {
            return self.acks.get(number.checked_sub(self.first)? as usize).cloned();
        }
        self.forget_before(number);
        self.first += 1;
        self.acks.pop_front()
    }

    /// Whether it should be found out what may be forgotten.
    pub(crate) fn is_long(&self) -> bool {
        !self.in_order && self.acks.len() >= self.long
    }

    /// Forgets the entries before `number`, or all.
    pub(crate) fn forget_before(&mut self, number: u64) {
        let gone = number.saturating_sub(self.first).min(self.acks.len() as u64);
        self.acks.drain(..gone as usize);
        self.first += gone;
        self.long = LONG.max(2 * self.acks.len());
    }
}
