//! Why runs of the suite differ, as far as it is known: scenarios/parity/causes.txt, a line per run. Each run that
//! misses any bar has one, and so has each run with throughputs a tenth of a percent apart.

use crate::parity::suite;
use fullpipe::parity::bars;
use fullpipe::parity::distance::{Completion, Cwnd, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Text in place of an unknown cause.
const UNKNOWN: &str = "not found yet";
/// Words of a line that names no cause, whatever else it says.
const NO_CAUSE: [&str; 7] =
    ["not found", "not known", "unknown", "unclear", "not understood", "unexplained", "no cause"];
/// Runs without a known cause, all of them.
const WITHOUT_A_CAUSE: [&str; 12] = [
    "quick-requests/two-flows",
    "learned-mtu/messages",
    "learned-mtu/small-writes-nodelay",
    "conversations/nine-in-flight",
    "controls-two/westwood-and-westwood",
    "messages/small-receive-buffers-four-in-flight",
    "host-queues/fq-maxrate-skbs",
    "path-mtu/search-anew-larger-card",
    "path-mtu/search-anew-larger-card-6.1",
    "path-mtu/clamp-and-search-6.1",
    "path-mtu/search-6.1",
    "path-mtu/clamp-and-search-larger-card-6.1",
];
const HEAD: &str = "# Why runs of the suite differ by 0.1 % or miss a bar: RUN: CAUSE. `make parity` adds those that are missing.\n";
/// Throughput that is so far apart asks for a cause.
const APART: f64 = 0.000_5;

/// Causes by run.
pub type Causes = BTreeMap<String, String>;

fn path() -> PathBuf {
    suite::folder().join("causes.txt")
}

/// Runs that ask for a cause.
fn asking(units: &[Unit]) -> BTreeSet<String> {
    let apart = |unit: &&Unit| unit.throughput.is_some_and(|throughput| throughput.mean >= APART);
    let apart = units.iter().filter(apart).map(|unit| unit.run.clone());
    bars::misses(units).into_iter().map(|miss| miss.run).chain(apart).collect()
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

/// The causes; each run that asks for one has one. With UPDATE_EXPECT=1 missing causes are added, and causes of runs
/// that need none any more are left out.
pub fn of(units: &[Unit]) -> Causes {
    let runs = asking(units);
    let mut causes = read();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        causes.retain(|run, _| runs.contains(run));
        for run in runs {
            causes.entry(run).or_insert_with(|| UNKNOWN.into());
        }
        let lines = causes.iter().map(|(run, cause)| format!("{run}: {cause}\n"));
        std::fs::write(path(), HEAD.to_string() + &lines.collect::<String>()).expect("written");
    } else {
        for run in runs {
            assert!(causes.contains_key(&run), "causes.txt has no line for {run}: `make parity`");
        }
    }
    causes
}

#[test]
fn causes_are_of_runs_of_the_suite() {
    let names: BTreeSet<String> = suite::all().into_iter().map(|case| case.name).collect();
    let causes = read();
    let strange: Vec<&String> = causes.keys().filter(|run| !names.contains(*run)).collect();
    assert!(strange.is_empty(), "causes.txt: there is no run {strange:?}");
    let open = causes.iter().filter(|(_, cause)| !names_a_cause(cause)).map(|(run, _)| &run[..]);
    assert_eq!(open.collect::<BTreeSet<_>>(), BTreeSet::from(WITHOUT_A_CAUSE));
}

/// Whether a line of causes.txt names a cause.
fn names_a_cause(text: &str) -> bool {
    let text = text.to_lowercase();
    !text.is_empty() && NO_CAUSE.iter().all(|words| !text.contains(words))
}

#[test]
fn a_line_that_only_describes_names_no_cause() {
    for text in ["", UNKNOWN, "not known; cwnd is the same", "Unknown", "the cause is unclear"] {
        assert!(!names_a_cause(text), "{text}");
    }
    assert!(names_a_cause("fq's timer may be 10 us late"));
}

#[test]
fn a_cause_is_asked_for_whatever_bar_is_missed() {
    let unit = |run: &str| Unit { run: run.into(), congestion: "reno".into(), ..Unit::default() };
    let resent = Unit { retransmitted: [0, 9], ..unit("resent") };
    let seconds = [Some(1.0), Some(2.0)];
    let late = Completion { flow: "bulk".into(), seconds, round_trip_s: 0.1 };
    let late = Unit { completions: vec![late], ..unit("late") };
    let cwnd = Cwnd { same: 0.5, median: 0.0, worst: 0.0, worst_at_s: 0.0, samples: 9 };
    let other = Unit { cwnd: Some(cwnd), loss_free: true, ..unit("other") };
    let runs = asking(&[unit("near"), resent, late, other]);
    assert_eq!(runs.into_iter().collect::<Vec<_>>(), ["late", "other", "resent"]);
}
