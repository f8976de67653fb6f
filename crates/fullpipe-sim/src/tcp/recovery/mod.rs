//! Loss: begin and end of recovery, and reactions to doubtful ACKs.
//!
//! Source: `tcp_fastretrans_alert` of Linux 2.6.20, 2.6.24, 2.6.25, 2.6.32 and 3.14. Versions differ in rows of the
//! profile. The state of losses is in `sender/loss_state.rs`, the rest in files of their own:
//!
//! | file | concern |
//! |---|---|
//! | `alert.rs` | the states since RACK, where cwnd comes last |
//! | `rack.rs` | losses by time |
//! | `sacks.rs` | SACK and D-SACK blocks, lost retransmissions |
//! | `reno.rs` | SACKs emulated from duplicate ACKs, where there are none |
//! | `reordering.rs` | how far packets may be displaced |
//! | `marking.rs` | when recovery begins, what counts as lost |
//! | `reduction.rs` | how cwnd comes down: rate halving, PRR, moderation |
//! | `undo.rs` | reductions that turn out to be needless |
//! | `loss.rs` | retransmission timeouts and reneging |
//! | `frto.rs` | spurious timeouts |
//! | `retransmit.rs` | what is sent again, and when |
//! | `collapse.rs` | small skbs that are sent again as one |
//! | `probe.rs` | early retransmit and tail loss probes |
//! | `walks.rs` | what the CPU looks at for all this |
//!
//! Limits:
//! - An old ACK with SACKs in Open does not lead to Disorder, as it does in 2.6.32.

mod collapse;
mod fastretrans_alert;
mod frto;
mod loss;
mod marking;
mod probe;
mod rack;
mod reduction;
mod reno;
mod reordering;
mod retransmit;
mod sacked_skbs;
mod sacks;
mod undo;
mod walks;

use crate::tcp::ack::classic::Flags;
use crate::tcp::profile::{DsackUndo, LossStates, SpuriousPartial};
use crate::tcp::sender::Sender;
use crate::tcp::{CaState, Output};

/// Next step after a doubtful ACK.
enum Next {
    /// No further step.
    Done,
    /// Mark losses (or not), reduce cwnd, retransmit.
    Recover { mark: bool, fast: bool },
}

impl Sender {
    pub(super) fn set_ca_state(&mut self, state: CaState) {
        self.ca_state = state;
        self.sync_rates();
        self.cc.set_state(state as u8);
        if let Some(rate) = &mut self.board.rate {
            rate.is_reneging &= state != CaState::Open;
        }
    }

    /// The state machine of a dubious ACK.
    pub(super) fn fastretrans_alert(&mut self, flags: &Flags, out: &mut impl Output) {
        if self.board.packets_out == 0 {
            self.board.sacked_out = 0;
        }
        if self.check_reneging(flags, out) {
            return;
        }

        // C: SACKs of data sent after the state began prove losses before it.
        self.mark_data_lost(flags);

        // E: the state ends when high_seq is acknowledged.
        if self.ca_state == CaState::Open {
            self.recovery.retrans_stamp = None;
        } else if self.seq.una() >= self.recovery.high_seq && self.end_state(out) {
            return;
        }

        // F: the ACK in its state.
        let next = match self.ca_state {
            CaState::Recovery => self.go_on_recovering(flags, out),
            CaState::Loss => self.go_on_after_loss(flags, out),
            _ => self.look_for_loss(flags, out),
        };
        if let Next::Recover { mark, fast } = next {
            // tcp_update_scoreboard, tcp_cwnd_down or tcp_cwnd_reduction, tcp_xmit_retransmit_queue.
            if mark || self.marks_timed_out_head(out) {
                self.update_scoreboard(fast, out);
            }
            self.reduce_cwnd(flags, fast, out);
            self.xmit_retransmit_queue(out);
        }
    }

    /// Ends the state that began at `high_seq`, after everything up to there is acknowledged. Returns whether the state
    /// is held all the same, and the ACK with it.
    fn end_state(&mut self, out: &impl Output) -> bool {
        let old = self.profile.loss_states == LossStates::Classic;
        match self.ca_state {
            CaState::Loss if old => {
                self.retransmits = 0;
                return self.try_undo_recovery(out);
            }
            // CWR holds until data beyond high_seq is acknowledged.
            CaState::Cwr if self.seq.una() != self.recovery.high_seq => {
                self.complete_cwr(out);
                self.set_ca_state(CaState::Open);
            }

            // Disorder waits for D-SACKs that may undo the reduction (up to 3.2).
            CaState::Disorder if self.profile.dsack_undo == DsackUndo::Disorder => {
                self.try_undo_dsack(out);
                let beyond = self.seq.una() != self.recovery.high_seq;
                if self.recovery.undo_marker.is_none() || self.is_reno() || beyond {
                    self.recovery.undo_marker = None;
                    self.set_ca_state(CaState::Open);
                }
            }
            CaState::Recovery => {
                if self.is_reno() {
                    self.board.sacked_out = 0;
                }
                if self.try_undo_recovery(out) {
                    return true;
                }
                self.complete_cwr(out);
            }
            _ => {}
        }
        false
    }

