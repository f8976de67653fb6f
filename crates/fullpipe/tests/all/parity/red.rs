//! RED draws random numbers, which the engines cannot share: over several seeds both drop as often.

use crate::parity::runs;
use fullpipe::parity::both::JUDGE;
use fullpipe::parity::case::{self, Case};
use fullpipe::scenario::Source;
use std::path::Path;

const SEEDS: u64 = 10;

/// Flows that RED alone makes yield, with each seed.
fn cases(sets: &[&str]) -> Vec<Case> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/parity/red.toml");
    let sets: Vec<String> = sets.iter().map(|set| (*set).into()).collect();
    let source = Source::read(Path::new(file)).unwrap_or_else(|e| panic!("{e}"));
    case::seeded(&source, file, &sets, SEEDS).unwrap_or_else(|e| panic!("{e}"))
}

/// Drops of `stage` and delivered data, with all seeds and flows together.
fn sums(engine: &str, cases: &[Case], stage: &str) -> (f64, f64) {
    cases.iter().map(|case| runs::table(engine, case)).fold((0.0, 0.0), |sums, table| {
        let queue = table.stage(stage).expect("a queue");
        let end = table.rows.last().expect("a row").time_s;
        let last = table.rows.iter().filter(|row| row.time_s == end);
        let delivered: u64 = last.map(|row| row.delivered).sum();
        (sums.0 + queue.dropped as f64, sums.1 + delivered as f64)
    })
}

/// `stage` drops at least so often in a run, and on both engines alike.
fn drops_alike(cases: &[Case], stage: &str, least: f64) {
    if runs::kernel(&cases[0]).is_none() {
        return;
    }
    let ours = sums("sim", cases, stage);
    let ((ours, bytes), (theirs, their_bytes)) = (ours, sums(JUDGE, cases, stage));
    assert!(theirs > least * SEEDS as f64, "{theirs} dropped");
    assert!((ours / theirs - 1.0).abs() < 0.1, "{ours} and {theirs} dropped");
    assert!((bytes / their_bytes - 1.0).abs() < 0.02, "{bytes} and {their_bytes} bytes");
}

#[test]
#[ignore = "a study: make studies"]
fn study_red_drops_as_often_on_both_engines() {
    drops_alike(&cases(&[]), "link", 100.0);
}

/// In front of a card, which alone is slow: the sender knows of drops there at once.
#[test]
#[ignore = "a study: make studies"]
fn study_red_on_a_host_drops_as_often_on_both_engines() {
    let host = [
        "path.rate=1Gbit",
        "path.queue={ limit = \"10MB\" }",
        "hosts.sender.nic_rate=100Mbit",
        "hosts.sender.tso=false",
        "hosts.sender.tx_ring=1 descriptors",
        "hosts.sender.qdisc={ kind = \"red\", limit = \"1MB\", min = \"5kB\", max = \"50kB\", probability = 0.1 }",
        "flow.bulk.count=8",
    ];
    drops_alike(&cases(&host), "sender.qdisc", 100.0);
}
