//! Largest distances of runs, per congestion control, and the runs that exceed them.

use super::distance::{Completion, Unit};
use super::messages::Messages;
use serde::Serialize;

/// Median over runs of the throughput's distance, below.
pub const MEDIAN: f64 = 0.03;
/// Distance of throughput beyond which a run is far, and counts as a miss.
pub const FAR: f64 = 0.10;
/// Share of runs that are not far, at least.
pub const NEAR: f64 = 0.90;
/// Share of moments with the same cwnd, at least, in each run without losses.
pub const SAME: f64 = 0.95;
/// Retransmissions apart, at most: share of Linux's, or segments.
pub const RESENT: (f64, u64) = (0.10, 3);
/// Share of flows with an end that complete within one round trip of each other, and of flows with messages of which the times
/// are alike, at least.
pub const IN_TIME: f64 = 0.95;

/// Quantity of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    /// Median over runs of the throughput's distance.
    Median,
    /// Share of runs with a throughput that is not far apart.
    Near,
    /// Share of runs without losses that have the same cwnd.
    Cwnd,
    /// Share of runs with as many retransmissions.
    Retransmissions,
    /// Share of flows with an end that complete in time.
    Completion,
    /// Share of flows with messages of like times.
    Messages,
}

impl Bar {
    /// All of them, in the order of the output.
    pub const ALL: [Bar; 6] =
        [Bar::Median, Bar::Near, Bar::Cwnd, Bar::Retransmissions, Bar::Completion, Bar::Messages];

    /// The counted quantity, and the bar's value.
    pub fn says(self) -> [&'static str; 2] {
        match self {
            Bar::Median => ["throughput apart, median of the runs", "under 3 %"],
            Bar::Near => ["runs whose throughput is under 10 % apart", "90 %"],
            Bar::Cwnd => ["loss-free runs with the same cwnd", "all"],
            Bar::Retransmissions => ["runs with the same retransmissions", "all"],
            Bar::Completion => ["flows complete within a round trip", "95 %"],
            Bar::Messages => ["flows whose messages take as long", "95 %"],
        }
    }
}

/// A figure and its bar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Which bar.
    pub bar: Bar,
    /// The figure, 0 to 1.
    pub value: f64,
    /// Number of runs or flows that keep to the bar, where it is a share.
    pub kept: Option<usize>,
    /// Number of all runs or flows.
    pub of: usize,
    /// Whether the bar is met.
    pub met: bool,
}

/// The figures of one congestion control.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The congestion control.
    pub congestion: String,
    /// Runs with it.
    pub runs: usize,
    /// Median over runs of the median over intervals, which is no bar.
    pub median_of_medians: Option<f64>,
    /// Figures of the bars for which there is something to judge.
    pub figures: Vec<Figure>,
}

impl Judged {
    /// The figure for a bar.
    pub fn figure(&self, bar: Bar) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.bar == bar)
    }
}

/// A run that is further apart than it may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Miss {
    /// Name of the case.
    pub run: String,
    /// The congestion control.
    pub congestion: String,
    /// Missed bars, with the distance as a multiple of the allowed one; the largest first.
    pub misses: Vec<(Bar, f64)>,
    /// Command that shows the miss.
    pub command: String,
}

/// The figures of each congestion control: reno, cubic, bic, then others by name.
pub fn judge(units: &[Unit]) -> Vec<Judged> {
    let mut names: Vec<&String> = units.iter().map(|unit| &unit.congestion).collect();

    // The best-known controls stand first.
    names.sort_by_key(|name| {
        let first = ["reno", "cubic", "bic"].iter().position(|known| known == name);
        (first.unwrap_or(usize::MAX), *name)
    });
    names.dedup();
    names
        .into_iter()
        .map(|name| {
            let own: Vec<&Unit> = units.iter().filter(|unit| unit.congestion == *name).collect();
            let medians = own.iter().filter_map(|unit| unit.throughput).map(|t| t.median).collect();
            Judged {
                congestion: name.clone(),
                runs: own.len(),
                median_of_medians: median(medians),
                figures: Bar::ALL.into_iter().filter_map(|bar| figure(bar, &own)).collect(),
            }
        })
        .collect()
}

/// Whether all bars are met that something was judged by.
pub fn met(judged: &[Judged]) -> bool {
    judged.iter().flat_map(|one| &one.figures).all(|figure| figure.met)
}

fn figure(bar: Bar, units: &[&Unit]) -> Option<Figure> {
    // The median is a figure of all runs, not a share of them.
    if bar == Bar::Median {
        let means: Vec<f64> =
            units.iter().filter_map(|unit| unit.throughput).map(|t| t.mean).collect();
        let of = means.len();
        let value = median(means)?;
        return Some(Figure { bar, value, kept: None, of, met: value < MEDIAN });
    }

    // An excess of 1 or less keeps the bar.
    let excesses: Vec<f64> = units.iter().flat_map(|unit| excesses(bar, unit)).collect();
    let (of, kept) = (excesses.len(), excesses.iter().filter(|excess| **excess <= 1.0).count());

    // Some bars allow a few misses, the others none.
    let least = match bar {
        Bar::Near => NEAR,
        Bar::Completion | Bar::Messages => IN_TIME,
        _ => 1.0,
    };
    let value = kept as f64 / of as f64;
    (of > 0).then_some(Figure { bar, value, kept: Some(kept), of, met: value >= least })
}