    fn go_on_recovering(&mut self, flags: &Flags, out: &mut impl Output) -> Next {
        let mut mark = self.means_loss(flags);
        if !flags.una_advanced {
            if self.is_reno() && flags.is_dupack() {
                self.add_reno_sack();
            }
        } else {
            // tcp_try_undo_partial: a partial ACK either repairs a further loss or belongs to a late segment.
            let beyond = self.fackets_for_partial() > self.recovery.reordering;
            mark = self.is_reno() || beyond;
            let delayed = self.partial_ack_was_delayed(flags);
            match self.profile.spurious_partial {
                SpuriousPartial::Reduction if delayed => {
                    self.undo_on_partial_ack(flags, out);
                    mark = false;
                }
                SpuriousPartial::Recovery if delayed => {
                    self.leave_on_partial_ack(flags, out);
                    return Next::Done;
                }
                _ => {}
            }
        }

        // tcp_try_undo_dsack ends Recovery since 3.12.
        if self.profile.dsack_undo == DsackUndo::Recovery && self.try_undo_dsack(out) {
            self.try_keep_open();
            return Next::Done;
        }
        Next::Recover { mark, fast: false }
    }

    fn go_on_after_loss(&mut self, flags: &Flags, out: &mut impl Output) -> Next {
        match self.profile.loss_states {
            LossStates::Classic => self.follow_timeout(flags, out),
            LossStates::Frto => self.process_loss(flags, out),
        }
        match self.ca_state {
            CaState::Open => self.look_for_loss(flags, out),
            _ => Next::Done,
        }
    }

    /// Decides in Open, Disorder and CWR whether recovery begins.
    fn look_for_loss(&mut self, flags: &Flags, out: &mut impl Output) -> Next {
        if self.is_reno() {
            if flags.una_advanced {
                self.board.sacked_out = 0;
            }
            if flags.is_dupack() {
                self.add_reno_sack();
            }
        }
        let undoes = match self.profile.dsack_undo {
            DsackUndo::Disorder => self.ca_state == CaState::Disorder,
            DsackUndo::Recovery => self.ca_state <= CaState::Disorder,
        };

        // tcp_try_undo_dsack.
        if undoes {
            self.try_undo_dsack(out);
        }

        // tcp_time_to_recover; otherwise tcp_try_to_open.
        if !self.time_to_recover(out) {
            self.try_to_open(flags, out);
            return Next::Done;
        }
        self.enter_recovery(out);
        Next::Recover { mark: self.means_loss(flags), fast: true }
    }

    /// Whether the scoreboard marks losses after an ACK: a duplicate, or SACKs high enough.
    fn means_loss(&self, flags: &Flags) -> bool {
        let sacks = self.profile.sacks_mark && flags.data_sacked;
        flags.is_dupack() || sacks && self.fackets_for_partial() > self.recovery.reordering
    }

    pub(super) fn enter_recovery(&mut self, out: &impl Output) {
        self.sync_clock(out.now());
        self.recovery.prior_ssthresh = 0;
        self.recovery.undo_marker = Some(self.seq.una());
        self.recovery.undo_retrans = self.board.retrans_out as i32;

        // A reduction of CWR in progress continues with its own ssthresh.
        let first = self.ca_state < CaState::Cwr;
        if first {
            self.recovery.prior_ssthresh = self.current_ssthresh();
        }
        self.begin_recovery_reduction(first);
        self.set_ca_state(CaState::Recovery);
    }

    fn try_to_open(&mut self, flags: &Flags, out: &impl Output) {
        if !self.any_retrans_done() && self.recovery.frto_counter == 0 {
            self.recovery.retrans_stamp = None;
        }
        if self.ca_state == CaState::Cwr {
            return self.reduce_cwnd(flags, false, out);
        }
        self.try_keep_open();
        if self.profile.moderate_cwnd {
            self.moderate_cwnd(out);
        }
    }

    /// Opens the state, or sets Disorder while packets are missing (tcp_try_keep_open).
    pub(super) fn try_keep_open(&mut self) {
        let left = self.board.sacked_out + self.board.lost_out > 0 || self.any_retrans_done();
        let disorder = self.profile.cwnd_first() && self.profile.dsack_undo == DsackUndo::Disorder;
        let waits = disorder && self.recovery.undo_marker.is_some();
        let state = if left || waits { CaState::Disorder } else { CaState::Open };

        // high_seq marks the end of the new state.
        if state != self.ca_state {
            self.set_ca_state(state);
            self.recovery.high_seq = self.seq.nxt();
        }
    }
}
