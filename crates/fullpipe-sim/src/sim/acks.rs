//! What the ACKs on their way say; a train of ACKs names entries of its flow's log.

use crate::tcp::{Ack, Sacks};
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

/// The entries of a flow. SACKs, which few ACKs have and which are large, lie apart.
#[derive(Default)]
struct Log {
    /// Number of the first entry, and of the first SACKs.
    first: u64,
    first_sacks: u64,
    entries: VecDeque<Entry>,
    sacks: VecDeque<Sacks>,
}

#[derive(Clone, Copy)]
struct Entry {
    ack: u64,
    window: u64,
    tsecr: u32,
    /// Whether it has SACKs, and the number of the next ones from it on.
    has_sacks: bool,
    sacks: u64,
}

impl Log {
    fn push(&mut self, ack: &Ack) -> u64 {
        let sacks = self.first_sacks + self.sacks.len() as u64;
        let &Ack { ack: number, window, tsecr, .. } = ack;
        let has_sacks = ack.sacks.is_some();
        self.entries.push_back(Entry { ack: number, window, tsecr, has_sacks, sacks });
        self.sacks.extend(ack.sacks);
        self.first + self.entries.len() as u64 - 1
    }

    fn get(&self, number: u64) -> Option<Ack> {
        let entry = self.entries.get(number.checked_sub(self.first)? as usize)?;
        let sacks = (entry.sacks - self.first_sacks) as usize;
        let sacks = if entry.has_sacks { self.sacks.get(sacks).copied() } else { None };
        Some(Ack { ack: entry.ack, window: entry.window, sacks, tsecr: entry.tsecr })
    }

    /// Forgets the entries before `number`, and says how many.
    fn forget_before(&mut self, number: u64) -> usize {
        let gone = number.saturating_sub(self.first).min(self.entries.len() as u64);
        for entry in self.entries.drain(..gone as usize) {
            if entry.has_sacks {
                self.sacks.pop_front();
                self.first_sacks += 1;
            }
        }
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
    pub(crate) fn push(&mut self, flow: usize, ack: &Ack) -> u64 {
        self.entries += 1;
        self.logs[flow].push(ack)
    }

    /// The entry `number`. In order, those before it were lost on the way.
    pub(crate) fn take(&mut self, flow: usize, number: u64) -> Option<Ack> {
        let log = &mut self.logs[flow];
        let ack = log.get(number);
        if self.in_order {
            self.entries -= log.forget_before(number + 1);
        }
        ack
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
