//! What a SACK block does to the skbs that it covers: those that it covers in part are cut, and those that lie behind
//! an skb that is SACKed go into that one. So a hole costs a head or two, and all that lies between two holes is a few
//! skbs, however many were sent; a writer that waits for room in the send buffer notices.
//!
//! Source: Linux 6.12 `tcp_sacktag_walk`, `tcp_shift_skb_data`, `tcp_match_skb_to_sack`. Older profiles leave skbs as
//! they were sent.

use crate::tcp::sender::Sender;
use crate::tcp::skb::SendQueue;

/// An skb that the block reaches, and the block.
#[derive(Clone, Copy)]
struct Covered {
    skb: (u64, u64),
    block: (u64, u64),
}

impl Covered {
    /// Whether all of the skb is in the block.
    fn whole(&self) -> bool {
        self.block.0 <= self.skb.0 && self.skb.1 <= self.block.1
    }

    /// Bytes of the skb, from its start, that the block has: a number of segments.
    fn full_segments(&self, mss: u64) -> u64 {
        let bytes = self.block.1.min(self.skb.1) - self.skb.0;
        if self.whole() { bytes } else { bytes / mss * mss }
    }
}

impl Sender {
    /// Joins and cuts what a block newly covers; to be called before the scoreboard knows of it.
    pub(super) fn walk_sacked_skbs(&mut self, start: u64, end: u64) {
        if self.profile.cwnd_first() {
            return;
        }
        let mut at = self.queue.skb_start(start);
        // Up to where this walk has SACKed.
        let mut sacked_to = 0;
        while at < end {
            let Some(skb_end) = self.queue.skb_end(at) else { return };
            let covered = Covered { skb: (at, skb_end), block: (start, end) };
            let follows =
                at > self.snd_una && (sacked_to == at || self.board.is_only_sacked(at - 1));
            let joined = if follows { self.join_sacked(covered) } else { None };
            (at, sacked_to) = match joined {
                Some(end) => (end, end),
                None => match self.cut_for_sack(covered) {
                    Some(next) => next,
                    None => return,
                },
            };
        }
    }

    /// What the block has of the skb goes into the SACKed one before it, and so does a SACKed one behind it
    /// (`tcp_shift_skb_data`). Where that ends; none if it cannot.
    fn join_sacked(&mut self, covered: Covered) -> Option<u64> {
        let (at, skb_end) = covered.skb;
        let mss = u64::from(self.mss);
        if covered.block.0 > at || self.board.is_out_again(at) {
            return None;
        }
        let bytes = covered.full_segments(mss);
        let size = if covered.whole() { self.segment_size(at, skb_end) } else { mss };
        let before = self.queue.skb_start(at - 1);
        if bytes == 0 || size != self.segment_size(before, at) {
            return None;
        }
        let end = at + bytes;
        if !SendQueue::may_hold(before, end) {
            return None;
        }
        self.queue.cut(end);
        self.queue.join(at);
        if end == skb_end
            && let Some(next_end) = self.queue.skb_end(end)
            && self.board.is_only_sacked(end)
            && self.segment_size(end, next_end) == size
            && SendQueue::may_hold(before, next_end)
        {
            self.queue.join(end);
            return Some(next_end);
        }
        Some(end)
    }

    /// Cuts an skb at the block's ends, where it has segments on both sides (`tcp_match_skb_to_sack`). Where the walk
    /// goes on, and up to where it has SACKed; none if the block ends before.
    fn cut_for_sack(&mut self, covered: Covered) -> Option<(u64, u64)> {
        let ((at, skb_end), start) = (covered.skb, covered.block.0);
        let mss = u64::from(self.mss);
        if start > at {
            let border = at + (start - at).next_multiple_of(mss);
            if border >= skb_end {
                return Some((skb_end, 0));
            }
            self.queue.cut(border);
            return Some((border, 0));
        }
        let bytes = covered.full_segments(mss);
        if bytes == 0 {
            return None;
        }
        self.queue.cut(at + bytes);
        // What is out again and not lost stays that, too.
        let sacked_to = if self.board.is_out_again(at) { 0 } else { at + bytes };
        Some((at + bytes, sacked_to))
    }

    /// Bytes of a full segment of an skb (`tcp_skb_seglen`).
    fn segment_size(&self, from: u64, to: u64) -> u64 {
        if self.window().count(from, to) == 1 { to - from } else { u64::from(self.mss) }
    }
}
