//! Content of SACK blocks: packets that arrived, packets that arrived twice (D-SACK, RFC 2883), lost retransmissions.
//!
//! Source: Linux 2.6.20 `tcp_sacktag_write_queue`, 2.6.24 `tcp_check_dsack`,
//! `tcp_is_sackblock_valid`, `tcp_mark_lost_retrans`.

use crate::ranges::SeqRange;
use crate::tcp::ack::classic::Flags;
use crate::tcp::profile::{AckOrder, LostRetransmits};
use crate::tcp::scoreboard::Sacked;
use crate::tcp::sender::Sender;
use crate::tcp::{Ack, CaState, Output, Sacks};

impl Sender {
    /// Processes the SACK blocks of an ACK; call it before acknowledged packets are freed.
    pub(in crate::tcp) fn take_sacks(
        &mut self,
        ack: &Ack,
        sacks: &Sacks,
        flags: &mut Flags,
        out: &mut impl Output,
    ) {
        let blocks = &sacks.blocks[..sacks.count];
        // An overtaken ACK is below the present una, but a D-SACK is below the ACK's own number (6.12
        // `tcp_check_dsack`).
        let una = ack.ack.max(self.seq.una());
        let dsack = self.is_dsack(ack.ack, blocks);
        if dsack {
            match blocks[0].start < ack.ack {
                true => self.counters.mib.dsack_recv += 1,
                false => self.counters.mib.dsack_ofo_recv += 1,
            }
        }
        let dsack = dsack && self.believes_dsack(blocks[0], flags);
        flags.dsacking = dsack;
        if dsack {
            self.take_dsack(blocks[0]);
        }
        self.walk_for_sacks(blocks);
        if !self.profile.cwnd_first() && self.board.sacked_out == 0 {
            // The last ACK's blocks do not count then (6.12 `tcp_sacktag_write_queue`).
            self.recovery.recv_sack_cache = [SeqRange::default(); 4];
        }
        let lost_before = self.board.lost_out;
        let high_seq = self.recovery.high_seq;
        let first_sack = usize::from(dsack);
        flags.data_lost = blocks[first_sack..].iter().any(|block| block.end > high_seq);
        let mut only_original = false;
        let changed = self.changed(sacks);
        let mut order = [0, 1, 2, 3];
        // Blocks in the order of their starts, so that the last transmission is often processed last.
        order.sort_unstable_by_key(|&i| blocks.get(i).map_or(u64::MAX, |block| block.start));
        for i in order.into_iter().filter(|i| (first_sack..changed).contains(i)) {
            let Some(sacked) = self.take_block(i, blocks[i], una) else { continue };
            flags.data_sacked |= sacked.packets > 0;
            let Some(original) = sacked.original else { continue };
            only_original |= original < self.recovery.frto_highmark.unwrap_or(0);
            flags.orig_sack_acked |= original < high_seq;
            let lowest = flags.first_original_sacked.map_or(original, |known| known.min(original));
            flags.first_original_sacked = Some(lowest);
            flags.last_original_sacked = flags.last_original_sacked.max(sacked.last_original);
        }
        self.recovery.recv_sack_cache = sacks.blocks;
        if self.board.lost_out < lost_before {
            self.forget_what_was_sent_again();
        }
        // No packet sent after the timeout may be among them (RFC 4138, appendix B).
        flags.only_orig_sacked = only_original
            && blocks.iter().all(|block| Some(block.end) <= self.recovery.frto_highmark);
        self.look_for_lost_retransmissions(flags);
        self.charge_walks(out);
        if let Some(original) =
            flags.first_original_sacked.filter(|&o| o < self.recovery.prior_fack)
        {
            self.note_reordering_by_sack(original);
        }
    }

    /// Processes block `i` of an ACK, when everything below `una` is acknowledged; none if the block is old or
    /// impossible.
    fn take_block(&mut self, i: usize, block: SeqRange, una: u64) -> Option<Sacked> {
        // A block is old if the last ACK had it, here or one place earlier.
        let known = &self.recovery.recv_sack_cache[i.saturating_sub(1)..=i];
        if known.contains(&block) {
            return None;
        }
        let start = self.news_from(block).max(una);
        if block.end > self.seq.nxt() || start >= block.end {
            return None;
        }
        let end = self.walk_for_block(start, block);
        let (start, end) = self.whole_segments(start, end);
        if start >= end {
            return None;
        }
        let (board, window) = self.board_and_window();
        Some(board.sack(start, end, window))
    }

    /// Walks from `start` along the parts of a block that none of the last ACK's blocks covers. A walk ends where one
    /// of those begins, and the next one begins behind it (6.12 `tcp_sacktag_write_queue`). Returns the end up to which
    /// the block counts.
    fn walk_for_block(&mut self, start: u64, block: SeqRange) -> u64 {
        // An uncut part may lie in the block before the place where its news starts.
        let uncut = self.recovery.sacks_uncut;
        let first = |at| if uncut { block.start } else { at };
        let end = block.end;
        if self.board.sacked_out == 0 {
            return self.walk_sacked_skbs(start, SeqRange::new(first(start), end));
        }
        let known = self.recovery.recv_sack_cache;
        let mut at = start;
        while at < end {
            if let Some(known) = known.iter().find(|block| block.contains(at)) {
                at = known.end;
                continue;
            }
            let next = known.iter().map(|block| block.start).filter(|&from| from > at).min();
            let to = next.map_or(end, |next| next.min(end));
            let stop = self.walk_sacked_skbs(at, SeqRange::new(first(at), to));
            if stop < to {
                return stop;
            }
            at = to;
        }
        end
    }

