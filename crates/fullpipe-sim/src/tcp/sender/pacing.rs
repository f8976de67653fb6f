//! Pacing rate of a flow, and its effects: the size of an skb at transmission, and the data of a flow that may wait in
//! the host (TCP small queues).
//!
//! Source: Linux 6.1 and 6.12 `tcp_update_pacing_rate`, `tcp_tso_autosize`, `tcp_small_queue_check`,
//! `tcp_wfree`; 3.12 `tcp_update_pacing_rate`, `tcp_xmit_size_goal`, `tcp_write_xmit`.

use super::Sender;
use super::edt::PacedBy;
use crate::tcp::Output;
use crate::tcp::min_rtt::MinRtt;
use crate::tcp::profile::{PacingRatio, RttClock, SkbSize, SmallQueueLimit};

/// Defaults of `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`, percent of cwnd per RTT.
const SLOW_START_RATIO: u32 = 200;
const AVOIDANCE_RATIO: u32 = 120;
/// `sk_pacing_shift`: the size of an skb, and of the data in the host, is 2^-10 s at the rate.
const PACING_SHIFT: u32 = 10;
/// `tcp_tso_rtt_log`: the allowance of near peers halves for each 2^9 us of RTT.
const TSO_RTT_LOG: u32 = 9;
/// Bits of that allowance (`sk_gso_max_size`).
const ALLOWANCE_BITS: u32 = 32;
/// Divisor of the pacing rate for the size of an skb at writing: a 2000th of a second.
const WRITTEN_PER_SECOND: u64 = 2000;
/// Largest srtt that counts as one eighth of a jiffy, eighths (`tcp_update_pacing_rate`). Read in sources with an
/// offset of a jiffy; inferred for those without it.
const SMALL_SRTT: u32 = 10;
/// `tcp_min_tso_segs`.
const MIN_TSO_SEGS: u32 = 2;

/// Estimated speed of a flow.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Pacing {
    /// `sk_pacing_rate`, bytes per second.
    pub(in crate::tcp) rate: u64,
    /// Largest pacing rate (`sk_max_pacing_rate`).
    most: u64,
    pub(in crate::tcp) min_rtt: MinRtt,
    /// Whether data was held back because too much waits in the host (TSQ_THROTTLED).
    pub(in crate::tcp) throttled: bool,
}

impl Pacing {
    /// State before the first ACK, with an unlimited rate.
    pub(in crate::tcp) fn new(hz: u32) -> Pacing {
        Pacing { rate: u64::MAX, most: u64::MAX, min_rtt: MinRtt::new(hz), throttled: false }
    }

    /// Largest rate that the application allows, bytes per second; `u64::MAX`: any.
    pub(in crate::tcp) fn most(&self) -> u64 {
        self.most
    }

    /// Limits the rate to `most`, bytes per second.
    pub(in crate::tcp) fn limit(&mut self, most: u64) {
        self.most = most;
        self.rate = self.rate.min(most);
    }
}

impl Sender {
    /// Updates the pacing rate after an ACK, in profiles that change cwnd first, where the rate has an effect.
    pub(in crate::tcp) fn update_early_pacing_rate(&mut self) {
        let profile = &self.profile;
        let sized = profile.skb_size != SkbSize::AsWritten;
        if sized || profile.small_queues || profile.fq_paces || profile.departure_times {
            self.update_pacing_rate();
        }
    }

    /// Updates the pacing rate after each ACK: cwnd per RTT, times the ratio of the profile.
    pub(in crate::tcp) fn update_pacing_rate(&mut self) {
        let window =
            u64::from(self.cwnd().max(self.board.packets_out)) * u64::from(self.tso.mss_cache());
        let wanted = window * u64::from(self.pacing_percent());

        // In the kernel's order, with its rounding: srtt is in 1/8 of the RTT's unit.
        let (scaled, small) = match self.profile.rtt_clock {
            RttClock::Jiffies => (wanted * (u64::from(self.rtt.scale) << 3) / 100, SMALL_SRTT),
            RttClock::Microseconds => (wanted * ((1_000_000 / 100) << 3), 0),
        };
        let rate = match self.rtt.srtt {
            srtt if srtt > small => scaled / u64::from(srtt),
            _ => scaled,
        };
        self.pacing.rate = rate.min(self.pacing.most);
    }

    /// Pacing rate in percent of cwnd per RTT.
    fn pacing_percent(&self) -> u32 {
        match self.profile.pacing_ratio {
            PacingRatio::Twice => SLOW_START_RATIO,
            PacingRatio::ByPhase if self.cwnd() < self.ssthresh() / 2 => {
                self.sysctl.tcp_pacing_ss_ratio.unwrap_or(SLOW_START_RATIO)
            }
            PacingRatio::ByPhase => self.sysctl.tcp_pacing_ca_ratio.unwrap_or(AVOIDANCE_RATIO),
        }
    }

