//! The receiver's out-of-order queue: segments beyond a hole as ranges. Ends of short segments are kept, so that counts
//! and memory match the segments that arrived.
//!
//! Limits:
//! - A segment that arrives twice beyond a hole is kept once. Linux keeps it twice if its search meets the skb in front
//!   of the segment before it meets the skb that holds it (`tcp_data_queue_ofo`). Linux then offers less window until
//!   the hole is filled: 109 of 588 packets in a run without SACK.
//! - A segment that arrives twice may also join the one before it, depending on the shape of Linux's tree. A short
//!   segment may take no memory but its head (`skb_condense`). Both change the window. Runs without SACK or with
//!   reordering diverged for good by it (docs/how-true.md).

use super::coalesce::{Arrival, Joined};
use crate::ranges::{RangeSet, SeqRange};
use crate::tcp::Segment;
use crate::tcp::page_frag::PageFrags;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Blocks that fit into every ACK (TCP_SACK_BLOCKS_EXPECTED).
const BLOCKS_EXPECTED: usize = 2;
/// Blocks that are remembered.
const BLOCKS: usize = 4;

/// State of the queue. Sequence numbers count from the first data byte.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct OutOfOrder {
    /// Memory of a segment without its data, bytes.
    overhead: u64,
    /// Joined skbs, by first byte; none where segments do not join.
    joined: Option<BTreeMap<u64, Joined>>,
    /// Heads of the joined skbs.
    heads: u64,
    ranges: RangeSet,
    /// Segments with a length other than the MSS: their number, by start.
    odd: BTreeMap<u64, u32>,
    /// Number of a FIN.
    fin: Option<u64>,
    /// Blocks for SACKs. They may cover less than the queue: a forgotten block returns segment by segment.
    blocks: Blocks,
    bytes: u64,
    segments: u64,
}

/// The last blocks that changed, most recent first (Linux 2.6.20 `selective_acks`).
#[derive(Clone, Copy, Debug, Default)]
struct Blocks {
    list: [SeqRange; BLOCKS],
    count: usize,
}

impl Blocks {
    /// tcp_sack_new_ofo_skb: makes an arrival the first block, joined with all blocks that touch it directly or
    /// indirectly. The last block may be forgotten for it.
    fn put_first(&mut self, start: u64, end: u64) {
        let mut first = SeqRange::new(start, end);

        // A block that grows may touch others, so each search begins anew.
        while let Some(at) = self.as_slice().iter().position(|block| block.touches(first)) {
            first = first.joined(self.list[at]);
            self.list.copy_within(at + 1..self.count, at);
            self.count -= 1;
        }
        self.count = (self.count + 1).min(BLOCKS);
        self.list.copy_within(..self.count - 1, 1);
        self.list[0] = first;
    }

    /// Forgets blocks that begin at or below `end`.
    fn forget_up_to(&mut self, end: u64) {
        let mut kept = 0;
        for at in 0..self.count {
            if self.list[at].start > end {
                self.list[kept] = self.list[at];
                kept += 1;
            }
        }
        self.count = kept;
    }

    fn as_slice(&self) -> &[SeqRange] {
        &self.list[..self.count]
    }
}

impl OutOfOrder {
    /// An empty queue; `joins`: segments join in memory.
    pub(in crate::tcp) fn new(overhead: u64, joins: bool) -> OutOfOrder {
        OutOfOrder { overhead, joined: joins.then(BTreeMap::new), ..OutOfOrder::default() }
    }

    pub(in crate::tcp) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// End of the last segment.
    pub(in crate::tcp) fn end(&self) -> Option<u64> {
        self.ranges.end()
    }

    /// Memory of the queue's segments, bytes.
    pub(in crate::tcp) fn memory(&self) -> u64 {
        let heads = if self.joined.is_some() { self.heads } else { self.segments };
        self.bytes + heads * self.overhead
    }

    /// Number of segments in the queue.
    pub(in crate::tcp) fn segments(&self) -> u64 {
        self.segments
    }

    /// Adds a segment; returns whether it has new data.
    pub(in crate::tcp) fn insert(&mut self, segment: &Segment, mss: u32) -> bool {
        let (seq, end) = (segment.seq, segment.end());
        let (mut whole, mut parts) = (false, Vec::new());
        self.ranges.insert(seq, end, |from, to| match (from, to) == (seq, end) {
            true => whole = true,
            false => parts.push((from, to)),
        });
        if !whole && parts.is_empty() {
            return false;
        }
        if segment.fin {
            self.fin = Some(end - 1);
        }

        // Of a segment that was cut anew only a part may be new.
        if whole {
            self.add(seq, end, mss);
        }
        parts.into_iter().for_each(|(from, to)| self.add(from, to, mss));
        true
    }

