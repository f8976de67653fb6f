//! States after a doubtful ACK since RACK. cwnd changes here where a state ends or is undone; `ack/modern.rs` changes
//! it with each ACK.
//!
//! Source: Linux 6.1 and 6.12 `tcp_fastretrans_alert`, `tcp_process_loss`, `tcp_try_undo_partial`,
//! `tcp_check_sack_reneging`, `tcp_identify_packet_loss`.

use crate::tcp::ack::classic::Flags;
use crate::tcp::ack::modern::Resend;
use crate::tcp::rack::RECOVERY_THRESH;
use crate::tcp::sender::{Sender, TimerKind};
use crate::tcp::{CaState, Output};

/// Least wait for SACKs that the receiver seems to take back, ms.
const RENEGING_MS: u64 = 10;

impl Sender {
    /// Whether time decides losses.
    pub(in crate::tcp) fn is_rack(&self) -> bool {
        self.board.rack.is_some() && !self.is_reno()
    }

    /// tcp_fastretrans_alert.
    pub(in crate::tcp) fn fastretrans_alert_modern(
        &mut self,
        prior_una: u64,
        duplicates: u32,
        flags: &mut Flags,
        out: &mut impl Output,
    ) -> Resend {
        let mut marks = duplicates > 0 || flags.data_sacked && self.forces_fast_retransmit();
        if self.board.packets_out == 0 {
            self.board.sacked_out = 0;
        }
        self.keep_reduction(flags.ece);
        // tcp_check_sack_reneging: an ACK below SACKed data may be an error that later ACKs correct.
        if self.waits_for_sanity(flags, out) {
            return Resend::Nothing;
        }
        // E: the state ends when high_seq is acknowledged.
        if self.ca_state == CaState::Open {
            self.recovery.retrans_stamp = None;
        } else if self.seq.una() >= self.recovery.high_seq && self.ends_state(out) {
            return Resend::Nothing;
        }
        let mut fast = false;
        // F: the ACK in its state; tcp_identify_packet_loss marks losses.
        match self.ca_state {
            CaState::Recovery => {
                if !flags.una_advanced {
                    self.count_duplicates(duplicates);
                } else if self.undo_partial(prior_una, &mut marks, out) {
                    return Resend::Nothing;
                }
                if self.undo_by_dsack(out) {
                    self.try_keep_open();
                }
                self.identify_loss(flags, out);
                if self.ca_state != CaState::Recovery && !self.enters_recovery(flags.ece, out) {
                    return Resend::Nothing;
                }
            }
            CaState::Loss => {
                let resend = self.go_on_in_loss(flags, duplicates, out);
                self.identify_loss(flags, out);
                if self.ca_state != CaState::Open && !flags.lost_retrans {
                    return resend;
                }
                if !self.look_for_losses(flags, duplicates, out) {
                    return resend;
                }
                fast = true;
            }
            _ => {
                if !self.look_for_losses(flags, duplicates, out) {
                    return Resend::Nothing;
                }
                fast = true;
            }
        }
        // tcp_update_scoreboard, for kernels and connections without RACK.
        if !self.is_rack() && !self.is_reno() && marks {
            self.update_scoreboard(fast, out);
        }
        Resend::Lost
    }

    /// Keeps a reduction for which a mark (`ece`) proves congestion: there is no undo.
    fn keep_reduction(&mut self, ece: bool) {
        if ece {
            self.recovery.prior_ssthresh = 0;
        }
    }

    /// Waits for ACKs that may explain an ACK below SACKed data (tcp_check_sack_reneging); else a timeout follows.
    fn waits_for_sanity(&mut self, flags: &mut Flags, out: &impl Output) -> bool {
        if !flags.reneging || !flags.una_advanced {
            return false;
        }
        let least = (RENEGING_MS * 1_000_000).div_ceil(self.tick_ns) as u32;
        let half = self.us_to_jiffies(u64::from(self.rtt.srtt >> 4));
        self.start_timer(TimerKind::Retransmit, out.now(), half.max(least));
        flags.sets_timer = false;
        true
    }

    /// Ends the state if the ACK does; returns whether the ACK is finished.
    fn ends_state(&mut self, out: &impl Output) -> bool {
        match self.ca_state {
            // CWR holds until data beyond high_seq is acknowledged.
            CaState::Cwr if self.seq.una() != self.recovery.high_seq => {
                self.complete_cwr(out);
                self.set_ca_state(CaState::Open);
            }
            CaState::Recovery => {
                if self.is_reno() {
                    self.board.sacked_out = 0;
                }
                if self.ends_recovery(out) {
                    return true;
                }
                self.complete_cwr(out);
            }
            _ => {}
        }
        false
    }

    fn count_duplicates(&mut self, duplicates: u32) {
        if self.is_reno() {
            (0..duplicates).for_each(|_| self.add_reno_sack());
        }
    }

