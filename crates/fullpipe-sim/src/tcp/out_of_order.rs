//! The receiver's out-of-order queue: segments beyond a hole, as ranges that remember where short
//! segments end, so that counts and memory are those of the segments that came.

use super::window::RX_OVERHEAD;
use crate::ranges::RangeSet;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// Blocks that are remembered.
const BLOCKS: usize = 4;

/// See the module's description. Sequence numbers count from the first data byte.
#[derive(Clone, Debug, Default)]
pub(super) struct OutOfOrder {
    ranges: RangeSet,
    /// Segments that are not a full MSS: their length by their start.
    odd: BTreeMap<u64, u32>,
    /// What SACKs report, most recent first. It may be less than what is here (Linux 2.6.20
    /// `selective_acks`): a block that was forgotten comes back segment by segment.
    blocks: VecDeque<(u64, u64)>,
    bytes: u64,
    segments: u64,
}

impl OutOfOrder {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Memory of its segments, bytes.
    pub(super) fn memory(&self) -> u64 {
        self.bytes + self.segments * RX_OVERHEAD
    }

    /// Segments in it.
    pub(super) fn segments(&self) -> u64 {
        self.segments
    }

    /// A segment `[seq, seq + len)` came; whether it brought something new.
    pub(super) fn insert(&mut self, seq: u64, len: u32, mss: u32) -> bool {
        let mut new = false;
        self.ranges.insert(seq, seq + u64::from(len), |_, _| new = true);
        self.tell(seq, seq + u64::from(len));
        if !new {
            return false;
        }
        self.bytes += u64::from(len);
        self.segments += 1;
        if len != mss {
            self.odd.insert(seq, len);
        }
        true
    }

    /// tcp_sack_new_ofo_skb: the block that `[start, end)` touches grows and becomes the first, along with
    /// those that it then touches; without one it is a block of its own, and the last may be forgotten.
    fn tell(&mut self, start: u64, end: u64) {
        let touches =
            |block: &(u64, u64), other: (u64, u64)| block.0 <= other.1 && other.0 <= block.1;
        let known = self.blocks.iter().position(|block| touches(block, (start, end)));
        let Some(known) = known.and_then(|at| self.blocks.remove(at)) else {
            self.blocks.truncate(BLOCKS - 1);
            return self.blocks.push_front((start, end));
        };
        let mut first = (known.0.min(start), known.1.max(end));
        while let Some(at) = self.blocks.iter().position(|block| touches(block, first))
            && let Some(block) = self.blocks.remove(at)
        {
            first = (first.0.min(block.0), first.1.max(block.1));
        }
        self.blocks.push_front(first);
    }

    /// Takes out the segments that follow `rcv_nxt` without a hole, as lengths and counts.
    pub(super) fn take_from(&mut self, rcv_nxt: u64, mss: u32) -> Vec<(u32, u32)> {
        let mut taken = Vec::new();
        if self.is_empty() {
            return taken;
        }
        let end = self.ranges.next_gap(rcv_nxt);
        if end == rcv_nxt {
            return taken;
        }
        self.ranges.remove(rcv_nxt, end, |_, _| {});
        self.blocks.retain(|block| block.0 > end);
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
            taken.push((len, 1));
            at += u64::from(len);
        }
        self.bytes -= end - rcv_nxt;
        self.segments -= taken.iter().map(|&(_, count)| u64::from(count)).sum::<u64>();
        taken
    }

    /// The first part of `[start, end)` that is there already.
    pub(super) fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let from = self.ranges.next_in(start, end)?;
        Some((from, self.ranges.next_gap(from).min(end)))
    }

    /// The blocks to report, most recent first.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.blocks.iter().copied()
    }
}
