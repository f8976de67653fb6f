//! In-order data that waits for the reader, and the memory that it takes.
//!
//! Source: Linux 2.6.20 `tcp_recvmsg` (an skb's memory is free when all of it is read), 6.12 `tcp_queue_rcv`.

use super::joining::Joined;
use alloc::collections::{BTreeMap, VecDeque};

/// Segments of equal length.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    len: u32,
    count: u32,
    /// Memory of all, bytes.
    memory: u64,
}

/// See the module's description.
pub(super) struct ReceiveQueue {
    /// Memory of a segment beside its data, bytes.
    overhead: u64,
    /// Whether a segment may join the one before it in memory.
    joins: bool,
    runs: VecDeque<Waiting>,
    /// The skb at their end, which the next segment may join.
    tail: Option<Joined>,
    /// Where skbs end, if segments join.
    skb_ends: VecDeque<u64>,
    bytes: u64,
    read_of_first: u32,
}

impl ReceiveQueue {
    pub(super) fn new(overhead: u64, joins: bool) -> ReceiveQueue {
        ReceiveQueue {
            overhead,
            joins,
            runs: VecDeque::new(),
            tail: None,
            skb_ends: VecDeque::new(),
            bytes: 0,
            read_of_first: 0,
        }
    }

    /// Bytes ready for the reader.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the data of `[seq, end)`; the memory that it takes.
    pub(super) fn push(&mut self, seq: u64, end: u64) -> u64 {
        let len = (end - seq) as u32;
        let memory = u64::from(len) + self.overhead_of(seq, end);
        self.enqueue(Waiting { len, count: 1, memory });
        memory
    }

    /// Memory of a segment beside its data: none if it joins what waits.
    fn overhead_of(&mut self, seq: u64, end: u64) -> u64 {
        let joins = self.joins && self.join(seq, Joined::new(seq, end));
        if joins { 0 } else { self.overhead }
    }

    /// An skb that begins at `seq` joins the last one or becomes the last one; whether it did join.
    fn join(&mut self, seq: u64, skb: Joined) -> bool {
        let joins = self.tail.as_mut().is_some_and(|tail| tail.append(seq, skb));
        if joins {
            self.skb_ends.pop_back();
        } else {
            self.tail = Some(skb);
        }
        self.skb_ends.push_back(skb.end);
        joins
    }

    /// Adds `runs` (length and count of segments) that waited beyond a hole, in these skbs where segments join, and
    /// take `memory` in all. What of it is free: heads of skbs that join, and that of a FIN alone.
    pub(super) fn push_runs(
        &mut self,
        runs: &[(u32, u32)],
        skbs: BTreeMap<u64, Joined>,
        memory: u64,
    ) -> u64 {
        let joined = skbs.into_iter().filter(|&(seq, skb)| self.join(seq, skb)).count() as u64;
        let free = joined * self.overhead;
        let mut heads = memory - runs.iter().map(size).sum::<u64>() - free;
        for run in runs {
            let (len, count) = *run;
            let overhead = heads.min(u64::from(count) * self.overhead);
            heads -= overhead;
            self.enqueue(Waiting { len, count, memory: size(run) + overhead });
        }
        heads + free
    }

    /// Bytes to the end of the first skb; all, where skbs are not known.
    pub(super) fn first_skb(&mut self, read: u64) -> u64 {
        while self.skb_ends.front().is_some_and(|&end| end <= read) {
            self.skb_ends.pop_front();
        }
        self.skb_ends.front().map_or(self.bytes, |end| end - read)
    }

    fn enqueue(&mut self, run: Waiting) {
        self.bytes += size(&(run.len, run.count));
        match self.runs.back_mut() {
            Some(last) if last.len == run.len => {
                last.count += run.count;
                last.memory += run.memory;
            }
            _ => self.runs.push_back(run),
        }
    }

    /// The reader takes `bytes`: the segments whose last byte it has now, and the memory that is free.
    pub(super) fn read(&mut self, bytes: u64) -> (u64, u64) {
        self.bytes -= bytes;
        let (mut segments, mut freed) = (0, 0);
        let mut left = bytes + u64::from(self.read_of_first);
        while let Some(run) = self.runs.front_mut() {
            let whole = (left / u64::from(run.len)).min(u64::from(run.count)) as u32;
            let memory = run.memory * u64::from(whole) / u64::from(run.count);
            segments += u64::from(whole);
            freed += memory;
            left -= u64::from(whole) * u64::from(run.len);
            run.count -= whole;
            run.memory -= memory;
            if run.count > 0 {
                break;
            }
            self.runs.pop_front();
        }
        if self.runs.is_empty() {
            self.tail = None;
        }
        self.read_of_first = left as u32;
        (segments, freed)
    }
}

/// Bytes of a run.
fn size(&(len, count): &(u32, u32)) -> u64 {
    u64::from(len) * u64::from(count)
}
