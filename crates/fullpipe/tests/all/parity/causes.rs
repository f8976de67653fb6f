//! Why runs are far apart, as far as it is known: scenarios/parity/causes.txt, a line per run. Each run whose
//! throughput is far apart has one.

use crate::parity::suite;
use fullpipe::parity::bars::FAR;
use fullpipe::parity::distance::Unit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What stands where no cause is known.
const UNKNOWN: &str = "not found yet";
const HEAD: &str = "# Why runs of the suite are more than 10 % apart: RUN: CAUSE. `make parity` adds runs that are missing.\n";

/// By run.
pub type Causes = BTreeMap<String, String>;

fn path() -> PathBuf {
    suite::folder().join("causes.txt")
}

/// Whether a unit's throughput is far apart.
pub fn is_far(unit: &Unit) -> bool {
    unit.throughput.is_some_and(|throughput| throughput.mean >= FAR)
}

fn read() -> Causes {
    let text = std::fs::read_to_string(path()).unwrap_or_else(|e| panic!("causes.txt: {e}"));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &str| {
        let (run, cause) = line.split_once(": ").unwrap_or_else(|| panic!("causes.txt: {line}"));
        (run.to_string(), cause.trim().to_string())
    };
    lines.map(entry).collect()
}

/// The causes; each run that is far apart has one. With FULLPIPE_BLESS=1 those that are missing are added, and those
/// that nobody has found and nobody misses any more are left out.
pub fn of(units: &[Unit]) -> Causes {
    let far: BTreeSet<&String> =
        units.iter().filter(|unit| is_far(unit)).map(|unit| &unit.run).collect();
    let mut causes = read();
    if std::env::var_os("FULLPIPE_BLESS").is_some_and(|value| value == "1") {
        causes.retain(|run, cause| cause != UNKNOWN || far.contains(run));
        for run in far {
            causes.entry(run.clone()).or_insert_with(|| UNKNOWN.into());
        }
        let lines = causes.iter().map(|(run, cause)| format!("{run}: {cause}\n"));
        std::fs::write(path(), HEAD.to_string() + &lines.collect::<String>()).expect("written");
    } else {
        for run in far {
            assert!(causes.contains_key(run), "causes.txt has no line for {run}: `make parity`");
        }
    }
    causes
}

#[test]
fn causes_are_of_runs_of_the_suite() {
    let names: BTreeSet<String> = suite::all().into_iter().map(|case| case.name).collect();
    for (run, cause) in read() {
        assert!(names.contains(&run), "causes.txt: there is no run {run}");
        assert!(!cause.is_empty(), "causes.txt: {run} has no cause");
    }
}
