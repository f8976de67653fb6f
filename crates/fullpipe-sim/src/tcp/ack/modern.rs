//! Order of an ACK since 4.6: its content, then losses, then cwnd, and only then transmission.
//!
//! Source: Linux 6.1 and 6.12 `tcp_ack`, `tcp_clean_rtx_queue`, `tcp_ack_update_rtt`, `tcp_cong_control`,
//! `tcp_xmit_recovery`.

use super::classic::Flags;
use crate::cc::{ACK_ECE, ACK_SLOWPATH, ACK_WIN_UPDATE, AckSample};
use crate::tcp::profile::IdleRestart;
use crate::tcp::scoreboard::Acked;
use crate::tcp::sender::Sender;
use crate::tcp::sender::control::Changed;
use crate::tcp::{Ack, CaState, Output};
use crate::units::Time;

/// Transmission after an ACK (REXMIT_NONE, REXMIT_LOST, REXMIT_NEW).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Resend {
    Nothing,
    Lost,
    /// New data first, to find out whether a timeout was spurious (F-RTO).
    New,
}

/// RTTs of an ACK, us.
#[derive(Clone, Copy, Debug, Default)]
struct Rtts {
    /// RTT of the oldest acknowledged packet.
    seq: Option<u32>,
    /// RTT of the oldest SACKed packet.
    sack: Option<u32>,
    /// RTT of the newest packet of both, for the congestion control.
    newest: Option<u32>,
}

/// Transmission times of acknowledged packets that were sent once.
#[derive(Clone, Copy, Debug, Default)]
struct SentTimes {
    first: Option<Time>,
    last: Option<Time>,
}

/// Flags of an ACK for the congestion control; a mark is reported on the slow path alone.
fn flags_of_event(is_slow_path: bool, flags: &Flags) -> u32 {
    let window = if flags.window_updated { ACK_WIN_UPDATE } else { 0 };
    match (is_slow_path, flags.ece) {
        (false, _) => window,
        (true, false) => window | ACK_SLOWPATH,
        (true, true) => window | ACK_SLOWPATH | ACK_ECE,
    }
}

impl Sender {
    /// Passes an ACK to a control that asks for it, before its losses are known.
    #[inline]
    fn report_ack(&mut self, is_slow_path: bool, flags: &Flags, now: Time) {
        if self.cc.hears_acks() {
            self.in_ack_event(flags_of_event(is_slow_path, flags), now);
        }
    }

    pub(in crate::tcp) fn ack_modern(&mut self, ack: &Ack, with_data: bool, out: &mut impl Output) {
        self.refresh_clock(out.now());
        let echoes = self.timestamps && ack.tsecr != 0;
        let before = echoes.then(|| self.after_timestamp(ack.tsecr).as_us());
        if let Some(rack) = &mut self.board.rack {
            rack.begin(out.now().as_us(), self.pacing.min_rtt.us(), before);
        }
        self.recount_mixed();
        if let Some(rate) = &mut self.board.rate {
            rate.begin();
        }

        // tcp_ack, old_ack: an overtaken ACK brings only its SACKs.
        if ack.ack < self.seq.una() {
            self.process_old_ack(ack, out);
        } else {
            self.process_current_ack(ack, with_data, out);
        }
    }

    #[cold]
    fn process_old_ack(&mut self, ack: &Ack, out: &mut impl Output) {
        let Some(sacks) = &ack.sacks else { return };
        self.note_prior();
        let mut flags = Flags::default();
        self.take_sacks(ack, sacks, &mut flags, out);

        // tcp_fastretrans_alert decides on losses; tcp_xmit_recovery sends.
        let resend = self.fastretrans_alert_modern(self.seq.una(), 0, &mut flags, out);
        self.xmit_recovery(resend, out);
    }

