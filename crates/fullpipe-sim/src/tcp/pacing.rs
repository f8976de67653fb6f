//! How fast the kernel takes a flow to be, and what follows: how large an skb is when it goes, and how much
//! of a flow may wait in the host (TCP small queues).
//!
//! Source: Linux 6.1 and 6.12 `tcp_update_pacing_rate`, `tcp_tso_autosize`, `tcp_small_queue_check`,
//! `tcp_wfree`.

use super::Output;
use super::min_rtt::MinRtt;
use super::profile::SkbSize;
use super::sender::Sender;

/// `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`: of cwnd per RTT, percent.
const SLOW_START_RATIO: u64 = 200;
const AVOIDANCE_RATIO: u64 = 120;
/// `sk_pacing_shift`: an skb, and what waits in the host, is what the rate sends in 2^-10 s.
const PACING_SHIFT: u32 = 10;
/// `tcp_tso_rtt_log`: for each 2^9 us of RTT the allowance of near peers halves.
const TSO_RTT_LOG: u32 = 9;
/// Bits of that allowance (`sk_gso_max_size`).
const ALLOWANCE_BITS: u32 = 32;
/// `tcp_min_tso_segs`.
const MIN_TSO_SEGS: u32 = 2;
/// `tcp_limit_output_bytes`: most that waits in the host, bytes of memory.
const LIMIT_OUTPUT_BYTES: u64 = 1 << 20;

/// What the kernel knows about a flow's speed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    /// `sk_pacing_rate`, bytes per second.
    pub(super) rate: u64,
    pub(super) min_rtt: MinRtt,
    /// Whether something was held back because too much waits in the host (TSQ_THROTTLED).
    pub(super) throttled: bool,
}

impl Pacing {
    /// Before the first ACK the rate is unlimited.
    pub(super) fn new(hz: u32) -> Pacing {
        Pacing { rate: u64::MAX, min_rtt: MinRtt::new(hz), throttled: false }
    }
}

impl Sender {
    /// After each ACK: twice cwnd per RTT in the first half of slow start, then 1.2 times.
    pub(super) fn update_pacing_rate(&mut self) {
        let (cwnd, ssthresh) = (self.cwnd(), self.ssthresh());
        let ratio = if cwnd < ssthresh / 2 { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        let window = u64::from(cwnd.max(self.board.packets_out)) * u64::from(self.mss);
        // In the kernel's order, with its rounding: srtt is in 1/8 us.
        let scaled = window * ratio * ((1_000_000 / 100) << 3);
        self.pacing.rate = match self.rtt.srtt {
            0 => scaled,
            srtt => scaled / u64::from(srtt),
        };
    }

    /// `tcp_tso_segs`: most segments of an skb that goes now.
    pub(super) fn tso_segs(&self) -> u32 {
        if self.profile.skb_size == SkbSize::AsWritten {
            return u32::MAX;
        }
        if !self.tso {
            return 1;
        }
        let most = u64::from(super::write::GSO_MAX_SIZE);
        let mut bytes = self.pacing.rate >> PACING_SHIFT;
        let near = self.pacing.min_rtt.us() >> TSO_RTT_LOG;
        if self.profile.skb_size == SkbSize::PacedOrNear && near < ALLOWANCE_BITS {
            bytes = bytes.saturating_add(most >> near);
        }
        ((bytes.min(most) / u64::from(self.mss)) as u32).max(MIN_TSO_SEGS)
    }

    /// `tcp_small_queue_check`: whether an skb of `len` bytes has to stay behind, because more of this flow
    /// waits in the host than it sends in a millisecond; twice as much may, if `again`.
    pub(super) fn too_much_in_host(&mut self, len: u32, again: bool, out: &mut dyn Output) -> bool {
        if !self.profile.small_queues {
            return false;
        }
        let truesize = u64::from(len) + self.profile.skb_overhead;
        let limit = (2 * truesize).max(self.pacing.rate >> PACING_SHIFT).min(LIMIT_OUTPUT_BYTES);
        let held = out.in_host() > limit << u32::from(again) && self.queue.skbs_in_flight() > 1;
        self.pacing.throttled |= held;
        held
    }

    /// An skb of the flow has left the host while something was held back: sends what may go now
    /// (`tcp_tsq_handler`).
    pub fn on_room_in_host(&mut self, out: &mut dyn Output) {
        if !core::mem::take(&mut self.pacing.throttled) {
            return;
        }
        self.sync_clock(out.now());
        if self.board.lost_out > self.board.retrans_out && self.cwnd() > self.in_flight() {
            self.xmit_retransmit_queue(out);
        }
        self.write_xmit(out);
    }

    /// Whether something waits for room in the host.
    pub fn waits_for_host(&self) -> bool {
        self.pacing.throttled
    }
}
