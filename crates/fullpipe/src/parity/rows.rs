//! The rows of the suite: how far the simulator is from each table, as a file of the suite keeps it.
//!
//! `make parity` writes them. A row that differs from the kept one means that the simulator has changed.

use super::distance::Unit;
use super::messages::Messages;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Name of the file in the suite's folder.
pub const FILE: &str = "distances.txt";

/// Headings of the columns behind the run's name.
pub const COLUMNS: [&str; 10] = [
    "throughput apart, mean",
    "median",
    "worst",
    "same cwnd",
    "cwnd apart, worst",
    "retransmitted: Linux",
    "simulator",
    "complete, s: Linux",
    "simulator",
    "messages apart, of what is allowed",
];

/// A cell that differs from the kept one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Name of the run, with its congestion control where it has several.
    pub run: String,
    /// Heading of the column; empty where no row of this run is kept.
    pub column: String,
    /// The kept cell.
    pub kept: String,
    /// The cell of today's simulator.
    pub now: String,
}

/// A row as a line of a table: the run, then a cell for each column.
pub fn row(unit: &Unit) -> String {
    format!("| {} | {} |\n", unit.name(), cells(unit).join(" | "))
}

fn cells(unit: &Unit) -> [String; 10] {
    let percent =
        |share: Option<f64>| share.map_or("–".into(), |s| format!("{:.1} %", s * 100.0));
    let (rate, cwnd) = (unit.throughput, unit.cwnd);
    let seconds = unit.furthest().map_or([None; 2], |completion| completion.seconds);
    let [done, done_sim] =
        seconds.map(|s| s.map_or("–".into(), |seconds| format!("{seconds:.3}")));
    let [resent, resent_sim] = unit.retransmitted;

    [
        percent(rate.map(|rate| rate.mean)),
        percent(rate.map(|rate| rate.median)),
        percent(rate.map(|rate| rate.worst)),
        percent(cwnd.map(|cwnd| cwnd.same)),
        percent(cwnd.map(|cwnd| cwnd.worst)),
        resent.to_string(),
        resent_sim.to_string(),
        done,
        done_sim,
        percent(unit.messages.iter().map(Messages::excess).reduce(f64::max)),
    ]
}

/// The kept rows of a suite; none if its folder has no such file.
///
/// # Errors
/// The file cannot be read.
pub fn read(folder: &Path) -> io::Result<Option<String>> {
    match std::fs::read_to_string(folder.join(FILE)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

/// Cells of these runs that differ from the kept rows. Kept rows of other runs are ignored.
pub fn changed(kept: &str, units: &[Unit]) -> Vec<Changed> {
    let split = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split(" | ").map(|cell| cell.trim().to_string()).collect()
    };
    let kept: BTreeMap<String, Vec<String>> =
        kept.lines().map(split).map(|mut row| (row.remove(0), row)).collect();
    units.iter().flat_map(|unit| changed_cells(unit, kept.get(&unit.name()))).collect()
}

fn changed_cells(unit: &Unit, kept: Option<&Vec<String>>) -> Vec<Changed> {
    let run = unit.name();

    // A run without a kept row is one change as a whole.
    let Some(kept) = kept else {
        let (column, kept, now) = (String::new(), String::new(), cells(unit).join(" | "));
        return vec![Changed { run, column, kept, now }];
    };
    let cells = cells(unit).into_iter().zip(COLUMNS).enumerate();
    let differ = cells.filter(|(at, (cell, _))| kept.get(*at) != Some(cell));
    differ
        .map(|(at, (now, column))| Changed {
            run: run.clone(),
            column: column.into(),
            kept: kept.get(at).cloned().unwrap_or_default(),
            now,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(run: &str, resent: u64) -> Unit {
        Unit { run: run.into(), alone: true, retransmitted: [3, resent], ..Unit::default() }
    }

    #[test]
    fn a_cell_that_differs_is_named() {
        let kept = row(&unit("a", 3)) + &row(&unit("b", 4)) + &row(&unit("not run", 5));
        assert_eq!(changed(&kept, &[unit("a", 3), unit("b", 4)]), []);
        let found = changed(&kept, &[unit("a", 3), unit("b", 9)]);
        let (run, column) = ("b".to_string(), "simulator".to_string());
        assert_eq!(found, [Changed { run, column, kept: "4".into(), now: "9".into() }]);
    }

    #[test]
    fn a_run_without_a_kept_row_has_changed() {
        let found = changed("", &[unit("new", 3)]);
        assert_eq!((found.len(), &found[0].column[..], &found[0].kept[..]), (1, "", ""));
    }
}
