//! Receive buffer autotuning: the buffer follows what the reader takes per round trip.
//!
//! Source: Linux 2.6.20 `tcp_fixup_rcvbuf`, `tcp_rcv_rtt_measure`, `tcp_rcv_rtt_update`,
//! `tcp_rcv_space_adjust`. Off for a buffer set by the application (SOCK_RCVBUF_LOCK). The RTT is
//! measured as the time to receive one window, as that kernel does without timestamps.

use super::skb::SKB_OVERHEAD;
use super::window::win_from_space;
use crate::config::Sysctl;

/// The receiver's estimate of the round trip and of what is read in it.
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

/// What autotuning wants changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grown {
    /// New sk_rcvbuf, bytes.
    pub rcvbuf: u64,
    /// New window_clamp, bytes.
    pub window_clamp: u64,
}

/// Memory in which one segment of `mss` bytes leaves room for a window of `mss` bytes.
fn memory_per_segment(mss: u64, adv_win_scale: i32) -> u64 {
    let mut memory = mss + SKB_OVERHEAD;
    if adv_win_scale < 0 {
        // In one step what would be many: the window is the memory shifted down.
        let needed = mss << adv_win_scale.unsigned_abs();
        memory += needed.saturating_sub(memory).next_multiple_of(128);
    }
    while win_from_space(memory, adv_win_scale) < mss {
        memory += 128;
    }
    memory
}

/// The least receive buffer a connection begins with (tcp_fixup_rcvbuf): four segments.
pub fn initial_rcvbuf(sysctl: &Sysctl, mss: u64) -> u64 {
    let four = 4 * memory_per_segment(mss, sysctl.tcp_adv_win_scale);
    sysctl.tcp_rmem[1].max(four.min(sysctl.tcp_rmem[2]))
}

impl RcvSpace {
    /// For a connection whose first window is `rcv_wnd`.
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

    /// A data segment moved `rcv_nxt` while `rcv_wnd` was advertised; times in jiffies.
    pub fn on_data(&mut self, now: u32, rcv_nxt: u64, rcv_wnd: u64) {
        if let Some(since) = self.rtt_time {
            if rcv_nxt < self.rtt_seq {
                return;
            }
            let sample = (now - since).max(1) << 3;
            self.rtt = if self.rtt == 0 { sample } else { self.rtt.min(sample) };
        }
        self.rtt_seq = rcv_nxt + rcv_wnd;
        self.rtt_time = Some(now);
    }

    /// The reader has copied up to `copied_seq`; the buffer to grow to, if more than `rcvbuf`.
    pub fn on_read(&mut self, now: u32, copied_seq: u64, rcvbuf: u64) -> Option<Grown> {
        let mut grown = None;
        if let Some(since) = self.time {
            if self.rtt == 0 || now - since < self.rtt >> 3 {
                return None;
            }
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
        let wanted = segments * memory_per_segment(self.mss, self.adv_win_scale);
        Grown { rcvbuf: wanted.min(self.max), window_clamp }
    }
}
