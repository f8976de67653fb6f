//! Distances of the scenarios that use newer keys: their throughput, and the times of their messages.

use super::bars::median;
use super::distance::Unit;
use super::messages::Summary;
use serde::Serialize;
use std::collections::BTreeMap;

/// Files of the suite with scenarios of newer keys.
pub const FILES: [&str; 15] = [
    "programs",
    "messages",
    "loops",
    "mtus",
    "path-mtu",
    "learned-mtu",
    "small-writes",
    "quickack",
    "quick-requests",
    "corked-answers",
    "two-way-losses",
    "shallow-two-way",
    "conversations",
    "accepted-mtu",
    "without-sack",
];
/// Distance of throughput below which a run is close.
pub const CLOSE: f64 = 0.05;
/// Share of close runs, at least.
pub const MOSTLY: f64 = 0.9;
/// Median distance of throughput, at most: 0.0 % in the tables.
pub const MEDIAN: f64 = 0.0005;

/// The runs of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Newer {
    /// Name of the file.
    pub file: String,
    /// Its runs in which data was acknowledged.
    pub runs: usize,
    /// Median of the runs' throughput distances, 0 to 1.
    pub median: Option<f64>,
    /// Runs with close throughput.
    pub close: usize,
    /// Their messages; none where they have none.
    pub messages: Option<Summary>,
}

/// The files among these units' runs, in the order of [`FILES`].
pub fn of(units: &[Unit]) -> Vec<Newer> {
    let rows = FILES.into_iter().map(|file| {
        let own = units.iter().filter(|unit| is_of(unit, file)).collect();
        row(file, own)
    });
    rows.filter(|newer| newer.runs > 0).collect()
}

/// All files among these units' runs as one.
pub fn whole(units: &[Unit]) -> Newer {
    let is_newer = |unit: &&Unit| FILES.iter().any(|file| is_of(unit, file));
    row("all", units.iter().filter(is_newer).collect())
}

impl Newer {
    /// Whether the runs keep both bars of their throughput.
    pub fn is_kept(&self) -> bool {
        let mostly = self.close as f64 >= MOSTLY * self.runs as f64;
        mostly && self.median.is_none_or(|median| median < MEDIAN)
    }
}

fn row(file: &str, own: Vec<&Unit>) -> Newer {
    // The congestion control that is furthest apart counts for its run.
    let mut runs: BTreeMap<&str, f64> = BTreeMap::new();
    for unit in &own {
        let Some(throughput) = unit.throughput else { continue };
        let worst = runs.entry(&unit.run).or_default();
        *worst = worst.max(throughput.mean);
    }

    let close = runs.values().filter(|apart| **apart < CLOSE).count();
    Newer {
        file: file.into(),
        runs: runs.len(),
        median: median(runs.into_values().collect()),
        close,
        messages: Summary::of(own),
    }
}

fn is_of(unit: &Unit, file: &str) -> bool {
    unit.run.split_once('/').is_some_and(|(of, _)| of == file)
}

#[cfg(test)]
mod tests {
    use super::super::distance::Throughput;
    use super::*;

    #[test]
    fn a_run_counts_once_with_its_worst_control() {
        let unit = |run: &str, mean| {
            let throughput =
                Throughput { mean, median: 0.0, worst: mean, worst_at_s: 1.0, intervals: 10 };
            Unit { run: run.into(), throughput: Some(throughput), ..Unit::default() }
        };
        let units = [
            unit("programs/a", 0.01),
            unit("programs/a", 0.2),
            unit("programs/b", 0.0),
            unit("loops/a", 0.04),
            unit("queue/a", 0.5),
            unit("programs", 0.5),
            // Nothing was acknowledged: neither close nor apart.
            Unit { run: "loops/black-hole".into(), ..Unit::default() },
        ];
        let found = of(&units);
        let rows: Vec<_> =
            found.iter().map(|row| (&row.file[..], row.runs, row.median, row.close)).collect();
        assert_eq!(rows, [("programs", 2, Some(0.2), 1), ("loops", 1, Some(0.04), 1)]);
        assert!(found.iter().all(|row| row.messages.is_none()));

        let all = whole(&units);
        assert_eq!((all.runs, all.median, all.close, all.is_kept()), (3, Some(0.04), 2, false));
        let ten = |apart| {
            (0..10).map(move |n| unit(&format!("loops/{n}"), if n == 0 { apart } else { 0.0 }))
        };
        let is_kept = |units: Vec<Unit>| whole(&units).is_kept();
        assert!(is_kept(ten(0.2).collect()) && !is_kept(ten(0.2).take(9).collect()));
    }
}
