//! The worst runs drawn: throughput and cwnd of both sides over each other.

use crate::parity::causes::Causes;
use crate::parity::distances::Both;
use crate::parity::drawing::{Panel, svg};
use crate::parity::suite;
use expect_test::expect_file;
use fullpipe::parity::distance::Unit;
use fullpipe::parity::table::{Row, Table};
use std::fmt::Write;

/// Number of drawn runs.
const DRAWN: usize = 5;

/// The section of the page, after its figures were compared or rewritten.
pub fn worst(suite: &[Both], units: &[Unit], causes: &Causes) -> String {
    let mut units: Vec<&Unit> = units.iter().collect();
    let mean = |unit: &Unit| unit.throughput.map_or(0.0, |throughput| throughput.mean);
    units.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    let mut text = String::new();
    for (number, unit) in units.iter().take(DRAWN).enumerate() {
        let both = suite.iter().find(|both| both.case.name == unit.run).expect("its run");
        let flow = furthest(both, &unit.congestion);
        let name = format!("worst-{}.svg", number + 1);
        file(&name, &figure(both, flow));
        let apart = mean(unit) * 100.0;
        let flow = &both.case.plan.resolved.flow[flow].name;
        let cause = causes.get(&unit.run).map_or("not found yet", String::as_str);
        let _ = write!(
            text,
            "**{}**, {apart:.1} % apart; cause: {cause}. Drawn: flow {flow}.\n\n\
             ![throughput and cwnd of {}](how-true/{name})\n\n\
             `{}` tells how far; `{}` shows the run.\n\n",
            unit.name(),
            unit.run,
            parity(unit),
            unit.command
        );
    }
    text.trim_end().to_string() + "\n"
}

/// Command that measures how far a run of the suite is apart, on a kernel.
fn parity(unit: &Unit) -> String {
    let file = unit.run.split('/').next().unwrap_or_default();
    format!("fullpipe parity {}/{file}.toml", suite::SHOWN)
}

/// The flow of a congestion control with the largest distance in acknowledged data over time.
fn furthest(both: &Both, congestion: &str) -> usize {
    let flows = both.case.plan.resolved.flow.iter().enumerate();
    let own = flows.filter(|(_, flow)| flow.congestion.name == congestion).map(|(index, _)| index);
    let apart = |index: &usize| {
        let sides = [&both.linux, &both.sim].map(|table| rates(&table.flow(*index)));
        let pairs = sides[0].iter().zip(&sides[1]);
        pairs.map(|(a, b)| (a.1 - b.1).abs()).sum::<f64>()
    };
    own.max_by(|a, b| apart(a).total_cmp(&apart(b))).expect("a flow")
}

fn figure(both: &Both, flow: usize) -> String {
    let panel = |label: &'static str, of: fn(&[&Row]) -> Vec<(f64, f64)>| {
        let side = |table: &Table| of(&table.flow(flow));
        Panel { label, sides: [side(&both.linux), side(&both.sim)] }
    };
    let cwnd = |rows: &[&Row]| rows.iter().map(|r| (r.time_s, f64::from(r.cwnd))).collect();
    svg(&[panel("acknowledged, Mb/s", rates), panel("cwnd, packets", cwnd)])
}

/// Mb/s between two moments, by the later one.
fn rates(rows: &[&Row]) -> Vec<(f64, f64)> {
    let mut before = (0.0, 0);
    let rate = |row: &&Row| {
        let (bytes, seconds) = (row.acked.saturating_sub(before.1), row.time_s - before.0);
        before = (row.time_s, row.acked);
        (row.time_s, bytes as f64 * 8e-6 / seconds)
    };
    rows.iter().map(rate).collect()
}

/// Compares a figure of the page, or rewrites it.
fn file(name: &str, text: &str) {
    let path = suite::folder().join("../../docs/how-true").join(name);
    expect_file![path].assert_eq(text);
}

#[test]
fn rates_are_those_between_moments() {
    let row = |time_s, acked| Row { time_s, acked, ..Row::default() };
    let rows = [row(0.5, 0), row(1.0, 125_000), row(2.0, 250_000)];
    let rates = rates(&rows.iter().collect::<Vec<_>>());
    assert_eq!(rates, [(0.5, 0.0), (1.0, 2.0), (2.0, 1.0)]);
}
