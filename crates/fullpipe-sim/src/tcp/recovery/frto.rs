//! F-RTO: detection of spurious timeouts by the ACKs that follow them.
//!
//! Three versions: RFC 4138 basic (Linux 2.6.20: `tcp_enter_frto`, `tcp_process_frto`), RFC 4138 with SACK (2.6.24),
//! and RFC 5682 inside the Loss state (3.10 `tcp_process_loss`). Since 2.6.26 packets sent after the timeout are marked
//! lost too. The response to a spurious timeout is rate halving before 3.10 (sysctl tcp_frto_response = 0), and a full
//! undo since.
//!
//! Limits:
//! - F-RTO of 2.6.20 leaves the mark of an earlier retransmission on a packet.
//! - With `tcp_frto` = 2 and no SACK, 2.6.24 and 2.6.25 try F-RTO whatever was sent again before. Here they behave as
//!   2.6.26.

use crate::tcp::ack::classic::Flags;
use crate::tcp::profile::FrtoVersion;
use crate::tcp::sender::Sender;
use crate::tcp::{CaState, Output};

impl Sender {
    fn sack_frto(&self) -> bool {
        self.sysctl.tcp_frto == 2 && !self.is_reno()
    }

    /// tcp_use_frto, at a timeout.
    pub(super) fn uses_frto_on_timeout(&self) -> bool {
        if self.sysctl.tcp_frto == 0 || !self.profile.cwnd_first() {
            return false;
        }
        match self.profile.frto {
            FrtoVersion::Rfc5682 => false,
            FrtoVersion::Basic => self
                .queue
                .head()
                .is_some_and(|head| self.seq.nxt() + u64::from(head) <= self.seq.window_end()),
            FrtoVersion::SackToHighmark | FrtoVersion::Sack => {
                let head_end = self.queue.segment_end(self.seq.una(), self.mss, self.seq.nxt());
                self.sack_frto() || self.board.retrans_out <= 1 && !self.board.was_resent(head_end)
            }
        }
    }

    /// Whether Nagle's rule is off for the first segment after F-RTO's first step, as since 2.6.24.
    pub(in crate::tcp) fn frto_suspends_nagle(&self) -> bool {
        self.recovery.frto_counter == 2 && self.profile.frto != FrtoVersion::Basic
    }

    /// Begins F-RTO: the timeout does not enter Loss yet, and only the first packet is sent again.
    pub(super) fn enter_frto(&mut self, out: &impl Output) {
        self.sync_clock(out.now());
        let in_progress = self.recovery.frto_counter > 0;
        let again = (self.ca_state == CaState::Loss || in_progress) && self.retransmits == 0;
        let past = self.seq.una() >= self.recovery.high_seq;

        // ssthresh falls once per window, although the loss is not certain yet.
        if !in_progress && self.ca_state <= CaState::Disorder || past || again {
            self.recovery.prior_ssthresh = self.current_ssthresh();
            self.reduce_ssthresh_for_frto(in_progress);
        }
        self.recovery.undo_marker = Some(self.seq.una());
        self.recovery.undo_retrans = 0;
        match self.profile.frto {
            FrtoVersion::Basic => self.enter_basic_frto(),
            _ => self.enter_sack_frto(in_progress, out),
        }
        self.recovery.frto_counter = 1;
    }

    /// Reduces ssthresh, which must not rely on cwnd: cwnd is not reduced before F-RTO has decided.
    fn reduce_ssthresh_for_frto(&mut self, in_progress: bool) {
        let cwnd = self.cwnd();
        if in_progress {
            self.cc.sock_mut().snd_cwnd = 2;
        }
        self.reduce_ssthresh();
        self.cc.sock_mut().snd_cwnd = cwnd;
    }

    fn enter_basic_frto(&mut self) {
        let (board, window) = self.board_and_window();
        board.take_back(window.snd_una, window.snd_nxt, window);
        self.walk_all();
        self.set_ca_state(CaState::Open);
        self.recovery.frto_highmark = Some(self.seq.nxt());
    }