    /// Looks for losses in Open, Disorder, CWR, or a timeout that was undone or was not enough; returns whether
    /// recovery begins.
    fn look_for_losses(
        &mut self,
        flags: &mut Flags,
        duplicates: u32,
        out: &mut impl Output,
    ) -> bool {
        if self.is_reno() {
            if flags.una_advanced {
                self.board.sacked_out = 0;
            }
            self.count_duplicates(duplicates);
        }

        // tcp_try_undo_dsack: D-SACKs may have explained all retransmissions.
        if self.ca_state <= CaState::Disorder {
            self.undo_by_dsack(out);
        }
        self.identify_loss(flags, out);

        // tcp_time_to_recover; without losses the state is Open, Disorder or CWR (tcp_try_to_open).
        if !self.time_to_enter() {
            self.opens(flags.ece, out);
            return false;
        }

        // A lost path MTU probe is no sign of congestion.
        if self.mtu_probe_failed(out) {
            return false;
        }
        self.begin_recovery(flags.ece, out);
        true
    }

    /// tcp_try_to_open; a mark (`ece`) reduces cwnd.
    fn opens(&mut self, ece: bool, out: &impl Output) {
        if !self.any_retrans_done() {
            self.recovery.retrans_stamp = None;
        }
        if ece {
            self.enter_cwr(out.now());
        }
        if self.ca_state != CaState::Cwr {
            self.try_keep_open();
        }
    }

    /// tcp_time_to_recover.
    fn time_to_enter(&self) -> bool {
        let by_count = !self.is_rack() && self.board.sacked_out + 1 > self.recovery.reordering;
        self.board.lost_out > 0 || by_count
    }

    fn enters_recovery(&mut self, ece: bool, out: &impl Output) -> bool {
        let begins = self.time_to_enter();
        if begins {
            self.begin_recovery(ece, out);
        }
        begins
    }

    /// tcp_enter_recovery; with a mark (`ece`) there is no undo.
    pub(super) fn begin_recovery(&mut self, ece: bool, out: &impl Output) {
        self.counters.mib.recoveries += 1;
        self.sync_clock(out.now());
        if !self.any_retrans_done() {
            self.recovery.retrans_stamp = None;
        }

        // tcp_init_undo: later ACKs may show that the reduction was needless.
        self.recovery.prior_ssthresh = 0;
        self.init_undo();

        // tcp_init_cwnd_reduction, unless a reduction is in progress.
        if !matches!(self.ca_state, CaState::Cwr | CaState::Recovery) {
            if !ece {
                self.recovery.prior_ssthresh = self.current_ssthresh();
            }
            self.begin_reduction(true);
        }
        self.set_ca_state(CaState::Recovery);
    }

    /// tcp_init_undo: retransmissions in flight may still cause D-SACKs.
    pub(super) fn init_undo(&mut self) {
        self.recovery.undo_marker = Some(self.seq.una());
        let probe = self.recovery.tlp_high_seq.is_some() && self.recovery.tlp_retrans;
        let out = self.board.retrans_out as i32 + i32::from(probe);
        // 0 would mean that D-SACKs have reported all of them.
        self.recovery.undo_retrans = if out == 0 { -1 } else { out };
    }

    /// tcp_force_fast_retransmit.
    fn forces_fast_retransmit(&self) -> bool {
        let distance = u64::from(self.recovery.reordering) * u64::from(self.mss);
        self.board.snd_fack > self.seq.una() + distance
    }

    fn identify_loss(&mut self, flags: &mut Flags, out: &impl Output) {
        if self.board.packets_out == 0 {
            return;
        }
        if self.is_reno() {
            return self.mark_first_without_sack(flags.una_advanced);
        }
        if self.is_rack() {
            let retrans_out = self.board.retrans_out;
            if self.rack_mark_lost(out) {
                flags.sets_timer = false;
            }
            flags.lost_retrans |= self.board.retrans_out < retrans_out;
        }
    }

    /// tcp_newreno_mark_lost.
    fn mark_first_without_sack(&mut self, una_advanced: bool) {
        let begins =
            self.ca_state < CaState::Recovery && self.board.sacked_out >= self.recovery.reordering;
        if begins || self.ca_state == CaState::Recovery && una_advanced {
            self.mark_head();
        }
    }

    /// tcp_try_undo_partial; returns whether the ACK is finished. `marks`: losses may be marked.
    fn undo_partial(&mut self, prior_una: u64, marks: &mut bool, out: &impl Output) -> bool {
        if self.recovery.undo_marker.is_none() || !self.packet_delayed() {
            *marks = self.forces_fast_retransmit();
            return false;
        }

        // The partial ACK belongs to an original segment, which was reordered and not lost.
        self.check_stamped_reordering(prior_una);

        // The undo waits until all retransmissions have left the network.
        if self.board.retrans_out > 0 {
            return true;
        }
        if !self.any_retrans_done() {
            self.recovery.retrans_stamp = None;
        }
        self.undo_reduction(true, out);
        self.counters.mib.partial_undo += 1;
        self.try_keep_open();
        false
    }

