//! Start of recovery, and packets that count as lost.
//!
//! Source: Linux 2.6.20, 2.6.25, 2.6.32 and 3.14 `tcp_time_to_recover`, `tcp_update_scoreboard`,
//! `tcp_mark_head_lost`, `tcp_timeout_skbs`; RFC 6675 (there RFC 3517); FACK: Mathis, Mahdavi 1996.

use crate::tcp::ack::classic::Flags;
use crate::tcp::profile::{HeadTimeout, SackMarking};
use crate::tcp::sender::Sender;
use crate::tcp::{CaState, Output};

impl Sender {
    fn fackets_out(&self) -> u32 {
        self.board.fackets_out(self.window())
    }

    /// tcp_fackets_out: without SACK, duplicates and the hole before them.
    pub(super) fn fackets_for_partial(&self) -> u32 {
        if self.is_reno() { self.board.sacked_out + 1 } else { self.fackets_out() }
    }

    /// Number that is compared with the reordering metric (tcp_dupack_heuristics).
    fn dupack_heuristics(&self) -> u32 {
        let by_count = self.profile.sack_marking != SackMarking::HeadOnly && !self.recovery.fack;
        if by_count { self.board.sacked_out + 1 } else { self.fackets_for_partial() }
    }

    pub(super) fn time_to_recover(&mut self, out: &mut impl Output) -> bool {
        if self.recovery.frto_counter > 0 {
            return false;
        }
        if self.board.lost_out > 0
            || self.dupack_heuristics() > self.recovery.reordering
            || self.watches_head() && self.head_timed_out(out)
        {
            return true;
        }

        // tcp_time_to_recover: the last two tests are for windows too small for enough duplicates.
        self.few_left_and_sacked() || self.early_retransmit(out)
    }

    /// Whether so few packets are left that no more duplicates can arrive, and no new data may be sent to cause any.
    fn few_left_and_sacked(&self) -> bool {
        let (out, sacked) = (self.board.packets_out, self.board.sacked_out);
        let threshold = (out / 2).max(self.sysctl.tcp_reordering);
        out <= self.recovery.reordering && sacked >= threshold && !self.may_send_now()
    }

    fn watches_head(&self) -> bool {
        match self.profile.head_timeout {
            _ if !self.profile.cwnd_first() => false,
            HeadTimeout::Any => true,
            HeadTimeout::Fack => self.recovery.fack,
            HeadTimeout::Never => false,
        }
    }

    /// Whether the first packet is older than the timeout, which the restarted timer does not notice.
    fn head_timed_out(&self, out: &impl Output) -> bool {
        let Some(sent) = self.last_sent(self.seq.una()) else { return false };
        self.jiffies(out.now()).saturating_sub(self.jiffies(sent)) > self.rtt.rto
    }

    pub(super) fn marks_timed_out_head(&self, out: &impl Output) -> bool {
        self.watches_head() && self.head_timed_out(out)
    }

    /// Marks losses below SACKs of data sent after recovery began, which prove them (2.6.20 event B).
    pub(super) fn mark_data_lost(&mut self, flags: &Flags) {
        let is_proof =
            flags.data_lost && (self.recovery.fack || !self.profile.data_lost_needs_fack);
        let inside = self.seq.una() < self.recovery.high_seq && self.ca_state != CaState::Open;
        if self.profile.marks_data_lost
            && is_proof
            && inside
            && self.fackets_out() > self.recovery.reordering
        {
            self.mark_by_fack();
        }
    }

    /// tcp_update_scoreboard; `fast`: recovery has just begun.
    pub(super) fn update_scoreboard(&mut self, fast: bool, out: &impl Output) {
        if self.is_reno() {
            self.mark_head();
        } else if self.recovery.fack {
            self.mark_by_fack();
        } else {
            self.mark_by_sacks(fast);
        }
        self.mark_timed_out(out);
    }

    fn mark_by_sacks(&mut self, fast: bool) {
        let (sacked, explained) = (self.board.sacked_out, self.recovery.reordering);

        // tcp_update_scoreboard: reordering explains as many SACKed packets as its metric.
        match self.profile.sack_marking {
            SackMarking::Rfc3517 => {
                let passed = sacked.saturating_sub(explained).max(fast.into());
                self.mark_below_sacked(sacked.saturating_sub(passed));
            }
            SackMarking::Rfc6675 | SackMarking::Rack if sacked >= explained => {
                self.mark_below_sacked(explained)
            }
            SackMarking::Rfc6675 | SackMarking::Rack if !fast => {}
            _ => self.mark_head(),
        }
    }

    /// Marks packets below the `packets` highest SACKed packets lost; all packets, if `packets` is 0.
    fn mark_below_sacked(&mut self, packets: u32) {
        let limit = match packets {
            0 => Some(self.seq.nxt()),
            _ => self.board.below_sacked(packets, self.window()),
        };
        self.mark_lost_up_to(limit.unwrap_or(self.seq.una()));
    }

    /// Bound above which no packet is marked. Before 4.18 (`tcp_newreno_mark_lost`) a connection without SACK marks no
    /// packet sent after its last reduction began.
    fn loss_high(&self) -> u64 {
        let with_sack = self.profile.marks_beyond_high_seq && !self.is_reno();
        let beyond = with_sack || !self.profile.cwnd_first();
        if beyond { self.seq.nxt() } else { self.recovery.high_seq }
    }

    fn mark_lost_up_to(&mut self, limit: u64) {
        let limit = limit.min(self.loss_high());
        let resent = self.profile.marks_resent || !self.profile.cwnd_first();
        self.walk_to_mark(limit);
        let (board, window) = self.board_and_window();
        board.mark_lost_below(limit, resent, window);
    }

    pub(super) fn mark_head(&mut self) {
        let end = self.queue.segment_end(self.seq.una(), self.mss, self.seq.nxt());
        self.mark_lost_up_to(end);
    }

    /// Marks all packets lost that are `reordering` packets below the highest SACK, at least the first packet.
    fn mark_by_fack(&mut self) {
        let below = self.board.below_fack(self.recovery.reordering, self.window());
        let first = self.queue.segment_end(self.seq.una(), self.mss, self.seq.nxt());
        self.mark_lost_up_to(below.max(first));
    }

    /// Marks packets older than the timeout, up to the first younger one.
    fn mark_timed_out(&mut self, out: &impl Output) {
        if self.is_reno() || !self.marks_timed_out_head(out) {
            return;
        }
        let oldest = self.jiffies(out.now()).saturating_sub(self.rtt.rto);
        let sent = self.queue.first_sent_since(self.tick(oldest)).unwrap_or(self.seq.nxt());
        let resent = self
            .board
            .first_resent_since(self.seq.una(), self.tick(oldest))
            .unwrap_or(self.seq.nxt());

        // tcp_timeout_skbs stops at the first younger packet.
        let limit = sent.min(resent);
        self.walk_past_timed_out(limit);
        let (board, window) = self.board_and_window();
        board.mark_lost_below(limit, true, window);
    }
}
