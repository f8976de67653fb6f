//! Retransmission timeouts, and receivers that revoke their SACKs.
//!
//! Source: Linux 2.6.20, 3.10, 6.1 and 6.12 `tcp_retransmit_timer`, `tcp_enter_loss`, `tcp_check_sack_reneging`;
//! since 3.10 `tcp_process_loss` (see `frto.rs`).

use crate::cc::Event;
use crate::ranges::SeqRange;
use crate::tcp::ack::classic::Flags;
use crate::tcp::profile::{FrtoVersion, TimeoutReordering};
use crate::tcp::sender::{Sender, TimerKind};
use crate::tcp::{CaState, Output};

impl Sender {
    /// tcp_retransmit_timer.
    pub(in crate::tcp) fn on_retransmit_timeout(&mut self, out: &mut impl Output) {
        if self.board.packets_out == 0 {
            return;
        }
        self.counters.timeouts += 1;

        // tcp_write_timeout: repeated timeouts may mean a path MTU black hole (tcp_mtu_probing).
        self.suspect_black_hole(out.now());
        if self.seq.wnd() > 0 {
            let (first, each) = (self.retransmits == 0, !self.profile.cwnd_first());
            let (state, sacked) = (self.ca_state, self.board.sacked_out > 0);
            self.counters.mib.note_timeout(state, sacked, first, each);
        }

        // tcp_enter_frto postpones the loss; tcp_enter_loss marks it.
        if self.seq.wnd() > 0 && self.uses_frto_on_timeout() {
            self.enter_frto(out);
        } else {
            self.enter_loss(false, out);
        }
        if !self.resend_after_timeout(out) {
            return;
        }

        // Karn's algorithm: the timeout doubles until a sample arrives.
        self.rtt.back_off();
        let timeout = self.rtt.rto;
        self.start_timer(TimerKind::Retransmit, out.now(), timeout);
    }

    /// Sends the first packet again; returns whether the timer backs off. If the host's own queue is full, the next
    /// attempt is soon and without backoff: after half a second, before 4.6 after the timeout if that is less.
    ///
    /// Since 4.6 each attempt counts, except a probe of a closed window, after which there is always a backoff (6.12
    /// `tcp_update_rto_stats`).
    fn resend_after_timeout(&mut self, out: &mut impl Output) -> bool {
        let (old, closed) = (self.profile.cwnd_first(), self.seq.wnd() == 0);
        if !old && !closed {
            self.retransmits += 1;
        }
        let went = self.retransmit_head(out);
        let half = self.ticks_in_half_a_second();
        match (went, old) {
            (true, true) => self.retransmits += 1,
            (false, true) => {
                self.retransmits = self.retransmits.max(1);
                let soon = self.rtt.rto.min(half);
                self.start_timer(TimerKind::Retransmit, out.now(), soon);
            }
            (false, false) if !closed => self.start_timer(TimerKind::Retransmit, out.now(), half),
            (_, false) => return true,
        }
        went
    }

    /// Handles an ACK below SACKed data, which the receiver has discarded. It works as a timeout that also forgets the
    /// SACKs.
    pub(super) fn check_reneging(&mut self, flags: &Flags, out: &mut impl Output) -> bool {
        if !flags.reneging {
            return false;
        }
        self.enter_loss(true, out);
        self.retransmits += 1;
        self.retransmit_head(out);
        let timeout = self.rtt.rto;
        self.start_timer(TimerKind::Retransmit, out.now(), timeout);
        true
    }

    /// Notes a SYN without an answer, the `first` time or again.
    pub(crate) fn note_syn_timeout(&mut self, first: bool) {
        let each = !self.profile.cwnd_first();
        self.counters.mib.note_timeout(CaState::Open, false, first, each);
    }

    /// Counts retransmissions that were lost; `before` is the number in flight before some were marked
    /// (`tcp_mark_skb_lost`).
    pub(in crate::tcp) fn note_lost_retransmissions(&mut self, before: u32) {
        let lost = before.saturating_sub(self.board.retrans_out);
        self.counters.mib.lost_retransmit += u64::from(lost);
    }

