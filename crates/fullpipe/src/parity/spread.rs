//! Runs of one scenario with several seeds, where chance decides. Two engines draw different random numbers, so their
//! distributions are compared, not run with run.

use super::distance::Unit;
use serde::Serialize;

/// Critical value of the two-sample Kolmogorov-Smirnov test, c(0.01) = sqrt(-ln(0.01 / 2) / 2): larger distances occur
/// by chance in one of a hundred cases.
const CRITICAL: f64 = 1.628;

/// A quantity with a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Megabytes acknowledged by the end.
    AckedMb,
    /// Segments sent again.
    Retransmitted,
    /// Seconds until the last flow with an end had all read; the run's end counts as never.
    CompletionS,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Quantity; 3] =
        [Quantity::AckedMb, Quantity::Retransmitted, Quantity::CompletionS];

    /// Name of the quantity, with its unit.
    pub fn says(self) -> &'static str {
        match self {
            Quantity::AckedMb => "acknowledged, MB",
            Quantity::Retransmitted => "sent again",
            Quantity::CompletionS => "complete, s",
        }
    }

    /// Values of Linux and of the simulator; none where the runs have no such quantity.
    fn of(self, unit: &Unit) -> Option<[f64; 2]> {
        match self {
            Quantity::AckedMb => Some(unit.acked.map(|bytes| bytes as f64 / 1e6)),
            Quantity::Retransmitted => Some(unit.retransmitted.map(|count| count as f64)),
            Quantity::CompletionS if unit.completions.is_empty() => None,
            Quantity::CompletionS => Some([0, 1].map(|side| {
                let ends = unit.completions.iter().map(|completion| completion.seconds[side]);
                ends.map(|end| end.unwrap_or(f64::INFINITY)).fold(0.0, f64::max)
            })),
        }
    }
}

/// Distributions of a quantity over the seeds. Pairs are Linux's and the simulator's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The run, without its seed.
    pub run: String,
    /// The congestion control.
    pub congestion: String,
    /// The quantity that is reported.
    pub quantity: Quantity,
    /// Seeds.
    pub seeds: usize,
    /// Tenth part from below.
    pub low: [f64; 2],
    /// Median.
    pub median: [f64; 2],
    /// Tenth part from above.
    pub high: [f64; 2],
    /// Largest difference of the two distribution functions (Kolmogorov-Smirnov), 0 to 1.
    pub apart: f64,
    /// Largest allowed distance.
    pub allowed: f64,
    /// Whether it is no larger.
    pub met: bool,
}

/// The distributions of each run and congestion control over the seeds of `units`.
pub fn spreads(units: &[Unit]) -> Vec<Spread> {
    let mut groups: Vec<Vec<&Unit>> = Vec::new();
    for unit in units {
        let mut same = groups.iter_mut().filter(|group| group[0].of == unit.of);
        match same.find(|group| group[0].congestion == unit.congestion) {
            Some(group) => group.push(unit),
            None => groups.push(vec![unit]),
        }
    }
    let all = groups.iter().flat_map(|group| Quantity::ALL.map(|quantity| spread(quantity, group)));
    all.flatten().collect()
}

fn spread(quantity: Quantity, units: &[&Unit]) -> Option<Spread> {
    let pairs: Vec<[f64; 2]> = units.iter().filter_map(|unit| quantity.of(unit)).collect();
    let seeds = pairs.len();

    // Both sides in order, for quantiles and for the distance of distributions.
    let sides = [0, 1].map(|side| {
        let mut values: Vec<f64> = pairs.iter().map(|pair| pair[side]).collect();
        values.sort_by(f64::total_cmp);
        values
    });
    if seeds == 0 {
        return None;
    }
    let at = |share: f64| {
        [0, 1].map(|side| sides[side][((seeds as f64 * share) as usize).min(seeds - 1)])
    };

    // Kolmogorov and Smirnov: the largest distance, and its bound for so many seeds.
    let apart = furthest(&sides[0], &sides[1]);
    let allowed = CRITICAL * (2.0 / seeds as f64).sqrt();
    Some(Spread {
        run: units[0].of.clone(),
        congestion: units[0].congestion.clone(),
        quantity,
        seeds,
        low: at(0.1),
        median: at(0.5),
        high: at(0.9),
        apart,
        allowed,
        met: apart <= allowed,
    })
}

/// Largest difference of the shares of values up to any bound; both rise and are equally many.
fn furthest(a: &[f64], b: &[f64]) -> f64 {
    let share = |of: &[f64], bound: f64| {
        of.partition_point(|value| *value <= bound) as f64 / of.len() as f64
    };
    let bounds = a.iter().chain(b);
    bounds.map(|bound| (share(a, *bound) - share(b, *bound)).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(seed: u64, linux: u64, sim: u64) -> Unit {
        Unit {
            run: format!("my/base, seed {seed}"),
            of: "my/base".into(),
            congestion: "reno".into(),
            acked: [linux * 1_000_000, sim * 1_000_000],
            ..Unit::default()
        }
    }

    #[test]
    fn distributions_are_compared_and_not_pairs() {
        let units: Vec<Unit> = (0..20).map(|n| unit(n, n, 19 - n)).collect();
        let found = spreads(&units);
        assert_eq!(found.len(), 2, "nothing of these runs ends");
        let acked = &found[0];
        assert_eq!((acked.seeds, acked.apart, acked.met), (20, 0.0, true));
        assert_eq!((acked.low, acked.median, acked.high), ([2.0; 2], [10.0; 2], [18.0; 2]));
        let shifted: Vec<Unit> = (0..20).map(|n| unit(n, n, n + 12)).collect();
        let acked = &spreads(&shifted)[0];
        assert!((acked.apart - 0.6).abs() < 1e-9 && !acked.met);
        assert!((acked.allowed - 0.5148).abs() < 1e-3);
    }

    #[test]
    fn runs_and_congestion_controls_are_kept_apart() {
        let other = Unit { congestion: "bic".into(), ..unit(1, 5, 5) };
        let found = spreads(&[unit(1, 1, 1), other, unit(2, 2, 2)]);
        let named: Vec<(&str, usize)> = found.iter().map(|s| (&*s.congestion, s.seeds)).collect();
        assert_eq!(named, [("reno", 2), ("reno", 2), ("bic", 1), ("bic", 1)]);
    }
}