    fn undo_by_dsack(&mut self, out: &impl Output) -> bool {
        if self.recovery.undo_marker.is_none() || self.recovery.undo_retrans != 0 {
            return false;
        }

        // tcp_try_undo_dsack: the reordering window stays wide for one more recovery, 16 at most.
        if let Some(rack) = &mut self.board.rack {
            rack.reo_wnd_persist = (rack.reo_wnd_persist + 1).min(RECOVERY_THRESH);
        }
        self.undo_reduction(false, out);
        self.counters.mib.dsack_undo += 1;
        true
    }

    /// tcp_try_undo_recovery; returns whether the state is held, as a connection without SACK must.
    fn ends_recovery(&mut self, out: &impl Output) -> bool {
        if self.may_undo() {
            self.undo_reduction(false, out);
            self.counters.mib.note_undo(self.ca_state);
        } else if let Some(rack) = &mut self.board.rack {
            rack.reo_wnd_persist = rack.reo_wnd_persist.saturating_sub(1);
        }
        if self.holds_state() {
            return true;
        }
        self.set_ca_state(CaState::Open);
        false
    }

    fn holds_state(&mut self) -> bool {
        let holds = self.is_reno() && self.seq.una() == self.recovery.high_seq;
        if holds && !self.any_retrans_done() {
            self.recovery.retrans_stamp = None;
        }
        holds
    }

    /// tcp_undo_cwnd_reduction.
    fn undo_reduction(&mut self, unmark: bool, out: &impl Output) {
        if unmark {
            self.board.forget_losses();
        }

        // The congestion control restores cwnd (undo_cwnd); ssthresh rises to its old value.
        let prior = self.recovery.prior_ssthresh;
        if prior > 0 {
            self.sync_rates();
            let undone = self.cc.undo_cwnd();
            let sock = self.cc.sock_mut();
            sock.snd_cwnd = undone;
            if prior > sock.snd_ssthresh {
                sock.snd_ssthresh = prior;
                self.ecn.undo();
            }
        }
        self.cc.sock_mut().snd_cwnd_stamp = self.jiffies(out.now());
        self.recovery.undo_marker = None;
        if let Some(rack) = &mut self.board.rack {
            rack.advanced = true;
        }
    }

    /// tcp_try_undo_loss; returns whether the timeout was undone. `proven`: by F-RTO.
    fn undo_loss(&mut self, proven: bool, out: &impl Output) -> bool {
        if !proven && !self.may_undo() {
            return false;
        }
        self.undo_reduction(true, out);
        self.counters.mib.loss_undo += 1;
        self.counters.mib.spurious_rtos += u64::from(proven);
        self.retransmits = 0;

        // tcp_is_non_sack_preventing_reopen: without SACK the state stays until high_seq is passed.
        if !self.holds_state() && (proven || !self.is_reno()) {
            self.set_ca_state(CaState::Open);
        }
        true
    }

    /// tcp_process_loss, with F-RTO (RFC 5682 section 3.1, with SACK).
    fn go_on_in_loss(&mut self, flags: &Flags, duplicates: u32, out: &impl Output) -> Resend {
        let recovered = self.seq.una() >= self.recovery.high_seq;
        if flags.una_advanced && self.undo_loss(false, out) {
            return Resend::Nothing;
        }

        // F-RTO (RFC 5682, section 3.1).
        if self.recovery.frto {
            // Step 3.b: a packet that was never sent again has arrived.
            if flags.orig_sack_acked && self.undo_loss(true, out) {
                return Resend::Nothing;
            }
            if self.seq.nxt() > self.recovery.high_seq {
                if flags.data_sacked || duplicates > 0 {
                    self.recovery.frto = false;
                }
            } else if flags.una_advanced && !recovered {
                // Step 2.b: send new data, once cwnd is known.
                self.recovery.high_seq = self.seq.nxt();
                if self.queue.head().is_some() && self.seq.window_end() > self.seq.nxt() {
                    return Resend::New;
                }
                self.recovery.frto = false;
            }
        }

        // tcp_try_undo_recovery: all data of before the timeout is acknowledged.
        if recovered {
            self.ends_recovery(out);
            return Resend::Nothing;
        }
        if self.is_reno() {
            if self.seq.nxt() > self.recovery.high_seq && duplicates > 0 {
                self.count_duplicates(duplicates);
            } else if flags.una_advanced {
                self.board.sacked_out = 0;
            }
        }
        Resend::Lost
    }
}
