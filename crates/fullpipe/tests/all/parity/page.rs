//! The tables of docs/how-true.md, README.md and LIMITATIONS.md.

use crate::marked;
use crate::parity::causes::{Causes, is_far};
use crate::parity::distances::Both;
use crate::parity::{record, runs};
use fullpipe::parity::bars::{self, Bar, Figure};
use fullpipe::parity::both::{JUDGE, JUDGED};
use fullpipe::parity::case::Case;
use fullpipe::parity::distance::{self, Unit};
use fullpipe::parity::random::{self, Hosts};
use fullpipe::report::terminal;
use std::fmt::Write;
use std::sync::Mutex;

pub const PAGE: &str = "docs/how-true.md";
/// The random scenarios that the page tells of.
const RANDOM: (u64, u64) = (1, 40);

/// The bars, a line each; a column per congestion control.
pub fn figures(units: &[Unit]) -> String {
    let judged = bars::judge(units);
    let mut text = "| | bar |".to_string();
    judged.iter().for_each(|one| text += &format!(" {} |", one.congestion));
    text += "\n|---|---|";
    judged.iter().for_each(|_| text += "--:|");
    text += "\n";
    for bar in Bar::ALL {
        let [what, least] = bar.says();
        let _ = write!(text, "| {what} | {least} |");
        judged.iter().for_each(|one| text += &format!(" {} |", cell(one.figure(bar))));
        text += "\n";
    }
    text
}

fn cell(figure: Option<&Figure>) -> String {
    let Some(figure) = figure else { return "–".into() };
    let value = terminal::value(figure);
    if figure.met { value } else { format!("**{value}**, missed") }
}

/// How large the suite is, and on what kernel.
pub fn size(suite: &[Both]) -> String {
    let flows: usize = suite.iter().map(|both| both.case.plan.resolved.flow.len()).sum();
    let kernel = &suite[0].linux.origin.kernel;
    let kernel = kernel.split(" (").next().unwrap_or(kernel);
    format!("{} runs with {flows} flows, against {kernel}.\n", suite.len())
}

/// The runs that are far apart, the furthest first, with their causes.
pub fn far(units: &[Unit], causes: &Causes) -> String {
    let mut far: Vec<&Unit> = units.iter().filter(|unit| is_far(unit)).collect();
    let mean = |unit: &Unit| unit.throughput.map_or(0.0, |throughput| throughput.mean);
    far.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    let mut text = "| run | throughput apart | cause |\n|---|--:|---|\n".to_string();
    for unit in far {
        let (name, apart) = (unit.name(), mean(unit) * 100.0);
        let _ = writeln!(text, "| {name} | {apart:.1} % | {} |", causes[&unit.run]);
    }
    text
}

#[test]
#[ignore = "runs random scenarios on a kernel; make parity-record"]
fn random_scenarios_on_both_engines() {
    let (seed, count) = RANDOM;
    let cases: Vec<Case> =
        (0..count).map(|number| random::case(seed, number, &Hosts::default())).collect();
    let Some(kernel) = runs::kernel(&cases[0]) else { return };
    let units = Mutex::new(Vec::new());
    record::parallel(&cases, |case: &Case| {
        let (linux, sim) = (runs::table(JUDGE, case), runs::table(JUDGED, case));
        let found = distance::units(case, &linux, &sim).unwrap_or_else(|why| panic!("{why}"));
        units.lock().expect("no panic").extend(found);
    });
    let units = units.into_inner().expect("no panic");
    let version = &kernel.source_version;
    let text = format!(
        "`fullpipe parity --random {count} --seed {seed}`, against Linux {version}.\n\n{}",
        figures(&units)
    );
    marked::rewritten(PAGE, "random", &text);
}

#[test]
fn bars_that_are_missed_are_marked() {
    let unit = Unit { congestion: "reno".into(), retransmitted: [0, 9], ..Unit::default() };
    let text = figures(&[Unit { retransmitted: [0, 3], ..unit.clone() }, unit]);
    assert!(text.starts_with("| | bar | reno |\n|---|---|--:|\n"), "{text}");
    assert!(text.contains("| runs with the same retransmissions | all | **1 of 2**, missed |"));
    assert!(text.contains("| loss-free runs with the same cwnd | all | – |"), "{text}");
}
