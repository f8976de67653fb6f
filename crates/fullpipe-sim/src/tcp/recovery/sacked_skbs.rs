//! Effect of a SACK block on skbs. Partly covered skbs are cut, and covered ones behind a SACKed skb are joined to it.
//! So a hole costs a head or two, and the data between two holes is a few skbs, however many were sent. A writer that
//! waits for room in the send buffer notices the difference.
//!
//! A block does not SACK a part of an skb that may not be cut, nor any data behind it.
//!
//! Source: Linux 6.12 `tcp_sacktag_walk`, `tcp_shift_skb_data`, `tcp_match_skb_to_sack`, `tcp_fragment`. Older profiles
//! keep skbs as they were sent.
//!
//! Limits:
//! - Linux does not cut an skb while more than twice the send buffer is queued (`tcp_fragment`, TCPWQueueTooBig). So it
//!   ignores a SACK for a part of that skb. The simulator takes it.

use crate::ranges::SeqRange;
use crate::tcp::sender::Sender;
use crate::tcp::skb::SendQueue;
use crate::tcp::truesize::{SHARED_INFO, SKB_BYTES};
use fullpipe_base::tcp::GSO_MAX_SIZE;

/// Outcome of cutting an skb at the end of a block.
enum Cut {
    /// The walk continues at the first place, and has SACKed up to the second.
    At(u64, u64),
    /// The block ends before the skb's first segment does.
    Short,
    /// No memory for another head.
    Refused,
}

/// An skb within reach of the block, and the block.
#[derive(Clone, Copy)]
struct Covered {
    skb: SeqRange,
    block: SeqRange,
}

impl Covered {
    /// Whether all of the skb is in the block.
    fn whole(&self) -> bool {
        self.block.start <= self.skb.start && self.skb.end <= self.block.end
    }

    /// Bytes of the skb, from its start, that the block covers: whole segments.
    fn full_segments(&self, mss: u64) -> u64 {
        let bytes = self.block.end.min(self.skb.end) - self.skb.start;
        if self.whole() { bytes } else { bytes / mss * mss }
    }
}

impl Sender {
    /// Joins and cuts the skbs that a block covers from `from` on; call it before the scoreboard has the block. Returns
    /// the block's end for the scoreboard, which is earlier if an skb may not be cut.
    pub(super) fn walk_sacked_skbs(&mut self, from: u64, block: SeqRange) -> u64 {
        let end = block.end;
        if self.profile.cwnd_first() {
            return end;
        }
        let mut at = self.queue.skb_start(from);
        // Number up to which this walk has SACKed.
        let mut sacked_to = 0;
        while at < end {
            let Some(skb_end) = self.queue.skb_end(at) else { return end };
            let covered = Covered { skb: SeqRange::new(at, skb_end), block };
            let follows =
                at > self.seq.una() && (sacked_to == at || self.board.is_only_sacked(at - 1));
            let joined = if follows { self.join_sacked(covered) } else { None };
            (at, sacked_to) = match joined {
                Some(end) => (end, end),
                None => match self.cut_for_sack(covered) {
                    Cut::At(next, sacked_to) => (next, sacked_to),
                    Cut::Short => return end,
                    Cut::Refused => {
                        self.recovery.sacks_uncut = true;
                        return at;
                    }
                },
            };
        }
        end
    }

    /// Whether the sent skb from `start` to `end` may not be cut: all skbs take more than twice the memory of the send
    /// buffer plus two largest skbs, by which a write may exceed it. The first and the last sent skb may always be cut
    /// (`tcp_fragment`).
    pub(super) fn refuses_cut(&self, start: u64, end: u64) -> bool {
        let largest = u64::from(GSO_MAX_SIZE) + SKB_BYTES + SHARED_INFO;
        self.queue.wmem_queued >> 1 > self.sndbuf.bytes() + 2 * largest
            && start > self.seq.una()
            && end < self.seq.nxt()
    }

    /// Joins the covered part of the skb to the SACKed one before it, and a SACKed one behind it, too
    /// (`tcp_shift_skb_data`). Returns the end; none if the two cannot join.
    fn join_sacked(&mut self, covered: Covered) -> Option<u64> {
        let SeqRange { start: at, end: skb_end } = covered.skb;
        let mss = self.skb_mss(at);
        if covered.block.start > at || self.board.is_out_again(at) {
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

    /// Cuts an skb at the block's ends, where it has segments on both sides (`tcp_match_skb_to_sack`).
    fn cut_for_sack(&mut self, covered: Covered) -> Cut {
        let SeqRange { start: at, end: skb_end } = covered.skb;
        let start = covered.block.start;
        let mss = self.skb_mss(at);

        // The block begins within the skb.
        if start > at {
            let border = at + (start - at).next_multiple_of(mss);
            if border >= skb_end {
                return Cut::At(skb_end, 0);
            }
            if self.refuses_cut(at, skb_end) {
                return Cut::Refused;
            }
            self.queue.cut(border);
            return Cut::At(border, 0);
        }

        // The block covers the skb from its first byte.
        let bytes = covered.full_segments(mss);
        if bytes == 0 {
            return Cut::Short;
        }
        if at + bytes < skb_end && self.refuses_cut(at, skb_end) {
            return Cut::Refused;
        }
        self.queue.cut(at + bytes);
        // A packet that is out again and not lost stays so.
        let sacked_to = if self.board.is_out_again(at) { 0 } else { at + bytes };
        Cut::At(at + bytes, sacked_to)
    }

    /// Bytes of a full segment of an skb (`tcp_skb_seglen`).
    fn segment_size(&self, from: u64, to: u64) -> u64 {
        if self.window().count(from, to) == 1 { to - from } else { self.skb_mss(from) }
    }

    /// Bytes of a full segment of the skb that begins at `at` (`tcp_skb_mss`): the MSS, or an earlier one.
    fn skb_mss(&self, at: u64) -> u64 {
        match self.queue.is_mixed(at) {
            true => self.first_segment(at).max(1).into(),
            false => self.mss.into(),
        }
    }

    /// The segments that lie wholly in `[start, end)`. A receiver reports others in part if they were cut anew, and a
    /// SACK for a part of a segment counts for none of it (`tcp_match_skb_to_sack`).
    pub(super) fn whole_segments(&self, start: u64, end: u64) -> (u64, u64) {
        if !self.queue.is_mixed(start) {
            return (start, end);
        }
        let (from, behind) = self.segment_at(start);
        let start = if from == start { start } else { behind };
        let (last, behind) = self.segment_at(end.saturating_sub(1).max(start));
        (start, if behind <= end { behind } else { last })
    }

    /// Bounds of the segment with the byte at `seq`.
    fn segment_at(&self, seq: u64) -> (u64, u64) {
        let mut from = self.queue.skb_start(seq).max(self.seq.una());
        loop {
            let end = self.queue.segment_end(from, self.mss, self.seq.nxt());
            if end > seq || end <= from {
                return (from, end);
            }
            from = end;
        }
    }
}