    fn process_current_ack(&mut self, ack: &Ack, with_data: bool, out: &mut impl Output) {
        let (prior_una, nothing_out) = (self.seq.una(), self.board.packets_out == 0);
        let (delivered, lost) = (self.board.delivered, self.board.lost_ever);
        let prior_in_flight = self.in_flight();
        let is_reneging = self.board.rate.as_ref().is_some_and(|rate| rate.is_reneging);
        let mut flags = Flags { with_data, ..Flags::default() };

        // tcp_rcv_established: header prediction takes nothing but progress (FLAG_SLOWPATH).
        let is_slow_path = ack.sacks.is_some() || ack.ece || ack.window != self.seq.wnd();
        self.recovery.rcv_tsecr = ack.tsecr;
        self.note_prior();
        // tcp_ack_update_window precedes the SACKs (tcp_sacktag_write_queue).
        self.update_window(ack, &mut flags, out);
        if let Some(sacks) = &ack.sacks {
            self.take_sacks(ack, sacks, &mut flags, out);
        }
        flags.ece = ack.ece && self.ecn.agreed;
        // no_queue: with nothing in flight only D-SACKs and answers to window probes (tcp_ack_probe) count.
        if nothing_out {
            self.report_ack(is_slow_path, &flags, out.now());
            if flags.dsacking {
                self.fastretrans_alert_modern(prior_una, 0, &mut flags, out);
            }
            self.on_probe_answer(out);
            return self.process_tlp_ack(ack.ack, &flags, out);
        }
        self.take_acknowledged(ack, &mut flags, out);
        if let Some(rack) = &mut self.board.rack {
            rack.update_reo_wnd();
        }
        self.report_ack(is_slow_path, &flags, out.now());
        self.process_tlp_ack(ack.ack, &flags, out);
        // tcp_ack_is_dubious: only a doubtful ACK enters the state machine.
        let mut resend = Resend::Nothing;
        let alarms = flags.data_sacked || flags.ece || flags.dsacking;
        if !flags.not_dup() || alarms || self.ca_state != CaState::Open {
            let duplicate = flags.is_dupack() && !flags.dsacking;
            resend = self.fastretrans_alert_modern(prior_una, duplicate.into(), &mut flags, out);
        }
        if flags.sets_timer {
            self.set_xmit_timer(out);
        }
        // tcp_cong_control: delivered and lost packets decide cwnd.
        let delivered = (self.board.delivered - delivered) as u32;
        self.counters.delivered_ce += if flags.ece { u64::from(delivered) } else { 0 };
        let lost = (self.board.lost_ever - lost) as u32;
        if self.is_controlled() {
            let changed = Changed { delivered, lost, prior_in_flight, is_reneging };
            self.control_by_rate(ack.ack, changed, out.now());
        } else {
            self.control_cwnd(ack.ack, delivered, lost, &flags, prior_in_flight, out);
        }
        self.xmit_recovery(resend, out);
    }

    fn update_window(&mut self, ack: &Ack, flags: &mut Flags, out: &impl Output) {
        if ack.ack > self.seq.una() || self.is_another_window(ack) {
            flags.window_updated = true;
            let waits = ack.window != self.seq.wnd() && self.queue.head().is_some();

            // tcp_slow_start_after_idle_check: a window that changes after idle time shrinks cwnd.
            if waits && self.profile.idle_restart == IdleRestart::Writing {
                self.restart_after_idle(self.jiffies(out.now()));
            }
            self.take_window(ack);
        }
    }

    /// tcp_clean_rtx_queue: frees acknowledged packets, measures the RTT, informs the congestion control.
    fn take_acknowledged(&mut self, ack: &Ack, flags: &mut Flags, out: &impl Output) {
        let (prior_una, prior_sacked) = (self.seq.una(), self.board.sacked_out);
        let mut acked = Acked::default();
        let mut times = SentTimes::default();
        if ack.ack > prior_una {
            flags.una_advanced = true;
            self.retransmits = 0;
            let whole = self.whole_below(ack.ack);
            if whole > prior_una {
                flags.data_acked = true;
                let (board, window) = self.board_and_window();
                acked = board.acknowledge(whole, window);
                let sent = |seq: Option<u64>| seq.and_then(|seq| self.queue.sent_at(seq));
                times = SentTimes { first: sent(acked.original), last: sent(acked.last_original) };
                flags.packets_acked = acked.packets;
                flags.retrans_data_acked = acked.resent;
                self.queue.acknowledge(whole, self.mss);
                if let Some(rate) = &mut self.board.rate {
                    rate.forget(whole);
                }
            }
            if whole < ack.ack {
                self.trim_packet(whole, ack.ack);
            }
            self.seq.acknowledge(ack.ack);
            self.chrono_acked(out.now());
        }

        // tcp_ack_update_rtt: the ACK of a lone short segment (FLAG_ACK_MAYBE_DELAYED) may be late.
        let mut rtts = self.rtts(times, flags, out.now());
        let bytes = ack.ack - prior_una;
        let runt = acked.packets == 1 && prior_sacked == 0 && bytes < u64::from(self.mss);
        let measured = self.update_rtt(&mut rtts, ack.tsecr, flags, runt, out.now());
        self.note_rate(&acked, rtts.newest, runt, flags);

        // New data restarts the timer. A SACK does only if its packet was sent before the first one's last transmission.
        if flags.data_acked {
            flags.sets_timer = true;
            self.note_probe_acked(out.now());
            self.note_filled_hole(&acked, flags);
        } else if measured {
            let age = self.last_sent(self.seq.una()).map(|at| self.rtt_units(at, out.now()));
            flags.sets_timer = rtts.sack > age && age.is_some();
        }

        // tcp_check_sack_reneging uses this later.
        flags.reneging = self.board.has_reneged(self.seq.una());
        self.pkts_acked_modern(acked.packets, rtts.newest, out.now());
    }

