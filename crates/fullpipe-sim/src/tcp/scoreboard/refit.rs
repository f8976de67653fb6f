//! Tags of segments with a size that changes while they are out.
//!
//! Source: Linux 6.12 `tcp_adjust_pcount`, `tcp_mark_skb_lost`, `tcp_fragment`, `tcp_clean_rtx_queue`.

use super::{Scoreboard, Window};
use crate::ranges::SeqRange;
use alloc::vec::Vec;

impl Scoreboard {
    /// First byte that is lost and not out again.
    pub fn first_pending(&self) -> Option<u64> {
        self.pending.first().map(|(start, _)| start)
    }

    /// Whether the byte is lost, out again or not.
    pub fn is_lost(&self, seq: u64) -> bool {
        self.lost.contains(seq)
    }

    /// The first SACKed byte of `[from, to)`; `to` where there is none.
    pub fn next_sacked(&self, from: u64, to: u64) -> u64 {
        self.sacked.next_in(from, to).unwrap_or(to)
    }

    /// Marks all packets of `range` lost that are not SACKed; packets lost before and sent again are lost again.
    pub fn mark_range_lost(&mut self, range: SeqRange, window: Window) {
        let mut known = Vec::new();
        self.lost.inside(range.start, range.end, |start, end| known.push((start, end)));
        for (start, end) in known {
            self.take_back(start, end, window);
        }

        let mut at = self.sacked.next_gap(range.start);
        while at < range.end {
            let end = self.next_sacked(at, range.end);
            self.mark(at, end, window);
            at = self.sacked.next_gap(end);
        }
    }

    /// Forgets when the segments of `[start, end)` were sent again, because they were cut anew.
    pub fn forget_resent(&mut self, start: u64, end: u64, window: Window) {
        self.take_back(start, end, window);
        let at = self.resent.partition_point(|again| again.start < start);
        while self.resent.get(at).is_some_and(|again| again.start < end) {
            self.resent.remove(at);
        }
        self.again.retain(|again| again.start < start || again.start >= end);
    }

    /// Moves the start of the packet at `start` up to `una`; its tags and their counts stay.
    pub fn trim(&mut self, start: u64, una: u64) {
        for set in [&mut self.lost, &mut self.retransmitted, &mut self.pending, &mut self.ever] {
            set.remove(start, una, |_, _| {});
        }
        if let Some(mut last) = self.last_resent(start) {
            self.resent.remove(0);
            last.start = una;
            self.note_resent(last);
        }
        self.again
            .iter_mut()
            .filter(|again| again.start == start)
            .for_each(|again| again.start = una);
        if let Some(rate) = &mut self.rate {
            rate.trim(start, una);
        }
    }

    /// Counts the packets of each tag anew. Without SACK (`reno`) duplicates are no tags.
    pub fn recount(&mut self, reno: bool, window: Window) {
        let all = |set: &crate::ranges::RangeSet| {
            set.iter().map(|(start, end)| window.count(start, end)).sum::<u32>()
        };
        self.packets_out = window.count(window.snd_una, window.snd_nxt);
        self.lost_out = all(&self.lost);
        self.retrans_out = all(&self.retransmitted);
        self.sacked_out =
            if reno { self.sacked_out.min(self.packets_out) } else { all(&self.sacked) };
    }
}
