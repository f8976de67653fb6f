//! Round-trip time and retransmission timeout.
//!
//! Source: Linux 2.6.20 `tcp_rtt_estimator`, `tcp_set_rto`, `tcp_bound_rto`, in jiffies; since 3.15 in microseconds,
//! with unchanged arithmetic. RFC 6298 with Linux's differences: the deviation's floor is the least RTO, and it falls
//! at most once per round trip.
//!
//! Limits:
//! - srtt and timeouts count in jiffies where the kernel's do: at HZ 250 a measured time is up to 4 ms too long.
//! - 2.6.20 forgets the RTT of a handshake without timestamps and without cached metrics. Here it is kept.

use crate::jiffy_clock::JiffyClock;
use crate::tcp::profile::{Profile, RttClock};

/// The estimator. Fields keep Linux's names and scales; its unit is a jiffy or a microsecond.
#[derive(Clone, Debug)]
pub struct Rtt {
    hz: u32,
    /// Units per second.
    pub(super) scale: u32,
    /// Least sample, units.
    least: u32,
    rto_min: u32,
    /// Smoothed RTT, units x 8; 0 before the first sample.
    pub srtt: u32,
    pub(super) mdev: u32,
    mdev_max: u32,
    rttvar: u32,
    rtt_seq: u64,
    /// Retransmission timeout, jiffies; doubled for each timeout since the last sample.
    pub rto: u32,
    /// Number of timeouts or window probes since then (icsk_backoff).
    pub backoff: u32,
}

/// Longest timeout, seconds (Linux 2.6.20 `TCP_RTO_MAX`).
const RTO_MAX_S: u32 = 120;
/// First timeout without a known RTT, seconds.
const FALLBACK_S: u32 = 3;
/// Largest `backoff` by probing (sysctl tcp_retries2).
const RETRIES: u32 = 15;

impl RttClock {
    /// Converts ticks of the timestamps' clock to units of this clock; less than one tick is one where ticks are
    /// longer.
    pub(super) fn of_stamps(self, age: u32, stamps: &JiffyClock) -> u32 {
        match self {
            RttClock::Jiffies => age,
            RttClock::Microseconds => age.max(1).saturating_mul(stamps.begin(1).as_us() as u32),
        }
    }
}

impl Rtt {
    /// An estimator without samples.
    pub fn new(hz: u32, profile: &Profile) -> Rtt {
        let scale = match profile.rtt_clock {
            RttClock::Jiffies => hz,
            RttClock::Microseconds => 1_000_000,
        };
        let rto = profile.timeout_init_s * hz;
        Rtt {
            hz,
            scale,
            least: u32::from(profile.whole_jiffy_rtt || scale != hz),
            rto_min: (u64::from(scale) * profile.rto_min_ms / 1000).max(1) as u32,
            srtt: 0,
            mdev: profile.timeout_init_s * scale,
            mdev_max: 0,
            rttvar: 0,
            rtt_seq: 0,
            rto,
            backoff: 0,
        }
    }

    /// Takes a sample in units, of an ACK that leaves `snd_una`; ends the backoff.
    pub fn sample(&mut self, units: u32, snd_una: u64, snd_nxt: u64) {
        let measured = units.max(self.least) as i32;

        // tcp_rtt_estimator: the first sample sets srtt, and the deviation to half of it.
        if self.srtt == 0 {
            self.srtt = ((measured as u32) << 3).max(1);
            self.mdev = (measured as u32) << 1;
            self.rttvar = self.mdev.max(self.rto_min);
            self.mdev_max = self.rttvar;
            self.rtt_seq = snd_nxt;
        } else {
            self.update(measured, snd_una, snd_nxt);
        }
        self.backoff = 0;
        self.set_rto();
    }

    /// Takes cached metrics of an earlier connection to the same host, where they are larger (Linux 2.6.20
    /// `tcp_init_metrics`).
    pub(super) fn take_cached(&mut self, srtt: u32, mdev: u32, snd_nxt: u64) {
        if srtt > self.srtt {
            self.srtt = srtt;
            self.rtt_seq = snd_nxt;
        }
        if mdev > self.mdev {
            self.mdev = mdev;
            self.rttvar = mdev.max(self.rto_min);
            self.mdev_max = self.rttvar;
        }
        self.set_rto();
    }