    /// RTTs of an ACK whose acknowledged packets were sent at `times`. Retransmitted data gives none.
    fn rtts(&self, times: SentTimes, flags: &Flags, now: Time) -> Rtts {
        let since = |at: Time| self.rtt_units(at, now);
        let sacked = |seq: Option<u64>| seq.and_then(|seq| self.queue.sent_at(seq)).map(since);
        let (first, last) = match flags.retrans_data_acked {
            true => (None, None),
            false => (times.first.map(since), times.last.map(since)),
        };
        Rtts {
            seq: first,
            sack: sacked(flags.first_original_sacked),
            newest: sacked(flags.last_original_sacked).or(last),
        }
    }

    /// tcp_ack_update_rtt: samples the oldest packet's RTT, else the echoed timestamp's; returns whether there is one.
    fn update_rtt(
        &mut self,
        rtts: &mut Rtts,
        tsecr: u32,
        flags: &Flags,
        runt: bool,
        now: Time,
    ) -> bool {
        let by_own = rtts.seq.or(rtts.sack);
        let rtt = by_own.or_else(|| {
            let echo = (self.timestamps && tsecr != 0 && flags.data_acked).then_some(tsecr)?;
            Some(self.echo_units(echo, now))
        });
        let Some(rtt) = rtt else { return false };
        if by_own.is_none() {
            rtts.newest = Some(rtt);
        }
        let newest = rtts.newest.unwrap_or(rtt);
        // The ACK of a lone short segment may have been delayed.
        if !(runt && newest > self.pacing.min_rtt.us()) {
            let jiffies = self.jiffies(now);
            self.pacing.min_rtt.take(jiffies, newest.max(1));
        }
        self.rtt.sample(rtt, self.seq.una(), self.seq.nxt());
        true
    }

    /// Notes the ACK's RTT for its sample of the delivery rate, and whether the receiver may have delayed the ACK of a
    /// `runt` (FLAG_ACK_MAYBE_DELAYED).
    fn note_rate(&mut self, acked: &Acked, rtt_us: Option<u32>, runt: bool, flags: &Flags) {
        let delivered = self.delivered_with_syn().wrapping_add(acked.delivered);
        let alarm = flags.data_sacked || flags.ece || flags.dsacking || acked.resent;
        let Some(rate) = &mut self.board.rate else { return };
        rate.rtt_us = rtt_us;
        let alone = rate.prior_delivered().is_some_and(|prior| prior.wrapping_add(1) == delivered);
        rate.is_ack_delayed = runt && alone && !alarm;
    }

    fn note_filled_hole(&mut self, acked: &Acked, flags: &mut Flags) {
        if self.is_reno() {
            self.remove_reno_sacks(acked.packets);
        } else {
            self.board.delivered += u64::from(acked.delivered);
        }

        // tcp_check_sack_reordering: a hole that was never sent again was filled below the highest SACK.
        let Some(original) = acked.original else { return };
        let forged = self.is_reno() && acked.resent;
        flags.orig_sack_acked |= original < self.recovery.high_seq && !forged;
        if !self.is_reno() && original < self.recovery.prior_fack {
            self.check_sack_reordering(original);
        }
    }

    fn pkts_acked_modern(&mut self, packets: u32, rtt_us: Option<u32>, now: Time) {
        self.sync_clock(now);
        let rtt_us = rtt_us.map_or(-1, |us| us.min(i32::MAX as u32) as i32);
        let in_flight = self.in_flight();
        self.cc.pkts_acked(&AckSample { pkts_acked: packets as i32, rtt_us, in_flight });
    }

    /// tcp_cong_control.
    fn control_cwnd(
        &mut self,
        ack: u64,
        delivered: u32,
        lost: u32,
        flags: &Flags,
        prior_in_flight: u32,
        out: &impl Output,
    ) {
        // tcp_cwnd_reduction in CWR and Recovery; otherwise tcp_may_raise_cwnd decides about growth.
        if matches!(self.ca_state, CaState::Cwr | CaState::Recovery) {
            self.reduce_by_delivered(delivered, lost, flags.una_advanced);
        } else if self.raises_cwnd(flags) {
            self.avoid_congestion(ack, delivered, prior_in_flight, out);
        }
        self.update_pacing_rate();
    }

    fn raises_cwnd(&self, flags: &Flags) -> bool {
        let reordered = self.recovery.reordering > self.sysctl.tcp_reordering;
        flags.data_acked || reordered && flags.data_sacked
    }

    fn xmit_recovery(&mut self, resend: Resend, out: &mut impl Output) {
        // REXMIT_NEW: F-RTO sends new data; if none can be sent, it ends (RFC 5682, step 2.b).
        if resend == Resend::New {
            self.push_pending(true, out);
            if self.seq.nxt() > self.recovery.high_seq {
                return;
            }
            self.recovery.frto = false;
        }
        if resend != Resend::Nothing {
            self.xmit_retransmit_queue(out);
        }
    }
}