    fn enter_sack_frto(&mut self, in_progress: bool, out: &impl Output) {
        if self.board.was_resent(self.seq.una()) {
            self.recovery.undo_marker = None;
        }
        let head_end = self.queue.segment_end(self.seq.una(), self.mss, self.seq.nxt());
        let (board, window) = self.board_and_window();
        board.take_back(window.snd_una, head_end, window);
        let limit = self.in_flight() + 1;
        let stamp = self.jiffies(out.now());
        let sock = self.cc.sock_mut();
        (sock.snd_cwnd, sock.snd_cwnd_stamp) = (sock.snd_cwnd.min(limit), stamp);

        // frto_highmark: SACKs of later data than this do not prove a spurious timeout.
        let underway = in_progress || self.ca_state >= CaState::Recovery;
        let earlier = self.sack_frto() && underway && self.recovery.high_seq > self.seq.una();
        let highmark = if earlier { self.recovery.high_seq } else { self.seq.nxt() };
        self.recovery.frto_highmark = Some(highmark);
        self.set_ca_state(CaState::Disorder);
        self.recovery.high_seq = self.seq.nxt();
    }

    /// Processes an ACK during F-RTO; returns whether cwnd must not grow by it.
    pub(in crate::tcp) fn process_frto(&mut self, flags: &Flags, out: &impl Output) -> bool {
        match self.profile.frto {
            FrtoVersion::Basic => {
                self.process_basic_frto(flags, out);
                false
            }
            FrtoVersion::Rfc5682 => false,
            _ => self.process_sack_frto(flags, out),
        }
    }

    fn process_basic_frto(&mut self, flags: &Flags, out: &impl Output) {
        let highmark = self.recovery.frto_highmark.unwrap_or(self.seq.nxt());
        if !flags.una_advanced || self.seq.una() >= highmark {
            let allowed = u32::from(self.recovery.frto_counter) + 1;
            return self.enter_frto_loss(allowed, flags, out);
        }

        // First ACK: two new segments. Second ACK: spurious, with cwnd at most ssthresh.
        if self.recovery.frto_counter == 1 {
            self.cc.sock_mut().snd_cwnd = self.in_flight() + 2;
        } else {
            let sock = self.cc.sock_mut();
            sock.snd_cwnd = sock.snd_cwnd.min(sock.snd_ssthresh);
            self.moderate_cwnd(out);
        }
        self.recovery.frto_counter = (self.recovery.frto_counter + 1) % 3;
    }

    fn process_sack_frto(&mut self, flags: &Flags, out: &impl Output) -> bool {
        let first = self.recovery.frto_counter == 1;
        if flags.data_acked {
            self.retransmits = 0;
        }
        if flags.nonhead_retrans_acked || !first && flags.retrans_data_acked {
            self.recovery.undo_marker = None;
        }

        // tcp_process_frto: all data of before the timeout is acknowledged without a verdict.
        if self.recovery.frto_highmark.is_some_and(|mark| self.seq.una() >= mark) {
            self.enter_frto_loss(if first { 2 } else { 3 }, flags, out);
            return true;
        }
        if let Some(allowed) = self.frto_verdict(first, flags) {
            if let Some(allowed) = allowed {
                self.enter_frto_loss(allowed, flags, out);
            }
            return true;
        }

        // Step 2 of RFC 4138: two new segments separate a loss from a late ACK.
        if first {
            self.cc.sock_mut().snd_cwnd = self.in_flight() + 2;
            self.recovery.frto_counter = 2;
            if !self.may_send_now() {
                self.enter_frto_loss(2, flags, out);
            }
            return true;
        }
        // Spurious timeout: the rest of the response is the rate halving of CWR.
        self.respond_to_spurious_timeout(out);
        false
    }

