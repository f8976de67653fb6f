//! A congestion control that sets the whole window (`cong_control`): its input, and the effects of its decisions.
//!
//! Source: Linux 6.12 `tcp_cong_control`, `tcp_rate_check_app_limited`, `bpf_tcp_ca`. Other places where such a control
//! changes TCP's behaviour call [`Sender::is_controlled`].

use super::Sender;
use super::edt::PacedBy;
use crate::cc::Event;
use crate::tcp::Output;
use crate::tcp::rate::AckResult;
use crate::units::Time;

/// Changes by an ACK, packets.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Changed {
    pub(in crate::tcp) delivered: u32,
    pub(in crate::tcp) lost: u32,
    /// Packets in flight before the ACK.
    pub(in crate::tcp) prior_in_flight: u32,
    /// Whether the receiver revoked SACKs before the ACK, and Loss has not ended.
    pub(in crate::tcp) is_reneging: bool,
}

impl Sender {
    /// Whether the control sets the whole window and the pace. write() then calls [`Sender::check_app_limited`].
    #[inline]
    pub fn is_controlled(&self) -> bool {
        self.board.rate.is_some()
    }

    /// Packets delivered, including the SYN or SYN-ACK.
    pub(in crate::tcp) fn delivered_with_syn(&self) -> u32 {
        self.board.delivered as u32 + 1
    }

    /// Copies the scoreboard and the pace to the control's fields.
    pub(in crate::tcp) fn sync_rates(&mut self) {
        let Some(rate) = &self.board.rate else { return };
        let (delivered, tcp_mstamp) = (self.delivered_with_syn(), self.cc.sock().now_us);
        let rates = self.cc.rates_mut();
        rates.tcp_mstamp = tcp_mstamp;
        rates.delivered_mstamp = rate.delivered_us;
        rates.tcp_wstamp_ns = self.departures.next.0;
        rates.max_pacing_rate = self.pacing.most();
        rates.lost = self.board.lost_ever as u32;
        rates.app_limited = rate.app_limited;
        rates.sacked_out = self.board.sacked_out;
        rates.lost_out = self.board.lost_out;
        rates.retrans_out = self.board.retrans_out;
        rates.min_rtt_us = self.pacing.min_rtt.us();

        let sock = self.cc.sock_mut();
        sock.delivered = delivered;
        sock.packets_out = self.board.packets_out;
        sock.mss_cache = self.tso.mss_cache();
        sock.pacing_rate = self.pacing.rate;
        sock.pacing_status = self.departures.status();
    }

    /// [`Sender::sync_rates`] with the clock at `now`.
    pub(in crate::tcp) fn sync_rates_at(&mut self, now: Time) {
        if self.is_controlled() {
            self.cc.rates_mut().tcp_clock_cache = now.0;
            self.sync_rates();
        }
    }

    /// Applies the control's pace and mark.
    pub(in crate::tcp) fn obey_control(&mut self) {
        let Some(rate) = &mut self.board.rate else { return };
        rate.app_limited = self.cc.rates().app_limited;
        self.pacing.rate = self.cc.sock().pacing_rate;
        let wants_pace = self.cc.sock().pacing_status == PacedBy::Tcp as u32;
        if wants_pace && self.departures.by == PacedBy::Nobody {
            self.departures.by = PacedBy::Tcp;
        }
    }

    /// Passes an event other than an ACK to the control.
    pub(in crate::tcp) fn emit_event(&mut self, event: Event) {
        self.cc.cwnd_event(event);
        self.obey_control();
    }

    /// tcp_in_ack_event: passes an ACK with its flags to the control before its losses are known.
    pub(in crate::tcp) fn in_ack_event(&mut self, flags: u32, now: Time) {
        self.sync_clock(now);
        self.cc.sock_mut().mss_cache = self.tso.mss_cache();
        self.cc.in_ack_event(flags);
    }

    /// tcp_rate_gen and tcp_cong_control, at the end of an ACK up to `ack`.
    pub(in crate::tcp) fn control_by_rate(&mut self, ack: u64, changed: Changed, now: Time) {
        let result = AckResult {
            delivered: self.delivered_with_syn(),
            acked_sacked: changed.delivered,
            losses: changed.lost,
            prior_in_flight: changed.prior_in_flight,
            now_us: now.as_us(),
            min_rtt_us: self.pacing.min_rtt.us(),
            is_reneging: changed.is_reneging,
        };
        let Some(rate) = &mut self.board.rate else { return };
        let sample = rate.sample(result);
        self.sync_clock(now);
        self.cc.cong_control(ack as u32, &sample);
        self.obey_control();
    }

    /// tcp_rate_check_app_limited, at a call of write(): whether the application limits the flow. It does if less than
    /// a segment is unsent, the host holds no skb of the flow, cwnd has room and no packet waits for retransmission.
    pub fn check_app_limited(&mut self, out: &mut impl Output) {
        let delivered = self.delivered_with_syn();
        let in_flight = self.in_flight();
        let unsent = self.seq.written() - self.seq.nxt();
        let starves = unsent < u64::from(self.tso.mss_cache()) && in_flight < self.cwnd();
        let is_repaired = self.board.lost_out <= self.board.retrans_out;
        let Some(rate) = &mut self.board.rate else { return };
        if starves && is_repaired && out.in_host() == 0 {
            rate.limit_by_app(delivered, in_flight);
        }
    }

    /// Notes the first transmission of data from `seq` on, which counts as sent at `when`.
    #[inline]
    pub(in crate::tcp) fn sample_sent(&mut self, seq: u64, when: Time) {
        if !self.is_controlled() {
            return;
        }
        let first = self.board.packets_out == 0;
        let delivered = self.delivered_with_syn();
        let Some(rate) = &mut self.board.rate else { return };
        rate.note_sent(seq, when.as_us(), delivered, first);
    }

    /// Notes a retransmission of `[start, end)`, which counts as sent at `when`.
    pub(in crate::tcp) fn sample_resent(&mut self, start: u64, end: u64, when: Time) {
        if !self.is_controlled() {
            return;
        }
        let delivered = self.delivered_with_syn();
        let mut at = start;
        while at < end {
            let next = self.queue.segment_end(at, self.mss, self.seq.nxt()).min(end);
            if let Some(rate) = &mut self.board.rate {
                rate.note_resent(at, when.as_us(), delivered);
            }
            at = next;
        }
    }
}