    /// Number of blocks to process: all later ones are as in the last ACK.
    fn changed(&self, sacks: &Sacks) -> usize {
        let ([_, known @ ..], [_, received @ ..]) = (&self.recovery.recv_sack_cache, &sacks.blocks);
        if received == known { sacks.count.min(1) } else { sacks.count }
    }

    /// Place from which on a block covers more than the last ACK's blocks. An skb that could not be cut there is
    /// visited from its start.
    fn news_from(&self, block: SeqRange) -> u64 {
        let known = self.recovery.recv_sack_cache.iter().find(|known| known.start == block.start);
        let Some(known) = known else { return block.start };
        let uncut = self.recovery.sacks_uncut && known.end < block.end.min(self.seq.nxt());
        let from = if uncut { self.queue.skb_start(known.end) } else { known.end };
        from.clamp(block.start, block.end)
    }

    /// Whether the first block is below the cumulative ACK, or inside the second one.
    fn is_dsack(&self, ack: u64, blocks: &[SeqRange]) -> bool {
        match *blocks {
            [first, ..] if first.start < ack => true,
            [first, second, ..] => first.end <= second.end && first.start >= second.start,
            _ => false,
        }
    }

    /// Segments of a D-SACK: one, whatever its length, where ACKs change cwnd first (3.14 `tcp_check_dsack`).
    fn dsack_segments(&self, dsack: SeqRange) -> u64 {
        match self.profile.ack_order {
            AckOrder::CwndFirst => 1,
            AckOrder::CwndLast => dsack.len().div_ceil(u64::from(self.mss)),
        }
    }

    /// tcp_dsack_seen: counts segments that arrived twice; false if more have than were ever sent again.
    fn believes_dsack(&mut self, dsack: SeqRange, flags: &mut Flags) -> bool {
        if self.profile.cwnd_first() {
            // Kernels of that time do not count them, and nothing reads the number there.
            self.recovery.dsack_dups += self.dsack_segments(dsack);
            return true;
        }
        let len = dsack.len();
        if len == 0 || len > self.seq.max_wnd() {
            return false;
        }
        let segments = self.dsack_segments(dsack);
        flags.dsack_tlp |= segments == 1 && self.recovery.tlp_high_seq == Some(dsack.end);
        self.recovery.dsack_dups += segments;
        if self.recovery.dsack_dups > self.counters.segments_retransmitted {
            return false;
        }
        if let Some(rack) = &mut self.board.rack {
            rack.dsack_seen |= rack.reord_seen && !flags.dsack_tlp;
        }
        self.board.delivered += segments;
        true
    }

    /// Processes a D-SACK, which shows needless retransmissions. A SACKed segment that was sent again shows reordering.
    fn take_dsack(&mut self, dsack: SeqRange) {
        let marker = self.recovery.undo_marker;
        let counts = marker.is_some_and(|marker| dsack.end > marker);
        if dsack.end <= self.seq.una() {
            if counts {
                self.count_needless(self.dsack_segments(dsack) as i32);
            }
            return;
        }
        // A packet that the block covers in part stays as it is (`tcp_match_skb_to_sack`).
        let (start, end) = (dsack.start.max(self.seq.una()), dsack.end.min(self.seq.nxt()));
        let (start, end) = self.whole_segments(start, end);
        if start >= end {
            return;
        }
        let (board, window) = self.board_and_window();
        let resent = board.resent_in(start, end, window);
        let sacked = board.is_sacked(start);
        let out_before = board.retrans_out;
        board.take_back(start, end, window);
        if self.board.retrans_out < out_before {
            self.forget_what_was_sent_again();
        }
        if counts {
            self.count_needless(resent as i32);
        }

        // Both copies of a SACKed packet arrived, so the original was only reordered.
        if resent > 0 && sacked {
            self.note_reordering_by_sack(start);
        }
    }

    fn count_needless(&mut self, packets: i32) {
        let left = &mut self.recovery.undo_retrans;
        match self.profile.ack_order {
            AckOrder::CwndFirst => *left -= packets,
            AckOrder::CwndLast if *left > 0 => *left = (*left - packets).max(0),
            AckOrder::CwndLast => {}
        }
    }

    fn look_for_lost_retransmissions(&mut self, flags: &mut Flags) {
        if !self.profile.cwnd_first()
            || self.board.retrans_out == 0
            || self.ca_state != CaState::Recovery
        {
            return;
        }
        let margin = match self.profile.lost_retransmits {
            _ if self.recovery.fack => 0,
            LostRetransmits::ByDistance => {
                u64::from(self.recovery.reordering) * u64::from(self.mss)
            }
            LostRetransmits::ByFack => return,
        };
        let out_before = self.board.retrans_out;
        let (board, window) = self.board_and_window();
        flags.data_sacked |= board.mark_lost_retransmissions(margin, window);
        self.note_lost_retransmissions(out_before);
        if self.board.retrans_out < out_before {
            self.walk_for_lost_retransmissions();
        }
    }
}
