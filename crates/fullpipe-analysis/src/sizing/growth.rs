//! Growth of a window: slow start, and recovery after one loss.

use super::Question;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rounds and time of slow start until the window is full, without loss and without leaving early
/// (HyStart may, from 2.6.29 on).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowStart {
    /// Initial congestion window, packets.
    pub initial_cwnd_packets: u32,
    /// Round trips after the handshake when every packet is acknowledged.
    pub rounds: u32,
    /// Time of `rounds`, s.
    pub seconds: f64,
    /// Round trips when every second packet is acknowledged.
    pub rounds_delayed_ack: u32,
    /// Time of `rounds_delayed_ack`, s.
    pub seconds_delayed_ack: f64,
}

/// Time from one loss until the window is full again, at a constant RTT (no queue).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recovery {
    /// Reno, every packet acknowledged: half the window, one packet per round trip; s.
    pub reno_seconds: f64,
    /// Reno, every second packet acknowledged; s.
    pub reno_seconds_delayed_ack: f64,
    /// CUBIC: K = cbrt(W (1 - 0.7) / 0.4) (RFC 9438, section 4.2), or sooner in the Reno-friendly region (section 4.3): 0.3 W
    /// at 3 (1 - 0.7) / (1 + 0.7) packets per round trip; s.
    pub cubic_seconds: f64,
}

/// RFC 9438, section 5: C, in packets per second cubed.
const CUBIC_C: f64 = 0.4;
/// RFC 9438, section 4.6: part of the window that a loss leaves.
const CUBIC_BETA: f64 = 0.7;

/// Slow start until `window` packets are in flight.
pub fn slow_start(q: &Question, window: u64) -> SlowStart {
    let initial = q.kernel.initial_cwnd(q.mss());
    let rounds = rounds(initial, window, 1);
    let per_ack = if q.kernel.slow_start_counts_packets() { 1 } else { 2 };
    let delayed = self::rounds(initial, window, per_ack);
    SlowStart {
        initial_cwnd_packets: initial,
        rounds,
        seconds: f64::from(rounds) * q.rtt.as_secs_f64(),
        rounds_delayed_ack: delayed,
        seconds_delayed_ack: f64::from(delayed) * q.rtt.as_secs_f64(),
    }
}

/// Rounds until cwnd reaches `window`, growing by one for each `packets_per_step` packets.
fn rounds(initial: u32, window: u64, packets_per_step: u64) -> u32 {
    let (mut cwnd, mut rounds) = (u64::from(initial), 0);
    while cwnd < window {
        cwnd += cwnd.div_ceil(packets_per_step);
        rounds += 1;
    }
    rounds
}

/// The way back to `window` packets after one loss.
pub fn recovery(q: &Question, window: u64) -> Recovery {
    let rtt = q.rtt.as_secs_f64();
    let steps = (window - window / 2) as f64;
    let per_step = if q.kernel.reno_counts_packets() { 1.0 } else { 2.0 };
    Recovery {
        reno_seconds: steps * rtt,
        reno_seconds_delayed_ack: steps * per_step * rtt,
        cubic_seconds: cubic_seconds(window as f64, rtt),
    }
}

/// CUBIC's way back to `window` packets: by its own curve, or by the Reno-friendly estimate where that is faster.
fn cubic_seconds(window: f64, rtt: f64) -> f64 {
    let lost = window * (1.0 - CUBIC_BETA);
    let curve = (lost / CUBIC_C).cbrt();
    let per_round_trip = 3.0 * (1.0 - CUBIC_BETA) / (1.0 + CUBIC_BETA);
    curve.min(lost / per_round_trip * rtt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::units::{Framing, Rate, Time};
    use fullpipe_scenario::Version;

    fn ask(rtt_ms: u64, mtu: u32, kernel: Version) -> Question {
        Question {
            rate: Rate::gbit(10),
            rtt: Time::ms(rtt_ms),
            mtu,
            framing: Framing::Ip,
            kernel,
            timestamps: false,
        }
    }

    #[test]
    fn slow_start_doubles_or_grows_by_half() {
        // 2 -> 16384 in 13 doublings; 2 x 1.5^n (rounded up each round: 3 5 8 12 18 27 41 62 93 140 210 315 473 710
        // 1065 1598 2397 3596 5394 8091 12137) in 21
        let old = slow_start(&ask(80, 9000, Version::new(2, 6, 20)), 11_112);
        assert_eq!((old.initial_cwnd_packets, old.rounds, old.rounds_delayed_ack), (2, 13, 21));
        assert!((old.seconds - 1.04).abs() < 1e-9 && (old.seconds_delayed_ack - 1.68).abs() < 1e-9);
        // 10 -> 20480 in 11 doublings, whatever the receiver delays
        let new = slow_start(&ask(80, 9000, Version::new(6, 12, 0)), 11_112);
        assert_eq!((new.initial_cwnd_packets, new.rounds, new.rounds_delayed_ack), (10, 11, 11));
    }

    #[test]
    fn a_window_within_the_initial_one_needs_no_round() {
        let q = ask(1, 9000, Version::new(6, 12, 0));
        assert_eq!(slow_start(&q, 10).rounds, 0);
        assert_eq!(slow_start(&q, 11).rounds, 1);
    }

    #[test]
    fn reno_takes_half_the_window_in_round_trips() {
        // 8334 packets at 50 ms: 4167 round trips are 208 s, with delayed ACKs before 4.0 417 s
        let old = recovery(&ask(50, 1500, Version::new(2, 6, 24)), 8334);
        assert!((old.reno_seconds - 208.35).abs() < 1e-6);
        assert!((old.reno_seconds_delayed_ack - 416.7).abs() < 1e-6);
        let new = recovery(&ask(50, 1500, Version::new(6, 12, 0)), 8334);
        assert_eq!(new.reno_seconds, new.reno_seconds_delayed_ack);
    }

    /// 1 Gb/s x 10 ms are 812.7 packets: by the curve 8.5 s; 0.3 x 812 / 0.5294 = 460.1 round trips are 4.6 s.
    #[test]
    fn cubic_returns_sooner_where_reno_would() {
        let q = ask(10, 1500, Version::new(6, 12, 0));
        let friendly = recovery(&q, 812).cubic_seconds;
        assert!((friendly - 4.601).abs() < 1e-3, "{friendly}");
        assert!(((812.0_f64 * 0.75).cbrt() - 8.477).abs() < 1e-3);
    }

    #[test]
    fn cubic_returns_after_k() {
        // 83333 x 0.3 / 0.4 = 62499.75; its cube root is 39.685
        let k = recovery(&ask(100, 1500, Version::new(6, 12, 0)), 83_333).cubic_seconds;
        assert!((k - 39.685).abs() < 1e-3, "{k}");
    }
}
