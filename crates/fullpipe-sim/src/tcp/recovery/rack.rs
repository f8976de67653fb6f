//! Losses by time: packets that are lost once a later one has arrived, and the wait for packets that may be.
//!
//! Source: RFC 8985; Linux 6.12 `tcp_rack_detect_loss`, `tcp_rack_reo_wnd`, `tcp_rack_mark_lost`,
//! `tcp_rack_reo_timeout`.

use crate::tcp::scoreboard::Age;
use crate::tcp::sender::{Sender, TimerKind};
use crate::tcp::{CaState, Output};

/// Least timeout, us (TCP_TIMEOUT_MIN_US).
pub(super) const TIMEOUT_MIN_US: u64 = 2000;

impl Sender {
    /// Longest delay of a packet beyond the RTT, us.
    fn rack_reo_wnd(&self) -> u64 {
        let Some(rack) = &self.board.rack else { return 0 };
        if !rack.reord_seen {
            let enough = self.board.sacked_out >= self.recovery.reordering;
            if self.ca_state >= CaState::Recovery || enough {
                return 0;
            }
        }

        // A quarter of the least RTT per step, at most srtt.
        let step = u64::from(self.pacing.min_rtt.us() >> 2);
        (step * u64::from(rack.reo_wnd_steps)).min(u64::from(self.rtt.srtt >> 3))
    }

    /// Marks lost packets; returns the time until more may be lost, us.
    fn rack_detect_loss(&mut self, out: &impl Output) -> Option<u64> {
        let rack = self.board.rack?;
        let now = out.now().as_us();
        let wait = u64::from(rack.rtt_us) + self.rack_reo_wnd();
        let age = Age {
            before_us: rack.mstamp,
            end_seq: rack.end_seq,
            lost_by_us: now.checked_sub(wait),
        };
        let again = self.board.retrans_out;
        let (board, window) = self.board_and_window();
        let last = board.mark_lost_by_age(age, window);
        self.note_lost_retransmissions(again);

        // The wait ends when the youngest packet that may be lost exceeds RTT and window.
        let last = last?;
        Some((last + wait).saturating_sub(now)).filter(|&left| left > 0)
    }

    /// tcp_rack_mark_lost; returns whether a timer waits for more losses.
    pub(super) fn rack_mark_lost(&mut self, out: &impl Output) -> bool {
        let advanced = self.board.rack.as_mut().map(|rack| core::mem::take(&mut rack.advanced));
        if advanced != Some(true) {
            return false;
        }
        let Some(left) = self.rack_detect_loss(out) else { return false };
        let wait = self.us_to_jiffies(left + TIMEOUT_MIN_US).min(self.rtt.rto);
        self.start_timer(TimerKind::Reordering, out.now(), wait);
        true
    }

    /// Ends the wait for late packets (tcp_rack_reo_timeout).
    pub(in crate::tcp) fn on_reordering_timeout(&mut self, out: &mut impl Output) {
        self.timer = None;
        let (in_flight, lost) = (self.in_flight(), self.board.lost_ever);
        self.rack_detect_loss(out);

        // tcp_rack_reo_timeout: new losses begin Recovery.
        if self.in_flight() != in_flight {
            if self.ca_state != CaState::Recovery {
                self.begin_recovery(false, out);
                if !self.is_controlled() {
                    let lost = (self.board.lost_ever - lost) as u32;
                    self.reduce_by_delivered(1, lost, false);
                }
            }
            self.xmit_retransmit_queue(out);
        }
        if !matches!(self.timer, Some((TimerKind::Retransmit, _))) {
            self.rearm_rto(true, out);
        }
    }

    /// Microseconds as jiffies, rounded up.
    pub(in crate::tcp) fn us_to_jiffies(&self, us: u64) -> u32 {
        (us * 1000).div_ceil(self.tick_ns).min(u64::from(u32::MAX)) as u32
    }
}
