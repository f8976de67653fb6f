//! Early retransmit (RFC 5827, Linux 3.5) and tail loss probes (draft-dukkipati-tcpm-tcp-loss-probe,
//! Linux 3.10), both by sysctl tcp_early_retrans.
//!
//! Source: Linux 3.10 and 3.14 `tcp_pause_early_retransmit`, `tcp_resume_early_retransmit`, `tcp_schedule_loss_probe`,
//! `tcp_send_loss_probe`, `tcp_process_tlp_ack`, `tcp_rearm_rto`; 6.1 and 6.12 also `tcp_set_xmit_timer`,
//! `tcp_rto_delta_us`.
//!
//! Limits:
//! - `tcp_early_retrans` works in every profile that sets it, although kernels before 3.5 do not have it.

use super::rack::TIMEOUT_MIN_US;
use crate::tcp::ack::classic::Flags;
use crate::tcp::profile::ProbeTimeout;
use crate::tcp::sender::{Sender, TimerKind};
use crate::tcp::{CaState, Output};
use crate::units::Time;

impl Sender {
    fn ticks_in_ms(&self, ms: u64) -> u32 {
        (ms * 1_000_000).div_ceil(self.tick_ns) as u32
    }

    /// Early retransmit: fewer than four packets are out and all but one are SACKed, so no more duplicates will arrive.
    pub(super) fn early_retransmit(&mut self, out: &impl Output) -> bool {
        let board = &self.board;
        let few = board.packets_out > board.sacked_out && board.packets_out < 4;
        let may = self.recovery.do_early_retrans && board.retrans_out == 0 && board.sacked_out > 0;
        may && few && !self.may_send_now() && !self.pause_early_retransmit(out)
    }

    /// Waits a quarter of the RTT, because the packet may only be late.
    fn pause_early_retransmit(&mut self, out: &impl Output) -> bool {
        let delays = (2..=3).contains(&self.sysctl.tcp_early_retrans);
        let srtt = self.rtt.srtt_ticks();
        if !delays || srtt == 0 {
            return false;
        }
        let delay = (srtt >> 5).max(self.ticks_in_ms(2));

        // The pause only brings a running timer forward.
        let due = out.now().0 / self.tick_ns + u64::from(delay);
        let sooner = self.timer.is_none_or(|(_, expiry)| expiry.at.0 / self.tick_ns > due);
        if sooner {
            self.start_timer(TimerKind::EarlyRetransmit, out.now(), delay);
        }
        sooner
    }

    /// Retransmits after the pause, as the packet was not acknowledged.
    pub(in crate::tcp) fn resume_early_retransmit(&mut self, out: &mut impl Output) {
        self.timer = None;
        self.rearm_rto(true, out);
        if !self.recovery.do_early_retrans || self.board.packets_out == 0 {
            return;
        }
        self.enter_recovery(out);
        self.update_scoreboard(true, out);
        self.xmit_retransmit_queue(out);
    }

    /// Restarts the retransmission timer; `elapsed`: it counts from the first packet's transmission.
    pub(in crate::tcp) fn rearm_rto(&mut self, elapsed: bool, out: &impl Output) {
        if self.board.packets_out == 0 {
            self.timer = None;
            return;
        }
        let mut timeout = self.rtt.rto;
        if elapsed && !self.profile.cwnd_first() {
            timeout = self.rto_left(out).unwrap_or(1);
        } else if elapsed {
            let now = self.jiffies(out.now());
            let sent = self.last_sent(self.seq.una()).map_or(now, |at| self.jiffies(at));
            timeout = (sent + timeout).saturating_sub(now).max(1);
        }
        self.start_timer_at_pace(TimerKind::Retransmit, out.now(), timeout);
    }

    /// Replaces a pause or a waiting probe by the retransmission timer, after an ACK.
    pub(in crate::tcp) fn on_ack_while_probing(&mut self, out: &impl Output) {
        let kind = self.timer.map(|(kind, _)| kind);
        if matches!(kind, Some(TimerKind::EarlyRetransmit | TimerKind::LossProbe)) {
            self.rearm_rto(true, out);
        }
    }

    /// tcp_set_xmit_timer, after an ACK of data: sets the timer for a probe, or else for the timeout, from now on.
    pub(in crate::tcp) fn set_xmit_timer(&mut self, out: &impl Output) {
        if self.profile.probe_timeout == ProbeTimeout::Draft {
            self.rearm_rto(false, out);
            self.schedule_loss_probe(out);
        } else if !self.schedule_rack_probe(true, out) {
            let waits =
                matches!(self.timer, Some((TimerKind::LossProbe | TimerKind::Reordering, _)));
            self.rearm_rto(waits, out);
        }
    }

    /// Whether probes of RACK's kind are possible now (tcp_schedule_loss_probe).
    pub(in crate::tcp) fn may_probe(&self) -> bool {
        let asked = matches!(self.sysctl.tcp_early_retrans, 3 | 4);
        let calm = matches!(self.ca_state, CaState::Open | CaState::Cwr);
        asked && self.board.packets_out > 0 && !self.is_reno() && calm
    }

    /// Schedules a probe after two RTTs, but no later than the timeout (RFC 8985 section 7.2); `from_now`: the timeout
    /// restarts. Returns whether there will be a probe.
    fn schedule_rack_probe(&mut self, from_now: bool, out: &impl Output) -> bool {
        if !self.may_probe() {
            return false;
        }
        let least = match self.board.packets_out {
            1 => self.profile.rto_min_ms * 1000,
            _ => TIMEOUT_MIN_US,
        };

        // Two RTTs; without a sample the first timeout (tcp_schedule_loss_probe).
        let probe = match self.rtt.srtt {
            0 => self.profile.timeout_init_s * (1_000_000_000 / self.tick_ns) as u32,
            srtt => self.us_to_jiffies(u64::from(srtt >> 2) + least),
        };

        // The probe never comes later than the timeout.
        let rto = if from_now { Some(self.rtt.rto) } else { self.rto_left(out) };
        let wait = probe.min(rto.unwrap_or(probe));
        self.start_timer_at_pace(TimerKind::LossProbe, out.now(), wait);
        true
    }

