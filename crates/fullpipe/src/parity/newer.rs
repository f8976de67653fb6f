//! Distances of the scenarios that use newer keys: their throughput, and the times of their messages.

use super::bars::median;
use super::distance::Unit;
use super::messages::Summary;
use serde::Serialize;
use std::collections::BTreeMap;

/// Files of the suite with scenarios of newer keys.
pub const FILES: [&str; 9] = [
    "programs",
    "messages",
    "loops",
    "mtus",
    "path-mtu",
    "quickack",
    "corked-answers",
    "two-way-losses",
    "accepted-mtu",
];
/// Distance of throughput below which a run is close.
pub const CLOSE: f64 = 0.05;

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
        let own: Vec<&Unit> = units.iter().filter(|unit| is_of(unit, file)).collect();

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
    });
    rows.filter(|newer| newer.runs > 0).collect()
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
    }
}
