//! Probes of a window that is closed, or too small for the next segment.
//!
//! Source: Linux 2.6.20 `tcp_check_probe_timer`, `tcp_ack_probe`, `tcp_send_probe0`, `tcp_write_wakeup`. A probe
//! carries as much of the next segment as the window admits. Without it a receiver with a window smaller than a segment
//! would never get one.

use super::output::Push;
use super::{Sender, TimerKind};
use crate::tcp::Output;

impl Sender {
    /// Starts the probe timer, where data waits and nothing is in flight, so that no ACK can open the window.
    pub(in crate::tcp) fn check_probe_timer(&mut self, out: &impl Output) {
        if self.is_established
            && self.board.packets_out == 0
            && self.queue.head().is_some()
            && self.timer.is_none()
        {
            let rto = self.rtt.rto;
            self.start_timer_at_pace(TimerKind::Probe, out.now(), rto);
        }
    }

    /// Handles an ACK with nothing in flight: stops probes if the whole next skb may be sent now.
    pub(in crate::tcp) fn on_probe_answer(&mut self, out: &impl Output) {
        let Some(head) = self.queue.head() else { return };
        let numbers = u64::from(head) + u64::from(self.queue.head_ends());
        if self.seq.nxt() + numbers <= self.seq.window_end() {
            self.rtt.backoff = 0;
            self.timer = None;
        } else {
            let timeout = self.rtt.probe_pause();
            self.start_timer_at_pace(TimerKind::Probe, out.now(), timeout);
        }
    }

    /// Handles the probe timer.
    pub(in crate::tcp) fn on_probe_timeout(&mut self, out: &mut impl Output) {
        let Some(head) = self.queue.head().filter(|_| self.board.packets_out == 0) else { return };
        let sent = self.wake_receiver(head, out);
        if self.board.packets_out > 0 {
            return;
        }
        let timeout = if sent {
            self.rtt.back_off_probing();
            self.rtt.probe_pause()
        } else {
            // The host's own queue is full: the next attempt is soon (TCP_RESOURCE_PROBE_INTERVAL).
            self.rtt.probe_pause().min(self.ticks_in_half_a_second())
        };
        self.start_timer_at_pace(TimerKind::Probe, out.now(), timeout);
    }

    /// tcp_write_wakeup: sends the part of the next segment that fits, or an empty one; returns whether the host took
    /// it.
    fn wake_receiver(&mut self, head: u32, out: &mut impl Output) -> bool {
        self.note_options(out.option_bytes());
        let room = self.seq.room();
        if room > 0 {
            let len = u64::from(head.min(self.mss_now())).min(room) as u32;
            self.seq.push_to(self.seq.nxt() + u64::from(len));
            // Once the segment is sent, the probes and their backoff end.
            let backoff = core::mem::take(&mut self.rtt.backoff);
            let sent = self.send_head(len, Push::One, out);
            self.rtt.backoff = if sent { 0 } else { backoff };
            return sent;
        }
        let departs = self.depart(out.now());
        // The probe has the number of the last acknowledged byte (tcp_xmit_probe_skb).
        let probe = self.transmission(self.seq.nxt().saturating_sub(1), 0, false, departs);
        let taken = out.transmit(probe);
        if !taken {
            self.enter_cwr(out.now());
        }
        self.heed_congestion(out);
        taken
    }

    pub(in crate::tcp) fn ticks_in_half_a_second(&self) -> u32 {
        (500_000_000 / self.tick_ns).max(1) as u32
    }
}