    /// Counts a segment, new in the ranges.
    fn add(&mut self, from: u64, to: u64, mss: u32) {
        self.bytes += to - from - u64::from(self.fin == Some(to - 1));
        self.segments += 1;

        // Only lengths other than the MSS are kept one by one.
        if to - from != u64::from(mss) {
            self.odd.insert(from, (to - from) as u32);
        }
    }

    /// Removes the data below `rcv_nxt`, which has arrived twice, and returns its first byte. A segment that lies
    /// there in part keeps the rest (6.12 `tcp_ofo_queue`).
    pub(in crate::tcp) fn drop_below(&mut self, rcv_nxt: u64, mss: u32) -> Option<u64> {
        let below = |ranges: &RangeSet| ranges.first().filter(|&(from, _)| from < rcv_nxt);
        let (first, _) = below(&self.ranges)?;
        while let Some((from, to)) = below(&self.ranges) {
            let mut at = from;
            while at < to.min(rcv_nxt) {
                at = self.drop_segment(SeqRange::new(at, to), rcv_nxt, mss);
            }
            let to = to.min(rcv_nxt);
            self.ranges.remove(from, to, |_, _| {});
            self.bytes -= to - from;
        }
        self.blocks.forget_up_to(rcv_nxt);
        Some(first)
    }

    /// Forgets the segment at the start of `range`, or its part below `rcv_nxt`; returns its end.
    fn drop_segment(&mut self, range: SeqRange, rcv_nxt: u64, mss: u32) -> u64 {
        let SeqRange { start: at, end: to } = range;
        let next_odd = self.odd.range(at + 1..to).next().map_or(to, |(&start, _)| start);
        let full = (at + u64::from(mss)).min(next_odd);
        let end = self.odd.remove(&at).map_or(full, |len| at + u64::from(len));
        if end <= rcv_nxt {
            self.segments -= 1;
        } else if end - rcv_nxt != u64::from(mss) {
            self.odd.insert(rcv_nxt, (end - rcv_nxt) as u32);
        }
        end
    }

    /// Whether a FIN with number `at` has arrived.
    pub(in crate::tcp) fn ends_at(&self, at: u64) -> bool {
        self.fin == Some(at)
    }

    /// Joins a segment, new in the queue, to the one before it, if possible; returns whether it did. The pieces hold
    /// its data.
    pub(in crate::tcp) fn join(&mut self, segment: &Segment, page_frags: &PageFrags) -> bool {
        let Some(joined) = &mut self.joined else { return false };
        let (seq, end) = (segment.seq, segment.end());
        let before = joined.range_mut(..seq).next_back();
        let arrival = Arrival {
            range: SeqRange::new(seq, end),
            packets: segment.packets(),
            packet_len: segment.packet_len(),
        };
        let skb = Joined::of(arrival, page_frags);
        if before.is_some_and(|(_, last)| last.append(seq, skb).is_some()) {
            return true;
        }
        // A longer skb with the same first byte takes the place of a shorter one.
        self.heads += skb.heads();
        if let Some(shorter) = joined.insert(seq, skb) {
            self.heads -= shorter.heads();
        }
        false
    }

    /// Removes the last skb, which is discarded, and returns its memory. None if no skb lies behind `seq`, or where
    /// segments do not join. SACKs no longer report its data.
    pub(in crate::tcp) fn drop_last(&mut self, seq: u64, mss: u32) -> Option<u64> {
        let joined = self.joined.as_mut()?;
        let (&start, &Joined { end, .. }) = joined.last_key_value()?;
        if seq > start {
            return None;
        }
        let heads = joined.remove(&start).map_or(0, |skb| skb.heads());
        self.heads -= heads;
        self.blocks = Blocks::default();
        let mut gone = 0;
        self.ranges.remove(start, end, |from, to| gone += to - from);

        // Segments of the MSS are counted by their bytes, all others one by one.
        let mut rest = self.odd.split_off(&start);
        let odd: u64 = rest.values().map(|&len| u64::from(len)).sum();
        self.segments -= rest.len() as u64 + gone.saturating_sub(odd) / u64::from(mss);
        rest.clear();
        let fin = u64::from(self.fin.take_if(|fin| *fin >= start).is_some());
        self.bytes -= gone - fin;
        Some(gone - fin + heads * self.overhead)
    }

