//! Segments with a size that changes while they are out: a new MSS keeps their bounds, and each skb is cut anew when it
//! is sent again.
//!
//! Source: Linux 6.12 `tcp_sync_mss`, `tcp_fragment`, `tcp_set_skb_tso_segs`, `tcp_trim_head`.

use super::{Odd, SendQueue};
use crate::ranges::SeqRange;
use alloc::vec::Vec;

impl SendQueue {
    /// Changes the MSS from `old` to `new` bytes. Segments that are `out` keep their bounds.
    pub fn change_mss(&mut self, old: u32, new: u32, out: SeqRange) {
        // The old MSS gives the bounds before it changes.
        let mut ends = Vec::new();
        let mut at = out.start;
        while at < out.end {
            at = self.segment_end(at, old, out.end);
            ends.push(at);
        }

        // Numbers of segments continue, so those before `una` keep theirs.
        let behind_odd = self.segments(self.last_odd.end, out.end, old);
        let sent = self.last_odd.segments + u64::from(behind_odd);
        let before = sent - ends.len() as u64;
        self.odds.clear();
        self.last_odd = Odd { end: out.start, len: self.last_odd.len, segments: before };
        let mut start = out.start;
        for end in ends {
            let len = (end - start) as u32;
            if len != new {
                self.note_odd(end, len, new);
            }
            start = end;
        }
        self.sized_until = out.end;
    }

    /// Gathers the first `len` unsent bytes in a new skb. An skb that loses only a part keeps the memory of all its
    /// bytes (6.12 `tcp_mtu_probe`, `__pskb_trim_head`).
    pub fn gather_head(&mut self, len: u32) {
        let Some(first) = self.head() else { return };
        let mut partial = if first > len { len } else { 0 };
        if first <= len {
            self.wmem_queued -= u64::from(core::mem::take(&mut self.copied));
        }
        self.split_head(len);
        while let Some(head) = self.head().filter(|&head| head < len && !self.tail_is_only()) {
            let memory = self.wmem_queued;
            self.grow_head(len);
            // Unchanged memory shows that the second skb lost only a part.
            if self.wmem_queued == memory {
                partial = self.head().map_or(0, |grown| grown - head);
            }
        }
        self.copied += partial;
        self.wmem_queued += u64::from(partial);
    }

    /// Notes the transmission of the first unsent skb, which ends at `end`; its ACK frees the memory of copied bytes.
    #[inline]
    pub(super) fn note_copied(&mut self, end: u64) {
        if self.copied > 0 {
            self.copied_sent.push_back((end, core::mem::take(&mut self.copied)));
        }
    }

    /// Adds `bytes` to the memory of the sent skb that ends at `end`, behind all others with such memory.
    pub fn add_memory(&mut self, end: u64, bytes: u64) {
        self.wmem_queued += bytes;
        self.copied_sent.push_back((end, bytes as u32));
    }

    /// Frees the memory of copied bytes in skbs that end at or below `una`.
    #[inline]
    pub(super) fn free_copied(&mut self, una: u64) {
        while self.copied_sent.front().is_some_and(|&(end, _)| end <= una) {
            let freed = self.copied_sent.pop_front().map_or(0, |(_, bytes)| bytes);
            self.wmem_queued -= u64::from(freed);
        }
    }

    /// True while segments of another size than the MSS allows may lie at `seq` or behind it.
    #[inline]
    pub fn is_mixed(&self, seq: u64) -> bool {
        seq < self.sized_until
    }

    /// Notes a segment of another size than the MSS allows, which ends at `end`.
    pub fn note_mixed(&mut self, end: u64) {
        self.sized_until = self.sized_until.max(end);
    }

    /// Cuts `range`, where segments begin and end, into segments of `size` bytes. The last one may be shorter,
    /// and has the FIN's number. The MSS is `mss`.
    pub fn resegment(&mut self, range: SeqRange, size: u32, mss: u32) {
        let SeqRange { start, end } = range;
        let (first, beyond) = (self.odds_until(start), self.odds_until(end));
        let before = self.segments_until(start, first, mss);
        let old = u64::from(self.segments(start, end, mss));
        let last = self.last_odd;
        let mut behind = self.odds.split_off(beyond);
        self.odds.truncate(first);

        self.last_odd = Odd { end: start, len: mss, segments: before };
        let data_end = end - u64::from(self.fin == Some(end - 1));
        let mut at = start;
        let mut new = 0;
        while at < end {
            let full = at + u64::from(size);
            let next = if full >= data_end { end } else { full };
            let len = (next - at) as u32;
            if len != mss {
                self.note_odd(next, len, mss);
            }
            (at, new) = (next, new + 1);
        }

        // Segments behind the cut get new numbers.
        behind.iter_mut().for_each(|odd| odd.segments = odd.segments + new - old);
        self.odds.append(&mut behind);
        if last.end > end {
            self.last_odd = Odd { segments: last.segments + new - old, ..last };
        }
    }

    /// End of the last segment below `una` that lies whole in what is `out`, where segments begin at `out.start`.
    pub fn whole_below(&self, una: u64, out: SeqRange, mss: u32) -> u64 {
        let behind = self.odds_until(una);
        let odd = behind.checked_sub(1).map_or(0, |before| self.odds[before].end);
        let known = odd.max(out.start);
        let full = una - (una - known) % u64::from(mss);
        let full = self.odds.get(behind).map_or(full, |next| full.min(next.start().max(known)));
        // The last segment out may be short.
        if self.segment_end(full, mss, out.end) > una { full } else { una }
    }

    /// Segments sent before `start`; the next odd segment is number `first`.
    fn segments_until(&self, start: u64, first: usize, mss: u32) -> u64 {
        match self.odds.get(first) {
            Some(odd) => odd.segments - u64::from(self.segments(start, odd.end, mss)),
            None => {
                self.last_odd.segments + u64::from(self.segments(self.last_odd.end, start, mss))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    /// SACK blocks have left room for 1436 bytes of 1448.
    #[test]
    fn segments_below_the_mss_may_be_larger_when_they_are_sent_again() {
        let mut queue = SendQueue::new(0);
        queue.write(2872, false, true);
        queue.write(1448, false, true);
        queue.send_in_segments(0, Time::ZERO, 1448, 1436);
        queue.send(2872, Time::ZERO, 1448);
        assert!(queue.is_mixed(0) && queue.is_mixed(2871) && !queue.is_mixed(2872));
    }

    /// Two skbs of 700 bytes, joined when they are sent again, are one segment among full ones.
    #[test]
    fn an_ack_of_a_part_covers_whole_segments_below_it() {
        let mut queue = SendQueue::new(0);
        for (seq, len) in [(0, 1000), (1000, 700), (1700, 700), (2400, 1000)] {
            queue.write(len, false, true);
            queue.send(seq, Time::ZERO, 1000);
        }
        queue.join(1700);
        queue.resegment(SeqRange::new(1000, 2400), 1400, 1000);
        let whole = |una| queue.whole_below(una, SeqRange::new(0, 3400), 1000);
        assert_eq!(
            [500, 1000, 1700, 2399, 2400, 3000, 3400].map(whole),
            [0, 1000, 1000, 1000, 2400, 2400, 3400]
        );
        // The rest of the segment is one, and the next one is counted from its end.
        queue.resegment(SeqRange::new(1700, 2400), 1000, 1000);
        assert_eq!(queue.segments(1700, 3400, 1000), 2);
        assert_eq!(queue.segment_end(1700, 1000, 3400), 2400);
    }
}
