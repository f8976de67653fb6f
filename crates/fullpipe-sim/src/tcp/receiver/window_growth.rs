//! Receive autotuning of newer kernels: the buffer follows the bytes copied in a round trip, and their growth.
//!
//! Source: Linux 6.1 and 6.12 `tcp_rcv_rtt_measure`, `tcp_rcv_rtt_measure_ts`, `tcp_rcv_rtt_update`,
//! `tcp_rcv_space_adjust`; 6.16 and 6.18 `tcp_rcvbuf_grow`. Off for a buffer set by the application (SOCK_RCVBUF_LOCK).

use super::window::ReceiveWindow;
use crate::tcp::profile::{Profile, RcvTuning};

/// Segments beyond twice the copied bytes, for small variations.
const CUSHION: u64 = 16;
/// Segments of the first round trip (TCP_INIT_CWND).
const FIRST: u64 = 10;

/// The receiver's estimate of the round trip and of the bytes read in it. Fields keep Linux's names.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Space {
    mss: u64,
    /// Whether there is room for data beyond a hole, and none beyond twice the copied bytes.
    for_holes: bool,
    /// Whether the buffer has room for the expected growth of the copied bytes.
    for_growth: bool,
    /// Whether the RTT grows only while no data is unread.
    longer_when_read: bool,
    /// Whether unread data does not count as copied.
    less_unread: bool,
    /// RTT, us x 8; 0 before the first measurement (rcv_rtt_est).
    rtt_us: u32,
    rtt_seq: u64,
    rtt_time: Option<u64>,
    last_tsecr: u32,
    /// Bytes copied in the last round trip (rcvq_space).
    pub(in crate::tcp) space: u64,
    seq: u64,
    time: u64,
}

impl Space {
    /// Estimate of a connection with this window.
    pub(in crate::tcp) fn new(window: &ReceiveWindow, mss: u32, profile: &Profile) -> Space {
        let mss = u64::from(mss);
        let first = match profile.space_within_ssthresh {
            true => window.rcv_ssthresh.min(window.rcv_wnd),
            false => window.rcv_wnd,
        };
        Space {
            mss,
            for_holes: matches!(
                profile.rcv_tuning,
                RcvTuning::CopiedAndHoles | RcvTuning::GrowthAndHoles
            ),
            for_growth: profile.rcv_tuning != RcvTuning::CopiedAndHoles,
            longer_when_read: profile.longer_rtt_when_read,
            less_unread: profile.copied_less_unread,
            rtt_us: 0,
            rtt_seq: 0,
            rtt_time: None,
            last_tsecr: 0,
            space: first.min(FIRST * mss),
            seq: 0,
            time: 0,
        }
    }

    /// Begins the measurement when the connection is established.
    pub(in crate::tcp) fn begin(&mut self, now_us: u64) {
        self.time = now_us;
    }

    /// RTT as far as it is known, us x 8; 0 if unknown.
    pub(in crate::tcp) fn rtt_us8(&self) -> u64 {
        self.rtt_us.into()
    }

    /// Notes a data segment. Without timestamps the time to receive one window is an upper bound of the RTT.
    pub(in crate::tcp) fn on_data(&mut self, now_us: u64, rcv_nxt: u64, rcv_wnd: u64) {
        if let Some(since) = self.rtt_time {
            if rcv_nxt < self.rtt_seq {
                return;
            }
            self.update((now_us - since).max(1), true);
        }
        (self.rtt_seq, self.rtt_time) = (rcv_nxt + rcv_wnd, Some(now_us));
    }

    /// Notes a segment that echoes a timestamp of age `age_us`; 0: no sample, as for a segment that is not full.
    /// `waits`: earlier data is unread.
    pub(in crate::tcp) fn on_echo(&mut self, tsecr: u32, age_us: u64, waits: bool) {
        if tsecr != self.last_tsecr {
            self.last_tsecr = tsecr;
            if age_us > 0 {
                self.update(age_us, waits && self.longer_when_read);
            }
        }
    }

    /// A sample of the RTT, us; `at_most`: the RTT may be shorter.
    fn update(&mut self, sample: u64, at_most: bool) {
        let sample = sample.min(u64::from(u32::MAX >> 4)) as u32;
        let (old, new) = (self.rtt_us, sample << 3);

        // tcp_rcv_rtt_update: a shorter sample counts at once, a longer one by an eighth.
        if old == 0 || new < old {
            self.rtt_us = new;
        } else if !at_most {
            self.rtt_us = old - (old >> 3) + sample;
        }
    }

    /// Grows the buffer after the reader has copied up to `copied_seq`. Data beyond a hole ends at `beyond` after
    /// `rcv_nxt`. Without a `window` the application has set the size.
    pub(in crate::tcp) fn on_read(
        &mut self,
        now_us: u64,
        copied_seq: u64,
        rcv_nxt: u64,
        beyond: u64,
        window: Option<&mut ReceiveWindow>,
    ) {
        if self.rtt_us == 0 || now_us - self.time < u64::from(self.rtt_us >> 3) {
            return;
        }

        // tcp_rcv_space_adjust, once per RTT: twice the copied bytes, and their growth in the next two RTTs.
        let unread = if self.less_unread { rcv_nxt - copied_seq } else { 0 };
        let copied = (copied_seq - self.seq).saturating_sub(unread);
        if copied > self.space {
            let (cushion, holes) =
                if self.for_holes { (0, beyond) } else { (CUSHION * self.mss, 0) };
            let base = 2 * copied + cushion;
            let growth = match self.for_growth {
                true => base * (copied - self.space) / self.space.max(1),
                false => 0,
            };
            if let Some(window) = window {
                window.tune(base + 2 * growth + holes);
            }
            self.space = copied;
        }
        (self.seq, self.time) = (copied_seq, now_us);
    }

    /// Notes a segment beyond a hole; the last of them ends at `beyond` after the data in order (6.16
    /// `tcp_data_queue_ofo`).
    pub(in crate::tcp) fn on_beyond_hole(&self, beyond: u64, window: &mut ReceiveWindow) {
        if self.for_holes {
            window.tune(2 * self.space + beyond);
        }
    }
}
