//! Receive queue: in-order data that waits for the reader, and its memory.
//!
//! Source: Linux 2.6.20 `tcp_recvmsg` (an skb's memory is free when all of it is read), 6.12 `tcp_queue_rcv`.

mod collapse;

use super::coalesce::{Arrival, Joined};
use crate::ranges::SeqRange;
use crate::tcp::page_frag::PageFrags;
use alloc::collections::{BTreeMap, VecDeque};

/// Equal skbs in a row.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    skb: Skb,
    count: u32,
}

/// An skb: a segment, or several that joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Skb {
    /// Bytes of its largest segment.
    len: u32,
    segments: u32,
    bytes: u64,
    /// Memory, including data, bytes.
    memory: u64,
}

/// An arriving skb.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Came {
    /// New data of the skb: `[seq, end)`.
    pub(in crate::tcp) seq: u64,
    pub(in crate::tcp) end: u64,
    /// Bytes of its largest packet, and number of packets (GRO).
    pub(in crate::tcp) largest: u32,
    pub(in crate::tcp) packets: u32,
}

/// State of the receive queue.
pub(in crate::tcp) struct ReceiveQueue {
    /// Memory of a segment without its data, bytes.
    overhead: u64,
    /// Whether a segment may join the one before it in memory.
    joins: bool,
    runs: VecDeque<Waiting>,
    /// The skb at the end, which the next segment may join.
    tail: Option<Joined>,
    bytes: u64,
    /// Bytes of the first skb that were read, and segments of it that were reported as read.
    read_of_first: u64,
    reported_of_first: u64,
}

impl ReceiveQueue {
    pub(in crate::tcp) fn new(overhead: u64, joins: bool) -> ReceiveQueue {
        ReceiveQueue {
            overhead,
            joins,
            runs: VecDeque::new(),
            tail: None,
            bytes: 0,
            read_of_first: 0,
            reported_of_first: 0,
        }
    }

    /// Bytes ready for the reader.
    pub(in crate::tcp) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the first skb that are ready.
    pub(in crate::tcp) fn first_bytes(&self) -> u64 {
        self.runs.front().map_or(0, |run| run.skb.bytes - self.read_of_first)
    }

    /// Adds an skb with data in these pieces; returns its additional memory.
    pub(in crate::tcp) fn push(&mut self, came: Came, page_frags: &PageFrags) -> u64 {
        let Came { seq, end, largest, packets } = came;
        let range = SeqRange::new(seq, end);
        let arrival = Arrival { range, packets, packet_len: largest };
        let (bytes, joined) = (range.len(), Joined::of(arrival, page_frags));
        let len = largest.min(bytes as u32);

        // tcp_try_coalesce: the last skb takes the data, if it can.
        if self.joins
            && let Some(memory) = self.tail.as_mut().and_then(|tail| tail.append(seq, joined))
        {
            self.join(Skb { len, segments: packets, bytes, memory });
            return memory;
        }
        self.tail = self.joins.then_some(joined);
        let memory = bytes + joined.heads() * self.overhead;
        self.enqueue(Skb { len, segments: packets, bytes, memory }, 1);
        memory
    }

    /// Extends the last skb by so much data and memory.
    fn join(&mut self, more: Skb) {
        self.bytes += more.bytes;
        let Some(last) = self.runs.back_mut() else { return };
        let mut skb = last.skb;
        skb.len = skb.len.max(more.len);
        skb.segments += more.segments;
        skb.bytes += more.bytes;
        skb.memory += more.memory;

        // The last skb of a run becomes a run of its own, because it is larger now.
        if last.count == 1 {
            last.skb = skb;
        } else {
            last.count -= 1;
            self.runs.push_back(Waiting { skb, count: 1 });
        }
    }

    /// Adds `runs` (length and count of segments) from `at` on, which waited beyond a hole. Where segments join they
    /// are in `skbs`; all take `memory`. Returns the memory that becomes free: heads of skbs that join, and the head of
    /// a FIN alone.
    pub(in crate::tcp) fn push_runs(
        &mut self,
        at: u64,
        runs: &[(u32, u32)],
        skbs: &BTreeMap<u64, Joined>,
        memory: u64,
    ) -> u64 {
        let data = size(runs);
        let heads = match self.joins {
            true => self.push_skbs(at, runs, skbs),
            false => runs.iter().map(|&(len, count)| self.push_apart(len, count)).sum(),
        };
        memory - data - heads
    }

    /// Adds segments in an skb each; returns the memory of their heads.
    fn push_apart(&mut self, len: u32, count: u32) -> u64 {
        let memory = u64::from(len) + self.overhead;
        self.enqueue(Skb { len, segments: 1, bytes: len.into(), memory }, count);
        u64::from(count) * self.overhead
    }