/// The middle value; of an even number of values the upper one in the middle.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Distances of a unit for a bar, as multiples of the allowed one; empty where there is nothing to judge.
fn excesses(bar: Bar, unit: &Unit) -> Vec<f64> {
    match bar {
        Bar::Median => Vec::new(),
        Bar::Near => unit.throughput.iter().map(|t| beyond(t.mean, FAR)).collect(),
        Bar::Cwnd if !unit.loss_free => Vec::new(),
        Bar::Cwnd => unit.cwnd.iter().map(|cwnd| (1.0 - cwnd.same) / (1.0 - SAME)).collect(),
        Bar::Retransmissions => vec![resent(unit.retransmitted)],
        Bar::Completion => unit.completions.iter().map(Completion::round_trips).collect(),
        Bar::Messages => unit.messages.iter().map(Messages::excess).collect(),
    }
}

/// A distance that has to be below a bar, as a multiple of it.
fn beyond(value: f64, bar: f64) -> f64 {
    let multiple = value / bar;
    if multiple == 1.0 { 1.0 + f64::EPSILON } else { multiple }
}

fn resent([linux, sim]: [u64; 2]) -> f64 {
    let allowed = (linux as f64 * RESENT.0).max(RESENT.1 as f64);
    linux.abs_diff(sim) as f64 / allowed
}

/// Units that are further apart than they may be, the worst ones first.
pub fn misses(units: &[Unit]) -> Vec<Miss> {
    let mut all: Vec<Miss> =
        units.iter().map(miss).filter(|miss| !miss.misses.is_empty()).collect();
    all.sort_by(|a, b| b.misses[0].1.total_cmp(&a.misses[0].1));
    all
}

/// The largest distance of a unit as a multiple of the one that the bar allows; 0 where there is nothing to judge.
pub fn excess(bar: Bar, unit: &Unit) -> f64 {
    excesses(bar, unit).into_iter().fold(0.0, f64::max)
}

fn miss(unit: &Unit) -> Miss {
    let all = Bar::ALL.into_iter().map(|bar| (bar, excess(bar, unit)));
    let mut misses: Vec<(Bar, f64)> = all.filter(|(_, excess)| *excess > 1.0).collect();
    misses.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (run, congestion) = (unit.run.clone(), unit.congestion.clone());
    Miss { run, congestion, misses, command: unit.command.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::distance::{Cwnd, Throughput};
    use super::*;

    fn unit(congestion: &str, mean: f64) -> Unit {
        let throughput =
            Throughput { mean, median: 0.0, worst: mean, worst_at_s: 1.0, intervals: 10 };
        Unit {
            run: format!("{congestion} {mean}"),
            congestion: congestion.into(),
            throughput: Some(throughput),
            ..Unit::default()
        }
    }

    fn figures(units: &[Unit]) -> Vec<(Bar, f64, bool)> {
        let judged = judge(units);
        judged[0].figures.iter().map(|f| (f.bar, f.value, f.met)).collect()
    }

    #[test]
    fn each_bar_is_met_up_to_where_it_is() {
        let ten: Vec<Unit> =
            (0..10).map(|n| unit("reno", if n == 0 { 0.1 } else { 0.01 })).collect();
        let near =
            [(Bar::Median, 0.01, true), (Bar::Near, 0.9, true), (Bar::Retransmissions, 1.0, true)];
        assert_eq!(figures(&ten), near);
        assert_eq!(figures(&ten[..9])[1], (Bar::Near, 8.0 / 9.0, false));
        assert_eq!(figures(&[unit("reno", 0.03)])[0], (Bar::Median, 0.03, false));
        assert_eq!(
            figures(&[unit("reno", 0.02), unit("reno", 0.04)])[0],
            (Bar::Median, 0.04, false)
        );
    }

    #[test]
    fn cwnd_counts_in_runs_without_losses_alone() {
        let with = |same, loss_free| {
            let cwnd = Cwnd { same, median: 0.0, worst: 0.0, worst_at_s: 0.0, samples: 20 };
            Unit { cwnd: Some(cwnd), loss_free, ..unit("bic", 0.0) }
        };
        assert_eq!(figures(&[with(0.96, true)])[2], (Bar::Cwnd, 1.0, true));
        assert_eq!(figures(&[with(0.94, true)])[2], (Bar::Cwnd, 0.0, false));
        assert_eq!(figures(&[with(0.1, false)])[2].0, Bar::Retransmissions);
    }

    #[test]
    fn retransmissions_may_be_a_tenth_or_three_apart() {
        for (pair, kept) in
            [([0, 3], true), ([0, 4], false), ([100, 110], true), ([100, 89], false)]
        {
            let unit = Unit { retransmitted: pair, ..unit("cubic", 0.0) };
            assert_eq!(figures(&[unit])[2].2, kept, "{pair:?}");
        }
    }

    #[test]
    fn misses_are_listed_the_worst_one_first() {
        let late = |seconds| Completion { flow: "f".into(), seconds, round_trip_s: 0.1 };
        let mut second = unit("cubic", 0.25);
        second.completions = vec![late([Some(1.0), Some(1.05)]), late([Some(1.0), Some(1.5)])];
        let units = [unit("reno", 0.2), unit("reno", 0.05), second];
        let misses = misses(&units);
        assert_eq!(misses.len(), 2);
        assert_eq!(misses[0].misses, [(Bar::Completion, 5.0), (Bar::Near, 2.5)]);
        assert_eq!(misses[1].run, "reno 0.2");
        let judged = judge(&units);
        assert_eq!(judged[1].figure(Bar::Completion).map(|f| (f.kept, f.of)), Some((Some(1), 2)));
        assert!(!met(&judged) && met(&judge(&units[1..2])[..0]));
    }
}
