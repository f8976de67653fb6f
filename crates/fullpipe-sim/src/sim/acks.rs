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
    sacks: VecDeque<Blocks>,
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

/// SACK blocks, as distances from the cumulative ACK modulo 2^32: as small as on the wire.
#[derive(Clone, Copy)]
struct Blocks {
    blocks: [(u32, u32); 4],
    count: u8,
}

impl Blocks {
    fn of(ack: u64, sacks: &Sacks) -> Blocks {
        let distance = |at: u64| at.wrapping_sub(ack) as u32;
        let blocks = sacks.blocks.map(|(start, end)| (distance(start), distance(end)));
        Blocks { blocks, count: sacks.count as u8 }
    }

    fn sacks(&self, ack: u64) -> Sacks {
        let at = |distance: u32| ack.wrapping_add_signed(i64::from(distance as i32));
        let count = usize::from(self.count);
        let mut blocks = [(0, 0); 4];
        for (block, &(start, end)) in blocks.iter_mut().zip(&self.blocks[..count]) {
            *block = (at(start), at(end));
        }
        Sacks { blocks, count }
    }
}

impl Entry {
    fn ack(&self, blocks: Option<&Blocks>) -> Ack {
        let &Entry { ack, window, tsecr, .. } = self;
        Ack { ack, window, sacks: blocks.map(|blocks| blocks.sacks(ack)), tsecr }
    }
}

impl Log {
    /// The number of the next entry.
    fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn push(&mut self, ack: &Ack) -> u64 {
        let number = self.next();
        let sacks = self.first_sacks + self.sacks.len() as u64;
        let &Ack { ack: seq, window, tsecr, .. } = ack;
        let has_sacks = ack.sacks.is_some();
        self.entries.push_back(Entry { ack: seq, window, tsecr, has_sacks, sacks });
        if let Some(sacks) = &ack.sacks {
            self.sacks.push_back(Blocks::of(seq, sacks));
        }
        number
    }

    fn get(&self, number: u64) -> Option<Ack> {
        let entry = self.entries.get(number.checked_sub(self.first)? as usize)?;
        let at = (entry.sacks - self.first_sacks) as usize;
        Some(entry.ack(self.sacks.get(at).filter(|_| entry.has_sacks)))
    }

    /// The first entry, which is forgotten.
    fn pop(&mut self) -> Option<Ack> {
        let entry = self.entries.pop_front()?;
        self.first += 1;
        if !entry.has_sacks {
            return Some(entry.ack(None));
        }
        self.first_sacks += 1;
        Some(entry.ack(self.sacks.pop_front().as_ref()))
    }

    /// Forgets the entries before `number`, and says how many.
    fn forget_before(&mut self, number: u64) -> usize {
        let gone = number.saturating_sub(self.first).min(self.entries.len() as u64) as usize;
        for _ in 0..gone {
            self.pop();
        }
        gone
    }
}

impl Acks {
    /// Empty logs of `flows` flows.
    pub(crate) fn new(flows: usize, in_order: bool) -> Acks {
        let logs = (0..flows).map(|_| Log::default()).collect();
        Acks { logs, in_order, entries: 0, many: MANY }
    }

    /// The number of the next entry.
    pub(crate) fn next(&self, flow: usize) -> u64 {
        self.logs[flow].next()
    }

    /// Adds an entry and returns its number.
    pub(crate) fn push(&mut self, flow: usize, ack: &Ack) -> u64 {
        self.entries += 1;
        self.logs[flow].push(ack)
    }

    /// The entry `number`. In order, those before it were lost on the way.
    pub(crate) fn take(&mut self, flow: usize, number: u64) -> Option<Ack> {
        let log = &mut self.logs[flow];
        if !self.in_order {
            return log.get(number);
        }
        self.entries -= log.forget_before(number);
        let ack = log.pop();
        self.entries -= usize::from(ack.is_some());
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