    /// Jiffies until the timeout of the first packet; none if it is due (tcp_rto_delta_us).
    fn rto_left(&self, out: &impl Output) -> Option<u32> {
        let sent = self.last_sent(self.seq.una())?;
        let rto = Time(u64::from(self.rtt.rto) * self.tick_ns);
        let left = (sent + rto).us_since(out.now());
        Some(self.us_to_jiffies(left)).filter(|&jiffies| jiffies > 0)
    }

    /// Schedules a probe after two RTTs, where the sender is idle or limited by cwnd.
    pub(in crate::tcp) fn schedule_loss_probe(&mut self, out: &impl Output) {
        if self.profile.probe_timeout == ProbeTimeout::Rack {
            self.schedule_rack_probe(false, out);
            return;
        }
        let srtt = self.rtt.srtt_ticks();
        let rtt = srtt >> 3;
        let off = self.sysctl.tcp_early_retrans < 3 || rtt == 0 || self.is_reno();
        let Some((TimerKind::Retransmit, expiry)) = self.timer else { return };
        if off || self.board.packets_out == 0 || self.ca_state != CaState::Open {
            return;
        }

        // While cwnd allows new data, no probe is needed.
        if self.cwnd() > self.in_flight() && self.queue.head().is_some() {
            return;
        }
        let mut timeout = rtt << 1;

        // A lone packet's ACK may be delayed at the receiver: 1.5 RTTs and 200 ms.
        if self.board.packets_out == 1 {
            let delack_max = (200_000_000 / self.tick_ns) as u32;
            timeout = timeout.max(rtt + (rtt >> 1) + delack_max);
        }
        timeout = timeout.max(self.ticks_in_ms(10));
        let rto = (expiry.at.0.saturating_sub(out.now().0) / self.tick_ns) as u32;
        self.start_timer(TimerKind::LossProbe, out.now(), timeout.min(rto.max(1)));
    }

    /// Sends the probe: a new segment whatever cwnd allows, else the last one again.
    pub(in crate::tcp) fn send_loss_probe(&mut self, out: &mut impl Output) {
        self.timer = None;
        if self.profile.probe_timeout == ProbeTimeout::Rack {
            let sent = self.board.packets_out > 0 && self.probe_once(out);
            return self.rearm_rto(!sent, out);
        }
        if self.board.packets_out > 0 {
            self.probe(out);
        }
        self.rearm_rto(false, out);
    }

    /// Sends a probe, if none is out: new data within cwnd, at most one skb and at least one segment, else the last
    /// segment again. Returns whether it was sent.
    fn probe_once(&mut self, out: &mut impl Output) -> bool {
        if self.recovery.tlp_high_seq.is_some() {
            return false;
        }
        self.recovery.tlp_retrans = false;
        let window_end = self.seq.window_end();
        let first = self.queue.head().map(|head| u64::from(self.first_numbers(head)));
        let sent = if first.is_some_and(|len| self.seq.nxt() + len <= window_end) {
            self.push_probe(out)
        } else {
            self.recovery.tlp_retrans = self.resend_last(out);
            self.recovery.tlp_retrans
        };
        if sent {
            self.counters.mib.loss_probes += 1;
            self.recovery.tlp_high_seq = Some(self.seq.nxt());
        }
        sent
    }

    fn probe(&mut self, out: &mut impl Output) {
        if self.queue.head().is_some() {
            self.counters.mib.loss_probes += 1;
            self.push_beyond_cwnd(out);
        } else if self.recovery.tlp_high_seq.is_none() {
            // Kernels of that time do not send a FIN alone as a probe, as it would not reveal a loss.
            let without_data = self.queue.fin_is_alone();
            if !without_data && self.resend_last(out) {
                self.counters.mib.loss_probes += 1;
                self.recovery.tlp_high_seq = Some(self.seq.nxt());
            }
        }
    }

    /// Processes the ACK of a probe: if the probe repaired a loss, cwnd is reduced once.
    pub(in crate::tcp) fn process_tlp_ack(&mut self, ack: u64, flags: &Flags, out: &impl Output) {
        let Some(high_seq) = self.recovery.tlp_high_seq else { return };
        let by_rack = self.profile.probe_timeout == ProbeTimeout::Rack;
        if by_rack && ack >= high_seq && (!self.recovery.tlp_retrans || flags.dsack_tlp) {
            // The probe was new data, or both copies arrived.
            self.recovery.tlp_high_seq = None;
            return;
        }

        // A duplicate ACK at tlp_high_seq shows that both copies arrived.
        let quiet = !(flags.una_advanced || flags.not_dup() || flags.data_sacked);
        if ack == high_seq && quiet {
            self.recovery.tlp_high_seq = None;
        } else if ack > high_seq {
            self.recovery.tlp_high_seq = None;

            // tcp_process_tlp_ack: the probe repaired a loss, which counts as congestion once.
            if by_rack || !flags.dsacking {
                self.sync_clock(out.now());
                self.begin_reduction(true);
                self.set_ca_state(CaState::Cwr);
                self.complete_cwr(out);
                self.try_keep_open();
            }
        }
    }
}