    /// Adds segments in the skbs in which they waited, each of which may join the one before it (tcp_ofo_queue).
    /// Returns the memory of the heads that remain.
    fn push_skbs(&mut self, mut at: u64, runs: &[(u32, u32)], skbs: &BTreeMap<u64, Joined>) -> u64 {
        let mut heads = 0;
        let mut ends =
            runs.iter().flat_map(|&(len, count)| core::iter::repeat_n(len, count as usize));
        let end = at + size(runs);
        for (&start, &joined) in skbs {
            let memory = joined.heads() * self.overhead;
            let mut skb = Skb { len: 0, segments: 0, bytes: 0, memory };
            // The skb takes its segments, up to its end.
            while at < joined.end.min(end)
                && let Some(len) = ends.next()
            {
                skb.len = skb.len.max(len);
                skb.segments += 1;
                skb.bytes += u64::from(len);
                at += u64::from(len);
            }
            skb.memory += skb.bytes;

            // tcp_ofo_queue tries to join each skb with the one before it.
            let joins = self.tail.as_mut().and_then(|tail| tail.append(start, joined));
            if joins.is_none() {
                self.tail = Some(joined);
            }
            match skb.bytes {
                0 => {}
                _ if joins.is_some() => self.join(Skb { memory: skb.bytes, ..skb }),
                _ => {
                    heads += memory;
                    self.enqueue(skb, 1);
                }
            }
        }
        heads
    }

    fn enqueue(&mut self, skb: Skb, count: u32) {
        self.bytes += skb.bytes * u64::from(count);
        match self.runs.back_mut() {
            Some(last) if last.skb == skb => last.count += count,
            _ => self.runs.push_back(Waiting { skb, count }),
        }
    }

    /// Reads `bytes`. Returns the number of segments that are read to their last byte, and the memory that becomes
    /// free.
    pub(in crate::tcp) fn read(&mut self, bytes: u64) -> (u64, u64) {
        self.bytes -= bytes;
        let mut left = bytes + self.read_of_first;
        let (mut segments, mut freed) = (0, 0);
        let reported = core::mem::take(&mut self.reported_of_first);
        while let Some(run) = self.runs.front_mut() {
            // Skbs of a run are alike, so whole ones are counted by a division.
            let whole = match left >= run.skb.bytes * u64::from(run.count) {
                true => run.count,
                false => (left / run.skb.bytes) as u32,
            };
            segments += u64::from(run.skb.segments) * u64::from(whole);
            freed += run.skb.memory * u64::from(whole);
            left -= run.skb.bytes * u64::from(whole);
            run.count -= whole;
            if run.count > 0 {
                self.reported_of_first = left / u64::from(run.skb.len);
                if segments == 0 {
                    self.reported_of_first = self.reported_of_first.max(reported);
                }
                break;
            }
            self.runs.pop_front();
        }
        if self.runs.is_empty() {
            self.tail = None;
        }
        self.read_of_first = left;
        (segments + self.reported_of_first - reported, freed)
    }
}

/// Bytes of runs: length of a segment, and number of segments.
fn size(runs: &[(u32, u32)]) -> u64 {
    runs.iter().map(|&(len, count)| u64::from(len) * u64::from(count)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(seq: u64, end: u64) -> Came {
        Came { seq, end, largest: (end - seq) as u32, packets: 1 }
    }

    #[test]
    fn memory_is_free_when_all_of_an_skb_is_read() {
        let (mut queue, page_frags) = (ReceiveQueue::new(832, true), PageFrags::default());
        let taken: u64 =
            (0..3).map(|i| queue.push(one(i * 1000, (i + 1) * 1000), &page_frags)).sum();
        assert_eq!((taken, queue.first_bytes()), (3832, 3000), "they joined");
        assert_eq!(queue.read(1500), (1, 0));
        assert_eq!((queue.bytes(), queue.first_bytes()), (1500, 1500));
        assert_eq!(queue.push(one(3000, 3500), &page_frags), 500, "the last skb is not read yet");
        assert_eq!(queue.read(2000), (3, 4332));
        assert_eq!(queue.push(one(3500, 4500), &page_frags), 1832, "there is none to join");
    }

    #[test]
    fn segments_apart_are_free_one_by_one() {
        let (mut queue, page_frags) = (ReceiveQueue::new(256, false), PageFrags::default());
        let taken: u64 =
            (0..3).map(|i| queue.push(one(i * 1000, (i + 1) * 1000), &page_frags)).sum();
        assert_eq!((taken, queue.first_bytes()), (3768, 1000));
        assert_eq!(queue.read(1999), (1, 1256));
        assert_eq!(queue.read(1), (1, 1256));
        assert_eq!(queue.read(1000), (1, 1256));
    }

    #[test]
    fn what_waited_beyond_a_hole_keeps_its_memory() {
        let mut queue = ReceiveQueue::new(832, true);
        // Seven segments in three skbs: the first has no room for the second, nor has that for the third.
        let skbs = BTreeMap::from([3000, 6000, 7000].map(|end| {
            let start = if end == 7000 { 6000 } else { end - 3000 };
            (start, Joined::full(end))
        }));
        assert_eq!(queue.push_runs(0, &[(1000, 7)], &skbs, 7000 + 3 * 832), 0);
        assert_eq!(queue.first_bytes(), 3000);
        assert_eq!(queue.read(3000), (3, 3832));
        assert_eq!(queue.read(3999), (3, 3832));
        assert_eq!(queue.read(1), (1, 1832));
    }
}
