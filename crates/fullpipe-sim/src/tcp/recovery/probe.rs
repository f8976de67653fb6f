//! Early retransmit (RFC 5827, Linux 3.5) and tail loss probes (draft-dukkipati-tcpm-tcp-loss-probe,
//! Linux 3.10), both by sysctl tcp_early_retrans.
//!
//! Source: Linux 3.10 and 3.14 `tcp_pause_early_retransmit`, `tcp_resume_early_retransmit`,
//! `tcp_schedule_loss_probe`, `tcp_send_loss_probe`, `tcp_process_tlp_ack`, `tcp_rearm_rto`.

use crate::tcp::input::Flags;
use crate::tcp::sender::{Sender, TimerKind};
use crate::tcp::{CaState, Output};

impl Sender {
    fn ticks_in_ms(&self, ms: u64) -> u32 {
        (ms * 1_000_000).div_ceil(self.tick_ns) as u32
    }

    /// Fewer than four packets are out and all but one are SACKed: no more duplicates will come.
    pub(super) fn early_retransmit(&mut self, out: &dyn Output) -> bool {
        let board = &self.board;
        let few = board.packets_out > board.sacked_out && board.packets_out < 4;
        let may = self.recovery.do_early_retrans && board.retrans_out == 0 && board.sacked_out > 0;
        may && few && !self.may_send_now() && !self.pause_early_retransmit(out)
    }

    /// Waits a quarter of the RTT, in case the packet is only late.
    fn pause_early_retransmit(&mut self, out: &dyn Output) -> bool {
        let delays = (2..=3).contains(&self.sysctl.tcp_early_retrans);
        let srtt = self.rtt.srtt_ticks();
        if !delays || srtt == 0 {
            return false;
        }
        let delay = (srtt >> 5).max(self.ticks_in_ms(2));
        let due = out.now().0 / self.tick_ns + u64::from(delay);
        let sooner = self.timer.is_none_or(|(_, at)| at.0 / self.tick_ns > due);
        if sooner {
            self.start_timer(TimerKind::EarlyRetransmit, out.now(), delay);
        }
        sooner
    }

    /// The pause is over and the packet has not come.
    pub(in crate::tcp) fn resume_early_retransmit(&mut self, out: &mut dyn Output) {
        self.timer = None;
        self.rearm_rto(true, out);
        if !self.recovery.do_early_retrans || self.board.packets_out == 0 {
            return;
        }
        self.enter_recovery(out);
        self.update_scoreboard(true, out);
        self.xmit_retransmit_queue(out);
    }

    /// Restarts the retransmission timer; `elapsed`: it counts from when the first packet was sent.
    pub(in crate::tcp) fn rearm_rto(&mut self, elapsed: bool, out: &dyn Output) {
        if self.board.packets_out == 0 {
            self.timer = None;
            return;
        }
        let mut timeout = self.rtt.timeout();
        if elapsed {
            let resent = self.board.resent_at(self.snd_una);
            let now = self.jiffies(out.now());
            let sent = resent.or_else(|| self.sent_at(self.snd_una)).unwrap_or(now);
            timeout = (sent + timeout).saturating_sub(now).max(1);
        }
        self.start_timer(TimerKind::Retransmit, out.now(), timeout);
    }

    /// An ACK came: a pause or probe that waits gives way to the retransmission timer.
    pub(in crate::tcp) fn on_ack_while_probing(&mut self, out: &dyn Output) {
        let kind = self.timer.map(|(kind, _)| kind);
        if matches!(kind, Some(TimerKind::EarlyRetransmit | TimerKind::LossProbe)) {
            self.rearm_rto(true, out);
        }
    }

    /// A probe after two RTTs, where the sender is idle or limited by cwnd.
    pub(in crate::tcp) fn schedule_loss_probe(&mut self, out: &dyn Output) {
        let srtt = self.rtt.srtt_ticks();
        let rtt = srtt >> 3;
        let off = self.sysctl.tcp_early_retrans < 3 || rtt == 0 || self.is_reno();
        let Some((TimerKind::Retransmit, due)) = self.timer else { return };
        if off || self.board.packets_out == 0 || self.ca_state != CaState::Open {
            return;
        }
        if self.cwnd() > self.in_flight() && self.queue.head().is_some() {
            return;
        }
        let mut timeout = rtt << 1;
        if self.board.packets_out == 1 {
            let delack_max = (200_000_000 / self.tick_ns) as u32;
            timeout = timeout.max(rtt + (rtt >> 1) + delack_max);
        }
        timeout = timeout.max(self.ticks_in_ms(10));
        let rto = (due.0.saturating_sub(out.now().0) / self.tick_ns) as u32;
        self.start_timer(TimerKind::LossProbe, out.now(), timeout.min(rto.max(1)));
    }

    /// The probe: a new segment whatever cwnd says, else the last one again.
    pub(in crate::tcp) fn send_loss_probe(&mut self, out: &mut dyn Output) {
        self.timer = None;
        if self.board.packets_out > 0 {
            self.probe(out);
        }
        self.rearm_rto(false, out);
    }

    fn probe(&mut self, out: &mut dyn Output) {
        if self.queue.head().is_some() {
            self.push_beyond_cwnd(out);
        } else if self.recovery.tlp_high_seq.is_none() {
            let start = self.queue.segment_start(self.snd_nxt, 1, self.mss).max(self.snd_una);
            if self.retransmit(start, self.snd_nxt, out) {
                self.recovery.tlp_high_seq = Some(self.snd_nxt);
            }
        }
    }

    /// The ACK of a probe: if the probe repaired a loss, cwnd is reduced once.
    pub(in crate::tcp) fn process_tlp_ack(&mut self, ack: u64, flags: &Flags, out: &dyn Output) {
        let Some(high_seq) = self.recovery.tlp_high_seq else { return };
        let quiet = !(flags.una_advanced || flags.not_dup() || flags.data_sacked);
        if ack == high_seq && quiet {
            self.recovery.tlp_high_seq = None;
        } else if ack > high_seq {
            self.recovery.tlp_high_seq = None;
            if !flags.dsacking {
                self.sync_clock(out.now());
                self.begin_reduction(true);
                self.set_ca_state(CaState::Cwr);
                self.complete_cwr(out);
                self.try_keep_open();
            }
        }
    }
}
