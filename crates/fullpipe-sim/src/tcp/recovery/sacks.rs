//! What SACK blocks say: which packets arrived, which came twice (D-SACK, RFC 2883), which
//! retransmissions were lost.
//!
//! Source: Linux 2.6.20 `tcp_sacktag_write_queue`, 2.6.24 `tcp_check_dsack`,
//! `tcp_is_sackblock_valid`, `tcp_mark_lost_retrans`.

use crate::tcp::input::Flags;
use crate::tcp::profile::LostRetransmits;
use crate::tcp::sender::Sender;
use crate::tcp::{Ack, CaState, Output, Sacks};

impl Sender {
    /// Takes the SACK blocks of an ACK in; to be called before what it acknowledges is freed.
    pub(in crate::tcp) fn take_sacks(
        &mut self,
        ack: &Ack,
        sacks: &Sacks,
        flags: &mut Flags,
        out: &mut dyn Output,
    ) {
        let blocks = &sacks.blocks[..sacks.count];
        flags.dsacking = self.is_dsack(ack.ack, blocks);
        if flags.dsacking {
            self.take_dsack(blocks[0]);
        }
        self.walk_for_sacks(blocks, out);
        let (mut reordered, mut only_original) = (u64::MAX, false);
        let mark = self.recovery.frto_highmark.unwrap_or(0);
        for (i, &(start, end)) in blocks.iter().enumerate().skip(usize::from(flags.dsacking)) {
            flags.data_lost |= end > self.recovery.high_seq;
            // As in the last ACK, or moved on by a new block.
            let cache = &self.recovery.recv_sack_cache;
            if cache[i] == (start, end) || i > 0 && cache[i - 1] == (start, end) {
                continue;
            }
            let start = self.news_from(start, end).max(ack.ack);
            if end > self.snd_nxt || start >= end {
                continue;
            }
            let (board, window) = self.board_and_window();
            let told = board.sack(start, end, window);
            flags.data_sacked |= told.packets > 0;
            if let Some(original) = told.original {
                reordered = reordered.min(original);
                only_original |= original < mark;
                flags.orig_sack_acked |= original < self.recovery.high_seq;
                flags.first_original_sacked =
                    Some(flags.first_original_sacked.map_or(original, |o| o.min(original)));
            }
        }
        self.recovery.recv_sack_cache = sacks.blocks;
        // Nothing sent after the timeout may be among them (RFC 4138, appendix B).
        let beyond = blocks.iter().any(|&(_, end)| end > mark);
        flags.only_orig_sacked = only_original && !beyond;
        self.look_for_lost_retransmissions(flags);
        if reordered < self.recovery.prior_fack {
            self.note_reordering_by_sack(reordered);
        }
    }

    /// Where a block begins to say more than the blocks of the last ACK did.
    fn news_from(&self, start: u64, end: u64) -> u64 {
        let known = self.recovery.recv_sack_cache.iter().find(|known| known.0 == start);
        known.map_or(start, |known| known.1.clamp(start, end))
    }

    /// The first block is below the cumulative ACK, or inside the second one.
    fn is_dsack(&self, ack: u64, blocks: &[(u64, u64)]) -> bool {
        match *blocks {
            [(start, _), ..] if start < ack => true,
            [(start, end), (next_start, next_end), ..] => end <= next_end && start >= next_start,
            _ => false,
        }
    }

    /// Retransmissions that D-SACK reports were needless; a SACKed one that was sent again shows
    /// reordering.
    fn take_dsack(&mut self, (start, end): (u64, u64)) {
        let marker = self.recovery.undo_marker;
        let counts = marker.is_some_and(|marker| end > marker);
        if end <= self.snd_una {
            if counts {
                self.recovery.undo_retrans -= 1;
            }
            return;
        }
        let (start, end) = (start.max(self.snd_una), end.min(self.snd_nxt));
        let (board, window) = self.board_and_window();
        let resent = board.resent_in(start, end, window);
        let sacked = board.is_sacked(start);
        board.take_back(start, end, window);
        if counts {
            self.recovery.undo_retrans -= resent as i32;
        }
        if resent > 0 && sacked {
            self.note_reordering_by_sack(start);
        }
    }

    fn look_for_lost_retransmissions(&mut self, flags: &mut Flags) {
        if self.board.retrans_out == 0 || self.ca_state != CaState::Recovery {
            return;
        }
        let margin = match self.profile.lost_retransmits {
            _ if self.recovery.fack => 0,
            LostRetransmits::ByDistance => {
                u64::from(self.recovery.reordering) * u64::from(self.mss)
            }
            LostRetransmits::ByFack => return,
        };
        let (board, window) = self.board_and_window();
        flags.data_sacked |= board.mark_lost_retransmissions(margin, window);
    }

    /// Before 2.6.25 the SACK blocks are looked up by walking the queue from its head, unless only the
    /// first block has grown: then from where the last walk ended.
    fn walk_for_sacks(&mut self, blocks: &[(u64, u64)], out: &mut dyn Output) {
        if !self.profile.walks_for_sacks || blocks.is_empty() {
            return;
        }
        let cache = &self.recovery.recv_sack_cache;
        let same = cache[1..].iter().zip(&blocks[1..]).all(|(known, block)| known == block);
        let fast = blocks[0].0 == cache[0].0 && same;
        let highest = blocks.iter().map(|b| b.1).max().unwrap_or(0).min(self.snd_nxt);
        let to = if fast { blocks[0].1.min(self.snd_nxt) } else { highest };
        let from = self.recovery.walk_from.filter(|_| fast).unwrap_or(self.snd_una);
        self.recovery.walk_from = Some(to.max(self.snd_una));
        self.walk(from.max(self.snd_una), to, out);
    }

    /// Sending again looks for the first lost packet from where it stopped, or, after an ACK that freed
    /// something, from the head of the queue.
    pub(super) fn walk_to_lost(&mut self, out: &mut dyn Output) {
        if !self.profile.walks_for_sacks {
            return;
        }
        if let Some((start, _)) = self.board.next_lost(self.window()) {
            let hint = self.recovery.retransmit_hint.filter(|&hint| hint <= start);
            self.walk(hint.unwrap_or(self.snd_una).max(self.snd_una), start, out);
            self.recovery.retransmit_hint = Some(start);
        }
    }

    fn walk(&self, from: u64, to: u64, out: &mut dyn Output) {
        if from < to {
            out.walked(self.queue.skbs_in(self.window().count(from, to), self.board.packets_out));
        }
    }
}
