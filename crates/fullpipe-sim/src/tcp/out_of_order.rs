//! The receiver's out-of-order queue: segments beyond a hole, as ranges that remember where short
//! segments end, so that counts and memory are those of the segments that came.

use super::window::RX_OVERHEAD;
use crate::ranges::RangeSet;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// Ranges whose order of arrival is remembered.
const REMEMBERED: usize = 8;

/// See the module's description. Sequence numbers count from the first data byte.
#[derive(Clone, Debug, Default)]
pub(super) struct OutOfOrder {
    ranges: RangeSet,
    /// Segments that are not a full MSS: their length by their start.
    odd: BTreeMap<u64, u32>,
    /// Ranges by the time of their last arrival, most recent first.
    recent: VecDeque<(u64, u64)>,
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
        let joined = self.ranges.insert(seq, seq + u64::from(len), |_, _| new = true);
        if !new {
            return false;
        }
        self.bytes += u64::from(len);
        self.segments += 1;
        if len != mss {
            self.odd.insert(seq, len);
        }
        self.note_recent(joined, u64::from(len));
        true
    }

    /// `range` is the most recent one; `added` bytes of it have come now.
    fn note_recent(&mut self, range: (u64, u64), added: u64) {
        if let Some(latest) = self.recent.front_mut()
            && *latest == (range.0, range.1 - added)
        {
            *latest = range;
            return;
        }
        // Ranges that became part of this one begin within it.
        self.recent.retain(|other| other.0 < range.0 || other.0 >= range.1);
        self.recent.push_front(range);
        self.recent.truncate(REMEMBERED);
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
        self.recent.retain(|range| range.0 >= end);
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
        self.recent.iter().copied()
    }
}
