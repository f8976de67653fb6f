//! Undo of a needless reduction of cwnd.
//!
//! A reduction was needless in three cases. No packet was sent again. Or D-SACKs show that all retransmitted packets
//! had arrived already (RFC 3708). Or the echoed timestamp is older than the first retransmission (Eifel, RFC 3522).
//!
//! Source: Linux 2.6.20 and 3.0 `tcp_may_undo`, `tcp_undo_cwr`, `tcp_try_undo_recovery`, `tcp_try_undo_dsack`,
//! `tcp_try_undo_partial`, `tcp_try_undo_loss`; since 3.12 `tcp_undo_cwnd_reduction`. `retrans_stamp` follows 3.14
//! (`tcp_any_retrans_done`). 2.6.32 and before check only `retrans_out`, which differs while the first packet waits for
//! a third transmission.

use crate::tcp::ack::classic::Flags;
use crate::tcp::profile::SpuriousPartial;
use crate::tcp::sender::Sender;
use crate::tcp::{CaState, Output};

impl Sender {
    pub(in crate::tcp) fn any_retrans_done(&self) -> bool {
        self.board.retrans_out > 0 || self.board.was_resent(self.seq.una())
    }

    /// Whether no packet was sent again, or a segment older than the retransmission caused the ACK.
    pub(super) fn packet_delayed(&self) -> bool {
        let echo = self.recovery.rcv_tsecr;
        let Some(stamp) = self.recovery.retrans_stamp else {
            let held = self.is_reno() && self.seq.una() >= self.recovery.high_seq;
            return !held || self.profile.cwnd_first();
        };

        // Eifel (RFC 3522): the echo is older than the first retransmission.
        self.timestamps && echo != 0 && (echo.wrapping_sub(stamp) as i32) < 0
    }

    pub(super) fn may_undo(&self) -> bool {
        let marked = self.recovery.undo_marker.is_some();
        marked && (self.recovery.undo_retrans == 0 || self.packet_delayed())
    }

    /// tcp_undo_cwr: restores cwnd, and with `undo_ssthresh` ssthresh too.
    pub(super) fn undo_cwr(&mut self, undo_ssthresh: bool, out: &impl Output) {
        let stamp = self.jiffies(out.now());
        let prior = self.recovery.prior_ssthresh;
        let undone = if prior > 0 { self.cc.undo_cwnd() } else { self.cwnd().max(self.ssthresh()) };
        let sock = self.cc.sock_mut();
        sock.snd_cwnd = undone;
        sock.snd_cwnd_stamp = stamp;

        // ssthresh only rises to its old value.
        if undo_ssthresh && prior > sock.snd_ssthresh {
            sock.snd_ssthresh = prior;
        }

        // tcp_moderate_cwnd keeps an old kernel from a burst after the undo.
        if self.profile.undo_moderates {
            self.moderate_cwnd(out);
        }
        self.recovery.clear_hints();
    }

    /// Ends Recovery, or Loss. Returns whether the state is held until more is acknowledged, as a connection without
    /// SACK must (RFC 6582).
    pub(super) fn try_undo_recovery(&mut self, out: &impl Output) -> bool {
        if self.may_undo() {
            self.undo_cwr(true, out);
            self.counters.mib.note_undo(self.ca_state);
            self.recovery.undo_marker = None;
        }

        // Without SACK duplicates of earlier losses may still arrive, so the state stays (RFC 6582).
        if self.seq.una() == self.recovery.high_seq && self.is_reno() {
            self.moderate_cwnd(out);
            return true;
        }
        self.set_ca_state(CaState::Open);
        false
    }

    /// Undoes the reduction after D-SACKs have reported every retransmission.
    pub(super) fn try_undo_dsack(&mut self, out: &impl Output) -> bool {
        if self.recovery.undo_marker.is_none() || self.recovery.undo_retrans != 0 {
            return false;
        }
        self.undo_cwr(true, out);
        self.counters.mib.dsack_undo += 1;
        self.recovery.undo_marker = None;
        true
    }

    /// Whether a segment that was only late caused a partial ACK in Recovery.
    pub(super) fn partial_ack_was_delayed(&self, flags: &Flags) -> bool {
        debug_assert!(flags.una_advanced);
        match self.profile.spurious_partial {
            SpuriousPartial::Reduction => self.may_undo(),
            SpuriousPartial::Recovery => {
                self.recovery.undo_marker.is_some() && self.packet_delayed()
            }
        }
    }

    /// Restores cwnd on a partial ACK before 3.12; ssthresh and Recovery stay.
    pub(super) fn undo_on_partial_ack(&mut self, flags: &Flags, out: &impl Output) {
        if !self.any_retrans_done() {
            self.recovery.retrans_stamp = None;
        }
        self.update_reordering(self.fackets_for_partial() + flags.packets_acked);
        self.undo_cwr(false, out);
        self.counters.mib.partial_undo += 1;
    }

    /// Ends Recovery on a partial ACK since 3.12, if no retransmission is out; else stops marking and retransmitting.
    pub(super) fn leave_on_partial_ack(&mut self, flags: &Flags, out: &impl Output) {
        self.update_reordering(self.fackets_for_partial() + flags.packets_acked);

        // tcp_try_undo_partial: the undo waits until no retransmission is in flight.
        if self.board.retrans_out > 0 {
            return self.reduce_cwnd(flags, false, out);
        }
        if !self.any_retrans_done() {
            self.recovery.retrans_stamp = None;
        }
        self.board.unmark(self.seq.una());
        self.undo_cwr(true, out);
        self.counters.mib.partial_undo += 1;
        self.recovery.undo_marker = None;
        self.try_keep_open();
    }

    /// Undoes a timeout after packets that were only late; returns whether it did.
    pub(super) fn try_undo_loss(&mut self, proven: bool, out: &impl Output) -> bool {
        if !proven && !self.may_undo() {
            return false;
        }
        self.board.unmark(self.seq.una());
        self.walk_all();
        self.undo_cwr(true, out);
        self.counters.mib.loss_undo += 1;
        self.counters.mib.spurious_rtos += u64::from(proven);
        self.retransmits = 0;
        self.recovery.undo_marker = None;
        if proven || !self.is_reno() {
            self.set_ca_state(CaState::Open);
        }
        true
    }
}
