//! RED draws random numbers, which the engines cannot share: over several seeds both drop as often.

use crate::parity::runs;
use fullpipe::parity::both::JUDGE;
use fullpipe::parity::case::{self, Case};
use std::path::Path;

const SEEDS: u64 = 10;

/// A flow that RED alone makes yield, with each seed.
fn cases() -> Vec<Case> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/parity/red.toml");
    case::seeded(Path::new(file), &[], SEEDS).unwrap_or_else(|e| panic!("{e}"))
}

/// What the link drops and what is delivered, with all seeds together.
fn sums(engine: &str, cases: &[Case]) -> (f64, f64) {
    cases.iter().map(|case| runs::table(engine, case)).fold((0.0, 0.0), |sums, table| {
        let link = table.stage("link").expect("a link");
        let last = table.rows.last().expect("a row");
        (sums.0 + link.dropped as f64, sums.1 + last.delivered as f64)
    })
}

#[test]
fn red_drops_as_often_on_both_engines() {
    let cases = cases();
    if runs::kernel(&cases[0]).is_none() {
        return;
    }
    let ((ours, bytes), (theirs, their_bytes)) = (sums("sim", &cases), sums(JUDGE, &cases));
    assert!(theirs > 100.0 * SEEDS as f64, "{theirs} dropped");
    assert!((ours / theirs - 1.0).abs() < 0.1, "{ours} and {theirs} dropped");
    assert!((bytes / their_bytes - 1.0).abs() < 0.02, "{bytes} and {their_bytes} bytes");
}
