//! Receive buffer autotuning: the buffer follows the bytes that the reader takes per round trip.
//!
//! Source: Linux 2.6.20 and 3.14 `tcp_fixup_rcvbuf`, 2.6.20 `tcp_rcv_rtt_measure`, `tcp_rcv_rtt_update`,
//! `tcp_rcv_space_adjust`. Off for a buffer set by the application (SOCK_RCVBUF_LOCK). The RTT is the time to receive
//! one window, as in that kernel without timestamps.
//!
//! Limits:
//! - Up to 3.14 the RTT is measured as without timestamps even if they are on.
//! - The growth is that of 2.6.20 up to 3.14. Linux 3.14 grows the buffer by the bytes copied in an RTT, in other steps
//!   (3.13 `tcp_rcv_space_adjust`).
//! - From 3.13 to 4.19 the kernel sizes the first buffer by the advertised MSS. That is 12 bytes (the timestamps)
//!   larger than the MSS here.
//! - That first buffer is always four times twice the first window. Linux has the factor four with
//!   `tcp_moderate_rcvbuf` only, which the simulator lacks.

use super::window::win_from_space;
use crate::config::Sysctl;
use crate::tcp::profile::{FirstRcvbuf, Profile};

/// Memory of a packet besides its data in 2.6.20, bytes (MAX_TCP_HEADER and struct sk_buff).
const SKB_OVERHEAD: u64 = 512;

/// The receiver's estimate of the round trip and of the bytes read in it.
#[derive(Clone, Debug)]
pub struct RcvSpace {
    adv_win_scale: i32,
    max: u64,
    mss: u64,
    /// Receiver's RTT, jiffies x 8; 0 before the first measurement.
    rtt: u32,
    rtt_seq: u64,
    rtt_time: Option<u32>,
    space: u64,
    seq: u64,
    time: Option<u32>,
}

/// Changes that autotuning makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grown {
    /// New sk_rcvbuf, bytes.
    pub rcvbuf: u64,
    /// New window_clamp, bytes.
    pub window_clamp: u64,
}

/// Memory in which one segment of `mss` bytes leaves room for a window of `mss` bytes; `overhead`: a packet's memory
/// without its data.
pub(in crate::tcp) fn memory_per_segment(mss: u64, overhead: u64, adv_win_scale: i32) -> u64 {
    let mut memory = mss + overhead;
    if adv_win_scale < 0 {
        // One step replaces many: the window is the memory shifted down.
        let needed = mss << adv_win_scale.unsigned_abs();
        memory += needed.saturating_sub(memory).next_multiple_of(128);
    }
    while win_from_space(memory, adv_win_scale) < mss {
        memory += 128;
    }
    memory
}

/// First receive buffer of a connection (tcp_fixup_rcvbuf).
pub(in crate::tcp) fn initial_rcvbuf(sysctl: &Sysctl, profile: &Profile, mss: u64) -> u64 {
    let least = match profile.first_rcvbuf {
        FirstRcvbuf::FourSegments => {
            4 * memory_per_segment(mss, SKB_OVERHEAD, sysctl.tcp_adv_win_scale)
        }
        FirstRcvbuf::EightWindows => {
            let first = profile.initial_window.segments(mss);
            first.saturating_mul(8 * (mss + profile.skb_overhead))
        }
        FirstRcvbuf::Default => 0,
    };
    sysctl.tcp_rmem[1].max(least.min(sysctl.tcp_rmem[2]))
}

impl RcvSpace {
    /// Estimate of a connection with first window `rcv_wnd`.
    pub fn new(sysctl: &Sysctl, mss: u64, rcv_wnd: u64) -> RcvSpace {
        RcvSpace {
            adv_win_scale: sysctl.tcp_adv_win_scale,
            max: sysctl.tcp_rmem[2],
            mss,
            rtt: 0,
            rtt_seq: 0,
            rtt_time: None,
            space: rcv_wnd,
            seq: 0,
            time: None,
        }
    }

    /// RTT in microseconds, for jiffies of `jiffy_us`; 0 before the first measurement.
    pub(in crate::tcp) fn rtt_us(&self, jiffy_us: u64) -> u32 {
        ((u64::from(self.rtt) * jiffy_us) >> 3).min(u32::MAX.into()) as u32
    }