    /// Most bytes of an skb, where its size is fixed at writing.
    pub(in crate::tcp) fn paced_size(&self) -> u32 {
        let paced = self.pacing.rate / WRITTEN_PER_SECOND;
        let least = MIN_TSO_SEGS * self.mss;
        paced.clamp(least.into(), u32::MAX.into()) as u32
    }

    /// `tcp_tso_segs`: most segments of an skb that is sent now.
    #[inline]
    pub(in crate::tcp) fn tso_segs(&mut self) -> u32 {
        if matches!(self.profile.skb_size, SkbSize::AsWritten | SkbSize::PacedWhenWritten) {
            return u32::MAX;
        }
        if !self.tso.is_on() {
            return 1;
        }
        let most = u64::from(super::write::SK_GSO_MAX_SIZE);
        let mut bytes = self.pacing.rate >> PACING_SHIFT;
        let near = self.pacing.min_rtt.us() >> TSO_RTT_LOG;

        // tcp_tso_autosize: near peers get larger skbs.
        if self.profile.skb_size == SkbSize::PacedOrNear && near < ALLOWANCE_BITS {
            bytes = bytes.saturating_add(most >> near);
        }
        let least = match self.is_controlled() {
            true => self.controls_min_tso_segs(),
            false => MIN_TSO_SEGS,
        };
        (bytes.min(most) as u32 / self.mss_now()).max(least)
    }

    fn controls_min_tso_segs(&mut self) -> u32 {
        self.sync_rates();
        self.cc.min_tso_segs().unwrap_or(MIN_TSO_SEGS)
    }

    /// `tcp_small_queue_check`: whether an skb of `len` bytes must wait, because the host holds more of the flow than a
    /// millisecond at its rate. `again` allows twice as much. A paced flow has no further bound, unless the profile
    /// sets one.
    pub(in crate::tcp) fn too_much_in_host(
        &mut self,
        len: u32,
        again: bool,
        out: &mut impl Output,
    ) -> bool {
        if !self.profile.small_queues {
            return false;
        }
        if self.profile.small_queue_limit == SmallQueueLimit::AtLeastBytes {
            return !again && self.too_much_for_bytes(out);
        }
        let truesize = u64::from(len) + self.profile.skb_overhead;
        let bounds = self.departures.by == PacedBy::Nobody || self.profile.limits_paced_output;
        let most = if bounds { self.limit_output_bytes() } else { u64::MAX };
        let limit = (2 * truesize).max(self.pacing.rate >> PACING_SHIFT).min(most);
        let limit = limit.saturating_mul(1 + u64::from(again));
        // sk_wmem_alloc counts one for the socket itself (sk_alloc).
        let held = out.in_host() >= limit && self.queue.skbs_in_flight() > 1;
        self.pacing.throttled |= held;
        self.departures.waits |= held && self.departures.next > out.now();
        held
    }

    /// Whether the host holds more than 3.12 allows (`tcp_write_xmit`), which checks only new data.
    fn too_much_for_bytes(&mut self, out: &mut impl Output) -> bool {
        let limit = (self.pacing.rate >> PACING_SHIFT).max(self.limit_output_bytes());
        // sk_wmem_alloc counts one for the socket itself.
        let held = out.in_host() >= limit;
        self.pacing.throttled |= held;
        held
    }

    fn limit_output_bytes(&self) -> u64 {
        self.sysctl.tcp_limit_output_bytes.map_or(self.profile.limit_output_bytes, u64::from)
    }

    /// Sends after an skb of the flow has left the host while data was held back (`tcp_tsq_handler`).
    pub fn on_room_in_host(&mut self, out: &mut impl Output) {
        if core::mem::take(&mut self.pacing.throttled) {
            self.write_from_queue(out);
        }
    }

    /// Sends after the application has released the socket. It owned the socket when an skb of the flow left the host,
    /// or the timer of its pace was due (`tcp_release_cb`).
    pub fn on_released(&mut self, out: &mut impl Output) {
        self.pacing.throttled = false;
        self.write_from_queue(out);
    }

    /// `tcp_tsq_write`.
    pub(in crate::tcp) fn write_from_queue(&mut self, out: &mut impl Output) {
        self.sync_clock(out.now());
        if self.board.lost_out > self.board.retrans_out && self.cwnd() > self.in_flight() {
            self.xmit_retransmit_queue(out);
        }
        self.write_xmit(false, out);
    }

    /// Whether data waits for room in the host.
    pub fn waits_for_host(&self) -> bool {
        self.pacing.throttled
    }
}