    /// Verdict on the timeout. None: F-RTO continues. Some(None): it waits. Some(n): a real loss, n packets may be
    /// sent.
    fn frto_verdict(&mut self, first: bool, flags: &Flags) -> Option<Option<u32>> {
        if !self.sack_frto() {
            if !flags.any_progress() && flags.not_dup() {
                return Some(None);
            }
            return (!flags.data_acked).then_some(Some(if first { 0 } else { 3 }));
        }
        if !flags.data_acked && first {
            let limit = self.in_flight();
            let sock = self.cc.sock_mut();
            sock.snd_cwnd = sock.snd_cwnd.min(limit);
            return Some(None);
        }
        let forged = flags.data_sacked && !flags.only_orig_sacked;
        if !first && (!flags.forward_progress() || forged) {
            let waits = !flags.forward_progress() && flags.not_dup();
            return Some((!waits).then_some(3));
        }
        None
    }

    fn respond_to_spurious_timeout(&mut self, out: &impl Output) {
        self.counters.mib.spurious_rtos += 1;
        self.recovery.frto_counter = 0;
        self.recovery.prior_ssthresh = 0;
        if self.ca_state < CaState::Cwr {
            self.begin_reduction(false);
            let limit = self.in_flight() + 1;
            let stamp = self.jiffies(out.now());
            let sock = self.cc.sock_mut();
            (sock.snd_cwnd, sock.snd_cwnd_stamp) = (sock.snd_cwnd.min(limit), stamp);
            self.set_ca_state(CaState::Cwr);
        }
        self.recovery.undo_marker = None;
    }

    /// Enters Loss after a real timeout, with `allowed` packets beyond those in flight.
    fn enter_frto_loss(&mut self, allowed: u32, flags: &Flags, out: &impl Output) {
        let highmark = self.recovery.frto_highmark.unwrap_or(self.seq.nxt());
        let basic = self.profile.frto == FrtoVersion::Basic;
        let head_is_out = !basic && self.recovery.frto_counter == 1 && !flags.data_acked;
        if self.is_reno() {
            self.board.sacked_out = 0;
        }
        let all = self.profile.frto == FrtoVersion::Sack;
        let limit = if all { self.seq.nxt() } else { highmark };
        if basic || self.board.resent_beyond(head_is_out, self.window()) {
            self.recovery.undo_marker = None;
        }
        let (board, window) = self.board_and_window();
        board.mark_all_lost_but_head(limit, head_is_out, window);
        self.walk_all();
        self.recovery.clear_hints();
        let cwnd = self.in_flight() + allowed;
        self.restart_from(cwnd.max(1), out);
        self.recovery.frto_counter = 0;
        self.limit_reordering_after_timeout();
        self.recovery.high_seq = limit;
        self.set_ca_state(CaState::Loss);
    }

    /// Processes an ACK in Loss, since 3.10: RFC 5682 section 3.1, with SACK.
    pub(super) fn process_loss(&mut self, flags: &Flags, out: &mut impl Output) {
        let recovered = self.seq.una() >= self.recovery.high_seq;
        if self.recovery.frto && self.decided_by_frto(recovered, flags, out) {
            return;
        }

        // tcp_try_undo_recovery ends Loss when high_seq is acknowledged.
        if recovered {
            self.try_undo_recovery(out);
            return;
        }
        if self.is_reno() {
            if self.seq.nxt() > self.recovery.high_seq && flags.is_dupack() {
                self.add_reno_sack();
            } else if flags.una_advanced {
                self.board.sacked_out = 0;
            }
        }

        // tcp_try_undo_loss; otherwise the lost packets are sent.
        if !self.try_undo_loss(false, out) {
            self.xmit_retransmit_queue(out);
        }
    }

    fn decided_by_frto(&mut self, recovered: bool, flags: &Flags, out: &mut impl Output) -> bool {
        // Step 3.b: a packet that was never sent again has arrived.
        if self.try_undo_loss(flags.orig_sack_acked, out) {
            return true;
        }
        let sent_new = self.seq.nxt() > self.recovery.high_seq;
        if sent_new && (flags.data_sacked || flags.is_dupack()) {
            self.recovery.frto = false;
        } else if flags.una_advanced && !recovered {
            // Step 2.b: send new data instead of old.
            self.recovery.high_seq = self.seq.nxt();
            self.push_pending(true, out);
            if self.seq.nxt() > self.recovery.high_seq {
                return true;
            }
            self.recovery.frto = false;
        }
        false
    }
}