    /// Sets the first timeout by a longer cached RTT, units x 8, in whole jiffies; 3 s without any RTT (3.12
    /// `tcp_init_metrics`, `TCP_TIMEOUT_FALLBACK`).
    pub(super) fn take_cached_timeout(&mut self, srtt: u32) {
        let jiffies = |units: u32| u64::from(units) * u64::from(self.hz) / u64::from(self.scale);
        if srtt > self.srtt {
            let rtt = jiffies(srtt) / 8;
            self.rto = (rtt + (2 * rtt).max(jiffies(self.rto_min))) as u32;
        } else if self.srtt == 0 {
            self.rttvar = FALLBACK_S * self.scale;
            (self.mdev, self.mdev_max) = (self.rttvar, self.rttvar);
            self.rto = FALLBACK_S * self.hz;
        }
    }

    /// Units as jiffies, rounded up, at most the longest timeout.
    fn jiffies(&self, units: u64) -> u32 {
        let jiffies = (units * u64::from(self.hz)).div_ceil(u64::from(self.scale));
        jiffies.min(self.rto_max().into()) as u32
    }

    fn set_rto(&mut self) {
        self.rto = self.jiffies(u64::from(self.srtt >> 3) + u64::from(self.rttvar));
    }

    fn update(&mut self, measured: i32, snd_una: u64, snd_nxt: u64) {
        // srtt is kept times 8, mdev times 4.
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

        // Once in a round trip the deviation may fall, by a quarter of the difference.
        if snd_una > self.rtt_seq {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.rtt_seq = snd_nxt;
            self.mdev_max = self.rto_min;
        }
    }

    fn rto_max(&self) -> u32 {
        RTO_MAX_S * self.hz
    }

    /// Doubles the timeout after it has passed (tcp_retransmit_timer).
    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
        self.rto = self.rto.saturating_mul(2).min(self.rto_max());
    }

    /// Counts a window probe (tcp_send_probe0).
    pub(super) fn back_off_probing(&mut self) {
        if self.backoff < RETRIES {
            self.backoff += 1;
        }
    }

    /// Pause before the next window probe, jiffies: timeouts double it twice, once in `rto` and once more here (6.12
    /// `tcp_probe0_when`).
    pub(super) fn probe_pause(&self) -> u32 {
        let pause = u64::from(self.rto) << self.backoff.min(RETRIES);
        pause.min(self.rto_max().into()) as u32
    }

    /// Smoothed RTT in jiffies x 8; 0 before the first sample.
    pub fn srtt_ticks(&self) -> u32 {
        (u64::from(self.srtt) * u64::from(self.hz) / u64::from(self.scale)) as u32
    }

    /// Smoothed RTT in whole jiffies, rounded up where it is measured in microseconds (`usecs_to_jiffies`).
    pub(super) fn srtt_jiffies(&self) -> u32 {
        (u64::from(self.srtt >> 3) * u64::from(self.hz)).div_ceil(u64::from(self.scale)) as u32
    }

    /// Smoothed RTT in microseconds; 0 before the first sample.
    pub fn srtt_us(&self) -> u32 {
        (self.srtt_us8() >> 3) as u32
    }

    /// Mean deviation in microseconds (tcpi_rttvar).
    pub(super) fn mdev_us(&self) -> u32 {
        ((u64::from(self.mdev) * 1_000_000 / u64::from(self.scale)) >> 2) as u32
    }

    /// Smoothed RTT in microseconds x 8, as Linux keeps it.
    pub(super) fn srtt_us8(&self) -> u64 {
        u64::from(self.srtt) * 1_000_000 / u64::from(self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::profile::find;

    /// 20 ms, and 200 ms more. Each timeout doubles it; for a probe each timeout and each earlier probe doubles it once
    /// more.
    #[test]
    fn probes_wait_for_what_timeouts_have_doubled() {
        let mut rtt = Rtt::new(1000, find("6.12").expect("it is known"));
        rtt.sample(20_000, 0, 0);
        assert_eq!((rtt.rto, rtt.probe_pause()), (220, 220));
        rtt.back_off();
        assert_eq!((rtt.rto, rtt.probe_pause()), (440, 880));
        rtt.back_off_probing();
        assert_eq!((rtt.rto, rtt.probe_pause()), (440, 1760));
        (0..40).for_each(|_| rtt.back_off_probing());
        assert_eq!((rtt.backoff, rtt.probe_pause()), (RETRIES, 120_000));
        rtt.sample(20_000, 0, 0);
        assert_eq!((rtt.rto, rtt.probe_pause()), (220, 220));
    }
}