    /// tcp_enter_loss since RACK: recently sent packets are not lost yet, and cwnd leaves one packet beyond them.
    fn enter_loss_by_age(&mut self, out: &impl Output) {
        self.sync_clock(out.now());
        let begins = self.ca_state < CaState::Recovery;
        let reneging = self.board.has_reneged(self.seq.una());
        if reneging {
            self.board.forget_sacks();
            if let Some(rate) = &mut self.board.rate {
                rate.is_reneging = true;
            }
            self.recovery.recv_sack_cache = [SeqRange::default(); 4];
        } else if self.is_reno() {
            self.board.sacked_out = 0;
        }
        // Without SACK, RACK has no RTT, so all packets are lost.
        let knows = self.is_rack() && !reneging;
        let rtt = self.board.rack.filter(|_| knows).map(|rack| u64::from(rack.rtt_us));
        let by = out.now().as_us().checked_sub(rtt.unwrap_or(0));
        let again = self.board.retrans_out;
        let (board, window) = self.board_and_window();
        board.mark_timed_out(by, window);
        self.note_lost_retransmissions(again);
        // tcp_enter_loss: ssthresh falls once per window, and again at a first timeout in Loss.
        let past = self.seq.una() >= self.recovery.high_seq;
        let again = self.ca_state == CaState::Loss && self.retransmits == 0;
        if self.ca_state <= CaState::Disorder || past || again {
            self.recovery.prior_ssthresh = self.current_ssthresh();
            let cwnd = self.cwnd();
            self.recovery.prior_cwnd = cwnd;
            self.cc.sock_mut().prior_cwnd = cwnd;
            self.reduce_ssthresh();
            self.emit_event(Event::Loss);
            self.init_undo();
        }
        // cwnd leaves one packet beyond those that may still be in flight.
        self.restart_from(self.in_flight() + 1, out);
        self.limit_reordering_after_timeout();
        self.set_ca_state(CaState::Loss);
        self.recovery.high_seq = self.seq.nxt();
        self.recovery.tlp_high_seq = None;
        self.ecn.reduce();
        // F-RTO starts unless this is the first timeout in Recovery or Loss (RFC 5682).
        self.recovery.frto = self.sysctl.tcp_frto > 0 && (begins || self.retransmits > 0);
    }

    fn enter_loss(&mut self, reneging: bool, out: &impl Output) {
        if !self.profile.cwnd_first() {
            return self.enter_loss_by_age(out);
        }
        self.sync_clock(out.now());
        let again = self.ca_state == CaState::Loss && self.retransmits == 0;
        let past = self.seq.una() >= self.recovery.high_seq;
        let first = self.ca_state <= CaState::Disorder || past || again;
        if first {
            self.recovery.prior_ssthresh = self.current_ssthresh();
            self.reduce_ssthresh();
            self.emit_event(Event::Loss);
        }
        self.restart_from(1, out);
        let clean = !self.board.any_resent();
        self.recovery.undo_marker =
            (clean && (!reneging || self.undoes_after_reneging())).then_some(self.seq.una());
        self.recovery.undo_retrans = 0;
        if reneging {
            self.board.forget_sacks();
            self.recovery.recv_sack_cache = [SeqRange::default(); 4];
        }
        if self.is_reno() {
            self.board.sacked_out = 0;
        }
        self.limit_reordering_after_timeout();
        let (board, window) = self.board_and_window();
        board.mark_all_lost(window.snd_nxt, window);
        self.walk_all();
        self.recovery.clear_hints();
        self.recovery.high_seq = self.seq.nxt();
        self.recovery.frto_counter = 0;
        let frto = self.profile.frto == FrtoVersion::Rfc5682 && self.sysctl.tcp_frto > 0;
        self.recovery.frto = frto && (first || self.retransmits > 0);
        self.set_ca_state(CaState::Loss);
    }

    fn undoes_after_reneging(&self) -> bool {
        self.profile.frto == FrtoVersion::Rfc5682
    }

    pub(super) fn restart_from(&mut self, cwnd: u32, out: &impl Output) {
        let stamp = self.jiffies(out.now());
        let sock = self.cc.sock_mut();
        (sock.snd_cwnd, sock.snd_cwnd_cnt, sock.snd_cwnd_stamp) = (cwnd, 0, stamp);
    }

    /// Limits the reordering metric after a timeout, which shows less reordering.
    pub(super) fn limit_reordering_after_timeout(&mut self) {
        let least = self.sysctl.tcp_reordering;
        let doubtful = match self.profile.timeout_reordering {
            TimeoutReordering::Always => true,
            TimeoutReordering::Disordered => {
                self.ca_state <= CaState::Disorder && self.board.sacked_out >= least
            }
        };
        if doubtful {
            self.recovery.reordering = self.recovery.reordering.min(least);
        }
    }

    /// Processes an ACK in Loss, before 3.10.
    pub(super) fn follow_timeout(&mut self, flags: &Flags, out: &mut impl Output) {
        if flags.data_acked {
            self.retransmits = 0;
        }
        if self.is_reno() && flags.una_advanced {
            self.board.sacked_out = 0;
        }
        if !self.try_undo_loss(false, out) {
            self.moderate_cwnd(out);
            self.xmit_retransmit_queue(out);
        }
    }
}
