//! Loss: entering and leaving recovery, reducing cwnd, choosing what to send again.
//!
//! Source: Linux 2.6.20 `tcp_fastretrans_alert`, `tcp_cwnd_down` (rate halving),
//! `tcp_enter_cwr`, `tcp_complete_cwr`, `tcp_moderate_cwnd`, `tcp_enter_loss`,
//! `tcp_xmit_retransmit_queue`. Marking is FACK's (see `scoreboard.rs`).
//! Not modelled yet: F-RTO (off by default there), DSACK, adaptation of `reordering`, detection of
//! lost retransmissions other than by timeout, forward retransmissions.

use super::input::Learned;
use super::sender::{INFINITE_SSTHRESH, Sender, TimerKind, Undo};
use super::{CaState, Output, Transmission};
use crate::units::Time;

/// Packets that a moderated cwnd leaves beyond those in flight (Linux 2.6.20 `tcp_max_burst`).
const MAX_BURST: u32 = 3;

impl Sender {
    pub(super) fn set_ca_state(&mut self, state: CaState) {
        self.ca_state = state;
        self.cc.set_state(state as u8);
    }

    fn reduce_ssthresh(&mut self) {
        let ssthresh = self.cc.ssthresh();
        let sock = self.cc.sock_mut();
        sock.snd_ssthresh = ssthresh;
        sock.snd_cwnd_cnt = 0;
    }

    /// Local congestion: reduce cwnd without a loss.
    pub(super) fn enter_cwr(&mut self, now: Time) {
        if self.ca_state >= CaState::Cwr {
            return;
        }
        self.sync_clock(now);
        self.undo = None;
        self.reduce_ssthresh();
        let limit = self.in_flight() + 1;
        let stamp = self.jiffies(now);
        let sock = self.cc.sock_mut();
        sock.snd_cwnd = sock.snd_cwnd.min(limit);
        sock.snd_cwnd_stamp = stamp;
        self.high_seq = self.snd_nxt;
        self.set_ca_state(CaState::Cwr);
    }

    /// The state machine of a dubious ACK.
    pub(super) fn fastretrans_alert(&mut self, learned: &Learned, out: &mut dyn Output) {
        let fackets = self.board.fackets_out(self.window());
        let beyond = fackets > self.profile.reordering;
        let plain_duplicate =
            !learned.data_acked && !learned.window_updated && !learned.data_sacked;
        let mut is_dupack =
            !learned.una_advanced && (plain_duplicate || learned.data_sacked && beyond);
        if self.board.has_reneged(self.snd_una) {
            return self.on_reneging(out);
        }
        if self.snd_una >= self.high_seq {
            self.end_state(out);
        }
        match self.ca_state {
            CaState::Recovery if learned.una_advanced => is_dupack = beyond,
            CaState::Recovery => {}
            CaState::Loss => {
                self.moderate_cwnd(out);
                return self.xmit_retransmit_queue(out);
            }
            _ if self.board.lost_out > 0 || beyond || self.few_left_and_sacked() => {
                self.enter_recovery(out);
            }
            _ => return self.try_to_open(out),
        }
        if is_dupack {
            self.mark_lost();
        }
        self.cwnd_down(out);
        self.xmit_retransmit_queue(out);
    }

    /// Everything up to `high_seq` is acknowledged: the state that began there may end.
    fn end_state(&mut self, out: &dyn Output) {
        match self.ca_state {
            CaState::Open => {}
            CaState::Loss => {
                self.try_undo(out);
                self.set_ca_state(CaState::Open);
            }
            // CWR holds until something beyond high_seq is acknowledged.
            CaState::Cwr if self.snd_una != self.high_seq => {
                self.complete_cwr(out);
                self.set_ca_state(CaState::Open);
            }
            CaState::Cwr => {}
            CaState::Disorder => {
                self.undo = None;
                self.set_ca_state(CaState::Open);
            }
            CaState::Recovery => {
                self.try_undo(out);
                self.set_ca_state(CaState::Open);
                self.complete_cwr(out);
            }
        }
        self.board.settle(self.snd_una);
    }

    /// tcp_may_undo without DSACK and timestamps: only if nothing was sent again.
    fn try_undo(&mut self, out: &dyn Output) {
        let Some(undo) = self.undo.take() else { return };
        if undo.retransmitted > 0 || undo.prior_ssthresh == 0 {
            return;
        }
        let cwnd = self.cc.undo_cwnd().max(self.cwnd());
        let sock = self.cc.sock_mut();
        sock.snd_cwnd = cwnd;
        sock.snd_ssthresh = sock.snd_ssthresh.max(undo.prior_ssthresh);
        self.moderate_cwnd(out);
    }

    fn complete_cwr(&mut self, out: &dyn Output) {
        let stamp = self.jiffies(out.now());
        let sock = self.cc.sock_mut();
        sock.snd_cwnd = sock.snd_cwnd.min(sock.snd_ssthresh);
        sock.snd_cwnd_stamp = stamp;
    }

    /// tcp_time_to_recover's last clause: so little is left that no more duplicates can come.
    fn few_left_and_sacked(&self) -> bool {
        let (out, sacked) = (self.board.packets_out, self.board.sacked_out);
        let threshold = (out / 2).max(self.profile.reordering);
        out <= self.profile.reordering && sacked >= threshold && self.queue.head().is_none()
    }