    /// Bytes for which the buffer was tuned (rcvq_space).
    pub(in crate::tcp) fn space(&self) -> u64 {
        self.space
    }

    /// Notes a data segment that moved `rcv_nxt` while `rcv_wnd` was advertised; times in jiffies.
    pub fn on_data(&mut self, now: u32, rcv_nxt: u64, rcv_wnd: u64) {
        if let Some(since) = self.rtt_time {
            if rcv_nxt < self.rtt_seq {
                return;
            }
            let sample = (now - since).max(1);
            // The kernel's code means to keep the least sample. It compares the new one, unscaled, with eight times the
            // old. So the estimate follows any sample that is less than 8 times as long.
            if self.rtt == 0 || sample < self.rtt {
                self.rtt = sample << 3;
            }
        }
        self.rtt_seq = rcv_nxt + rcv_wnd;
        self.rtt_time = Some(now);
    }

    /// Notes that the reader has copied up to `copied_seq`; returns the buffer to grow to, if more than `rcvbuf`.
    pub fn on_read(&mut self, now: u32, copied_seq: u64, rcvbuf: u64) -> Option<Grown> {
        let mut grown = None;
        if let Some(since) = self.time {
            if self.rtt == 0 || now - since < self.rtt >> 3 {
                return None;
            }

            // tcp_rcv_space_adjust, once per RTT: twice the copied bytes.
            let space = 2 * (copied_seq - self.seq);
            if space > self.space {
                self.space = space;
                grown = Some(self.buffer_for(space)).filter(|grown| grown.rcvbuf > rcvbuf);
            }
        }
        self.seq = copied_seq;
        self.time = Some(now);
        grown
    }

    fn buffer_for(&self, window_clamp: u64) -> Grown {
        let segments = (window_clamp / self.mss).max(1);
        let wanted = segments * memory_per_segment(self.mss, SKB_OVERHEAD, self.adv_win_scale);
        Grown { rcvbuf: wanted.min(self.max), window_clamp }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn tuning() -> RcvSpace {
        let sysctl = Sysctl::LINUX_2_6_20;
        RcvSpace::new(&sysctl, 1000, 5840)
    }

    /// Estimates after windows of 1000 bytes, one after the other, each of which takes the given jiffies.
    fn estimate(samples: &[u32]) -> Vec<u32> {
        let mut tuning = tuning();
        let (mut now, mut seq) = (0, 0);
        tuning.on_data(now, seq, 1000);
        let mut after = |sample: &u32| {
            (now, seq) = (now + sample, seq + 1000);
            tuning.on_data(now, seq, 1000);
            tuning.rtt >> 3
        };
        samples.iter().map(&mut after).collect()
    }

    #[test]
    fn the_estimate_follows_samples_that_are_less_than_eight_times_as_long() {
        assert_eq!(estimate(&[21, 100, 799, 6392, 5, 40, 39]), [21, 100, 799, 799, 5, 5, 39]);
    }

    /// A segment of 576 bytes on the wire with timestamps, in 6.1: half of the memory is window, and 1292 bytes are
    /// enough.
    #[test]
    fn a_small_segment_takes_more_than_twice_its_size() {
        assert_eq!(memory_per_segment(524, 768, 1), 1292);
    }

    #[test]
    fn twice_what_was_read_in_a_round_trip_must_fit() {
        let mut tuning = tuning();
        tuning.rtt = 10 << 3;
        assert_eq!(tuning.on_read(0, 0, 87_380), None);
        assert_eq!(tuning.on_read(9, 60_000, 87_380), None, "not a round trip yet");
        let grown = tuning.on_read(10, 100_000, 87_380).expect("more room");
        assert_eq!(grown.window_clamp, 200_000);
        // 200 segments of 1000 bytes, each with its memory.
        assert_eq!(grown.rcvbuf, 200 * memory_per_segment(1000, SKB_OVERHEAD, 2));
        assert_eq!(tuning.on_read(20, 190_000, grown.rcvbuf), None, "less than before");
    }
}
