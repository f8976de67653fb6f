//! Round-trip time and retransmission timeout, in jiffies.
//!
//! Source: Linux 2.6.20 `tcp_rtt_estimator`, `tcp_set_rto`, `tcp_bound_rto`; RFC 6298 with Linux's
//! differences: the deviation's floor is the least RTO, and it falls at most once per round trip.

/// The estimator. Fields keep Linux's names and scales.
#[derive(Clone, Debug)]
pub struct Rtt {
    hz: u32,
    rto_min: u32,
    /// Smoothed RTT, jiffies x 8; 0 before the first sample.
    pub srtt: u32,
    mdev: u32,
    mdev_max: u32,
    rttvar: u32,
    rtt_seq: u64,
    /// Retransmission timeout, jiffies, without backoff.
    pub rto: u32,
    /// Times the timeout was doubled.
    pub backoff: u32,
}

/// Longest timeout, seconds (Linux 2.6.20 `TCP_RTO_MAX`).
const RTO_MAX_S: u32 = 120;
/// Timeout before the first sample, seconds (Linux 2.6.20 `TCP_TIMEOUT_INIT`).
pub const TIMEOUT_INIT_S: u32 = 3;

impl Rtt {
    /// No sample yet.
    pub fn new(hz: u32, rto_min_ms: u64) -> Rtt {
        Rtt {
            hz,
            rto_min: (u64::from(hz) * rto_min_ms / 1000).max(1) as u32,
            srtt: 0,
            mdev: TIMEOUT_INIT_S * hz,
            mdev_max: 0,
            rttvar: 0,
            rtt_seq: 0,
            rto: TIMEOUT_INIT_S * hz,
            backoff: 0,
        }
    }

    /// A sample of `jiffies` on an ACK that leaves `snd_una`; ends the backoff.
    pub fn sample(&mut self, jiffies: u32, snd_una: u64, snd_nxt: u64) {
        let measured = jiffies.max(1) as i32;
        if self.srtt == 0 {
            self.srtt = (measured as u32) << 3;
            self.mdev = (measured as u32) << 1;
            self.rttvar = self.mdev.max(self.rto_min);
            self.mdev_max = self.rttvar;
            self.rtt_seq = snd_nxt;
        } else {
            self.update(measured, snd_una, snd_nxt);
        }
        self.backoff = 0;
        self.rto = ((self.srtt >> 3) + self.rttvar).min(RTO_MAX_S * self.hz);
    }

    fn update(&mut self, measured: i32, snd_una: u64, snd_nxt: u64) {
        let error = measured - (self.srtt >> 3) as i32;
        self.srtt = (self.srtt as i32 + error).max(1) as u32;
        let mut change = error.abs() - (self.mdev >> 2) as i32;
        if error < 0 && change > 0 {
            // A sudden fall of the RTT must not raise the deviation much.
            change >>= 3;
        }
        self.mdev = (self.mdev as i32 + change).max(0) as u32;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if snd_una > self.rtt_seq {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.rtt_seq = snd_nxt;
            self.mdev_max = self.rto_min;
        }
    }

    /// The timeout with its backoff, jiffies.
    pub fn timeout(&self) -> u32 {
        let limit = RTO_MAX_S * self.hz;
        self.rto.checked_shl(self.backoff).map_or(limit, |t| t.min(limit)).max(self.rto)
    }

    /// Smoothed RTT in microseconds; 0 before the first sample.
    pub fn srtt_us(&self) -> u32 {
        (u64::from(self.srtt) * 1_000_000 / 8 / u64::from(self.hz)) as u32
    }
}