    fn enter_recovery(&mut self, out: &dyn Output) {
        self.sync_clock(out.now());
        self.high_seq = self.snd_nxt;
        let prior_ssthresh = self.current_ssthresh().min(INFINITE_SSTHRESH);
        self.undo = Some(Undo { prior_ssthresh, retransmitted: self.board.retrans_out });
        if self.ca_state < CaState::Cwr {
            self.reduce_ssthresh();
        }
        self.cc.sock_mut().snd_cwnd_cnt = 0;
        self.set_ca_state(CaState::Recovery);
    }

    fn mark_lost(&mut self) {
        let (reordering, high_seq) = (self.profile.reordering, self.high_seq);
        let (board, window) = self.board_and_window();
        board.mark_by_fack(reordering, high_seq, window);
    }

    fn try_to_open(&mut self, out: &dyn Output) {
        if self.ca_state == CaState::Cwr {
            return self.cwnd_down(out);
        }
        let disorder = self.board.sacked_out + self.board.lost_out + self.board.retrans_out > 0;
        let state = if disorder { CaState::Disorder } else { CaState::Open };
        if state != self.ca_state {
            self.set_ca_state(state);
            self.high_seq = self.snd_nxt;
        }
        self.moderate_cwnd(out);
    }

    /// Rate halving: one packet off cwnd for every second ACK, and never more than in flight + 1.
    fn cwnd_down(&mut self, out: &dyn Output) {
        let limit = self.in_flight() + 1;
        let floor = self.cc.min_cwnd();
        let stamp = self.jiffies(out.now());
        let sock = self.cc.sock_mut();
        let count = sock.snd_cwnd_cnt + 1;
        sock.snd_cwnd_cnt = count & 1;
        if count >> 1 > 0 && sock.snd_cwnd > floor {
            sock.snd_cwnd -= count >> 1;
        }
        sock.snd_cwnd = sock.snd_cwnd.min(limit).max(1);
        sock.snd_cwnd_stamp = stamp;
    }

    fn moderate_cwnd(&mut self, out: &dyn Output) {
        if !self.profile.moderate_cwnd {
            return;
        }
        let limit = self.in_flight() + MAX_BURST;
        let stamp = self.jiffies(out.now());
        let sock = self.cc.sock_mut();
        sock.snd_cwnd = sock.snd_cwnd.min(limit);
        sock.snd_cwnd_stamp = stamp;
    }

    fn xmit_retransmit_queue(&mut self, out: &mut dyn Output) {
        while self.in_flight() < self.cwnd() {
            let Some((start, end)) = self.next_lost() else { return };
            if !self.retransmit(start, end, out) {
                return;
            }
        }
    }

    fn next_lost(&mut self) -> Option<(u64, u64)> {
        let (board, window) = self.board_and_window();
        board.next_lost(window)
    }

    fn retransmit(&mut self, start: u64, end: u64, out: &mut dyn Output) -> bool {
        let len = (end - start) as u32;
        if !out.transmit(Transmission { seq: start, len, retransmission: true }) {
            self.counters.refused += 1;
            return false;
        }
        self.counters.segments_sent += 1;
        self.counters.segments_retransmitted += 1;
        let when = self.jiffies(out.now());
        self.board.note_retransmitted(start, end, when);
        if let Some(undo) = &mut self.undo {
            undo.retransmitted += 1;
        }
        if start == self.snd_una {
            let timeout = self.rtt.timeout();
            self.start_timer(TimerKind::Retransmit, out.now(), timeout);
        }
        true
    }

    /// tcp_retransmit_timer and tcp_enter_loss.
    pub(super) fn on_retransmit_timeout(&mut self, out: &mut dyn Output) {
        if self.board.packets_out == 0 {
            return;
        }
        self.counters.timeouts += 1;
        self.enter_loss(out);
        self.rtt.backoff = (self.rtt.backoff + 1).min(16);
        let timeout = self.rtt.timeout();
        self.start_timer(TimerKind::Retransmit, out.now(), timeout);
    }

    /// The receiver has thrown away what it had SACKed (tcp_check_sack_reneging): as a timeout, but
    /// the SACKs are forgotten too.
    fn on_reneging(&mut self, out: &mut dyn Output) {
        self.board.forget_sacks();
        self.enter_loss(out);
        let timeout = self.rtt.timeout();
        self.start_timer(TimerKind::Retransmit, out.now(), timeout);
    }

    fn enter_loss(&mut self, out: &mut dyn Output) {
        let first_of_loss = self.ca_state == CaState::Loss && self.retransmits == 0;
        let first = self.ca_state <= CaState::Disorder || self.snd_una == self.high_seq;
        if first || first_of_loss {
            let prior_ssthresh = self.current_ssthresh();
            self.undo = Some(Undo { prior_ssthresh, retransmitted: 0 });
            self.reduce_ssthresh();
        }
        let stamp = self.jiffies(out.now());
        let sock = self.cc.sock_mut();
        (sock.snd_cwnd, sock.snd_cwnd_cnt, sock.snd_cwnd_stamp) = (1, 0, stamp);
        let (board, window) = self.board_and_window();
        board.mark_all_lost(window);
        self.high_seq = self.snd_nxt;
        self.set_ca_state(CaState::Loss);
        self.retransmits += 1;
        if let Some((start, end)) = self.next_lost() {
            self.retransmit(start, end, out);
        }
    }
}
