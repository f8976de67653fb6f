//! The loss at which an algorithm's mean window still is the path's bandwidth-delay product.
//!
//! Sources: Mathis, Semke, Mahdavi, Ott, "The macroscopic behavior of the TCP congestion avoidance
//! algorithm", CCR 27(3), 1997; RFC 3649, section 5; RFC 9438, section 5. All of them assume
//! independent single losses and no queue. RFC 3649 and RFC 9438 print rounded figures; the formulas
//! here give them within 5 %.

use super::Question;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one algorithm tolerates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tolerance {
    /// The algorithm.
    pub algorithm: String,
    /// Highest loss probability per packet (0 to 1).
    pub probability: f64,
    /// Packets between two losses.
    pub packets_between: f64,
    /// Seconds between two losses at the full rate.
    pub seconds_between: f64,
    /// The formula, and where it comes from.
    pub source: String,
}

/// Mean window in packets from the loss probability and RTT, inverted.
struct Model {
    algorithm: &'static str,
    source: &'static str,
    /// Probability from (mean window in packets, RTT in seconds).
    probability: fn(f64, f64) -> f64,
}

/// Reno as it was while it counted ACKs (before 4.0).
const DELAYED: &str = "reno, delayed ACKs";

const MODELS: [Model; 5] = [
    Model {
        algorithm: "reno",
        source: "W = 1.2/sqrt(p), RFC 3649 and RFC 9438 section 5",
        probability: |w, _| reno(w),
    },
    Model {
        algorithm: "reno, Mathis",
        source: "W = sqrt(3/2)/sqrt(p), Mathis 1997, an ACK per packet",
        probability: |w, _| 1.5 / (w * w),
    },
    Model {
        algorithm: DELAYED,
        source: "W = sqrt(3/4)/sqrt(p), Mathis 1997, an ACK per two",
        probability: |w, _| 0.75 / (w * w),
    },
    Model {
        algorithm: "highspeed",
        source: "W = 38 (1000 p)^-0.835, RFC 3649 section 5; reno's below 38",
        probability: |w, _| highspeed(w),
    },
    Model {
        algorithm: "cubic",
        source: "W = 1.054 (RTT/p)^0.75, RFC 9438 section 5; reno's if larger",
        probability: |w, rtt| reno(w).max(cubic(w, rtt)),
    },
];

fn reno(w: f64) -> f64 {
    1.44 / (w * w)
}

/// RFC 3649, section 5: a line in log-log from 38 packets at 10^-3 to 83000 at 10^-7.
fn highspeed(w: f64) -> f64 {
    let slope = (83_000_f64 / 38.0).ln() / 1e-4_f64.ln();
    if w <= 38.0 { reno(w) } else { 1e-3 * (w / 38.0).powf(1.0 / slope) }
}

/// RFC 9438, equation of section 5.1 with C = 0.4 and beta = 0.7: the factor is
/// (C (3 + beta) / (4 (1 - beta)))^(1/4) = 1.0538.
fn cubic(w: f64, rtt: f64) -> f64 {
    let factor = (0.4_f64 * 3.7 / 1.2).powf(0.25);
    rtt * (factor / w).powf(4.0 / 3.0)
}

/// Loss that each algorithm tolerates on this path.
pub fn tolerances(q: &Question) -> Vec<Tolerance> {
    let (window, rtt) = (q.bdp_packets(), q.rtt.as_secs_f64());
    // With delayed ACKs a Reno that counts packets grows as with an ACK for each.
    MODELS
        .iter()
        .filter(|model| model.algorithm != DELAYED || !q.kernel.reno_counts_packets())
        .map(|model| model.tolerance(window, rtt))
        .collect()
}

impl Model {
    fn tolerance(&self, window: f64, rtt: f64) -> Tolerance {
        let probability = (self.probability)(window, rtt).min(1.0);
        let packets = 1.0 / probability;
        Tolerance {
            algorithm: self.algorithm.into(),
            probability,
            packets_between: packets,
            seconds_between: packets * rtt / window,
            source: self.source.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::units::{Framing, Rate, Time};
    use fullpipe_scenario::Version;

    fn at(rate: Rate) -> Vec<Tolerance> {
        tolerances(&Question {
            rate,
            rtt: Time::ms(100),
            mtu: 1500,
            framing: Framing::Ip,
            kernel: Version::new(2, 6, 20),
            timestamps: false,
        })
    }

    fn of<'a>(table: &'a [Tolerance], algorithm: &str) -> &'a Tolerance {
        table.iter().find(|t| t.algorithm == algorithm).expect(algorithm)
    }

    /// The table of RFC 9438, section 5.2 (1500-byte packets, RTT 0.1 s), printed to two figures.
    #[test]
    fn the_figures_of_rfc_9438_come_out() {
        let table = [
            (Rate::mbit(10), "reno", 2.0e-4),
            (Rate::mbit(100), "reno", 2.0e-6),
            (Rate::gbit(1), "reno", 2.0e-8),
            (Rate::gbit(10), "reno", 2.0e-10),
            (Rate::gbit(1), "highspeed", 1.5e-6),
            (Rate::gbit(10), "highspeed", 1.0e-7),
            (Rate::mbit(10), "cubic", 2.9e-4),
            (Rate::mbit(100), "cubic", 1.4e-5),
            (Rate::gbit(1), "cubic", 6.3e-7),
            (Rate::gbit(10), "cubic", 2.9e-8),
        ];
        for (rate, algorithm, published) in table {
            let ours = of(&at(rate), algorithm).probability;
            let error = (ours / published - 1.0).abs();
            assert!(error < 0.05, "{rate} {algorithm}: {ours:e} for {published:e}");
        }
    }

    /// 10 Gb/s x 100 ms, reno: one loss in 4.8e9 packets, about an hour and a half apart.
    #[test]
    fn the_time_between_losses_follows() {
        let table = at(Rate::gbit(10));
        let reno = of(&table, "reno");
        assert!((reno.packets_between / 4.823e9 - 1.0).abs() < 1e-3);
        assert!((reno.seconds_between / 5787.0 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn mathis_differs_by_its_constant_alone() {
        let table = at(Rate::gbit(1));
        let (each, delayed) = (of(&table, "reno, Mathis"), of(&table, "reno, delayed ACKs"));
        // 1.2247^2 / 8333.3^2
        assert!((each.probability / 2.16e-8 - 1.0).abs() < 1e-3);
        assert!((each.probability / delayed.probability - 2.0).abs() < 1e-12);
    }

    /// The window at the loss that a window tolerates is that window.
    #[test]
    fn windows_and_losses_are_each_others_inverse() {
        for mbit in [10, 1000, 10_000] {
            let table = at(Rate::mbit(mbit));
            let window =
                fullpipe_scenario::response::cubic_window(of(&table, "cubic").probability, 0.1);
            let bdp = mbit as f64 * 1e6 * 0.1 / 8.0 / 1500.0;
            assert!((window / bdp - 1.0).abs() < 1e-6, "{mbit}: {window} for {bdp}");
        }
    }

    #[test]
    fn a_path_of_less_than_a_packet_tolerates_any_loss() {
        for t in at(Rate(1)) {
            assert_eq!(t.probability, 1.0, "{}", t.algorithm);
        }
    }
}