    /// Lets SACKs report `[start, end)`, which has arrived, from now on.
    pub(in crate::tcp) fn report(&mut self, start: u64, end: u64) {
        self.blocks.put_first(start, end);
    }

    /// Extends the block that `[start, end)` touches, in place (tcp_sack_extend).
    pub(in crate::tcp) fn lengthen(&mut self, start: u64, end: u64) {
        let arrival = SeqRange::new(start, end);
        let reported = &mut self.blocks.list[..self.blocks.count];
        if let Some(block) = reported.iter_mut().find(|block| block.touches(arrival)) {
            *block = block.joined(arrival);
        }
    }

    /// Whether an ACK with `[start, end)` may leave out another block: it touches only the third or fourth block, or
    /// none of two or more.
    pub(in crate::tcp) fn crowds(&self, start: u64, end: u64) -> bool {
        let arrival = SeqRange::new(start, end);
        let reported = self.blocks.as_slice();
        let touched = reported.iter().position(|block| block.touches(arrival));
        touched.unwrap_or(reported.len()) >= BLOCKS_EXPECTED
    }

    /// Whether the segment at `seq` would lengthen the last arrival, at the end of the queue.
    pub(in crate::tcp) fn grows_at(&self, seq: u64) -> bool {
        let last_reported = self.blocks.as_slice().first();
        self.ranges.end() == Some(seq) && last_reported.is_some_and(|block| block.end == seq)
    }

    /// Appends `count` segments of a full MSS, where [`OutOfOrder::grows_at`] holds for their first byte.
    pub(in crate::tcp) fn grow(&mut self, count: u32, mss: u32) {
        let Some((_, end)) = self.ranges.last() else { return };
        let bytes = u64::from(count) * u64::from(mss);
        self.ranges.insert(end, end + bytes, |_, _| {});
        self.blocks.list[0].end = end + bytes;
        self.bytes += bytes;
        self.segments += u64::from(count);
    }

    /// Removes the skbs below `rcv_nxt` after their segments were taken; none where segments do not join.
    pub(in crate::tcp) fn take_joined(&mut self, rcv_nxt: u64) -> BTreeMap<u64, Joined> {
        let Some(joined) = &mut self.joined else { return BTreeMap::new() };
        let rest = joined.split_off(&rcv_nxt);
        let taken = core::mem::replace(joined, rest);
        self.heads -= taken.values().map(Joined::heads).sum::<u64>();
        taken
    }

    /// Removes the segments with data that follow `rcv_nxt` without a hole, as lengths and counts.
    pub(in crate::tcp) fn take_from(&mut self, rcv_nxt: u64, mss: u32) -> Vec<(u32, u32)> {
        let mut taken = Vec::new();
        if self.is_empty() {
            return taken;
        }
        let end = self.ranges.next_gap(rcv_nxt);
        if end == rcv_nxt {
            return taken;
        }
        let fin = self.ends_at(end - 1);
        self.ranges.remove(rcv_nxt, end, |_, _| {});
        self.blocks.forget_up_to(end);

        // Runs of full segments alternate with single ones of another length.
        let mut at = rcv_nxt;
        while at < end {
            let next_odd = self.odd.range(at..end).next().map(|(&start, &len)| (start, len));
            let full = (next_odd.map_or(end, |(start, _)| start) - at) / u64::from(mss);
            if full > 0 {
                taken.push((mss, full as u32));
            }
            at += full * u64::from(mss);
            let Some((start, len)) = next_odd else { break };
            self.odd.remove(&start);
            at += u64::from(len);
            // The FIN has a number, but no data.
            let data = len - u32::from(fin && at == end);
            if data > 0 {
                taken.push((data, 1));
            } else {
                self.segments -= 1;
            }
        }
        self.bytes -= end - rcv_nxt - u64::from(fin);
        self.segments -= taken.iter().map(|&(_, count)| u64::from(count)).sum::<u64>();
        taken
    }

    /// First part of `[start, end)` that is in the queue already.
    pub(in crate::tcp) fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        if self.ranges.end()? <= start {
            return None;
        }
        let from = self.ranges.next_in(start, end)?;
        Some((from, self.ranges.next_gap(from).min(end)))
    }

    /// The blocks to report, most recent first.
    pub(in crate::tcp) fn blocks(&self) -> &[SeqRange] {
        self.blocks.as_slice()
    }
}
