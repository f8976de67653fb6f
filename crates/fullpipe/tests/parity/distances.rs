//! How far the simulator is from each table: docs/parity.md (`make parity` rewrites it). Nothing is asserted
//! of the distances; the page has to be today's.

use crate::golden::{self, Row, Table};
use crate::suite::{self, Case};
use crate::{kept, marked, runs};
use fullpipe::analysis::distance::{Apart, apart};
use std::fmt::Write;

/// What the simulator makes of a case, as a table.
pub fn simulated(case: &Case) -> Table {
    let body = golden::body(case, &runs::trace("sim", &case.plan().resolved));
    golden::read(&body).unwrap_or_else(|why| panic!("{}: {why}", case.name()))
}

pub const HEAD: &str = "| run | throughput apart, median | worst | cwnd apart, median | worst | \
    retransmitted: Linux | simulator | complete, s: Linux | simulator |\n\
    |---|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// A line per flow of a run.
pub fn lines(case: &Case, linux: &Table, sim: &Table) -> String {
    let mut text = String::new();
    for (index, flow) in case.plan().resolved.flow.iter().enumerate() {
        let (genuine, ours) = alive(linux.flow(index), sim.flow(index));
        let name = match case.plan().resolved.flow.len() {
            1 => case.name(),
            _ => format!("{}, {}", case.name(), flow.name),
        };
        let [rate, worst_rate] = percent(apart(rates(&genuine, &ours)));
        let [cwnd, worst_cwnd] = percent(apart(windows(&genuine, &ours)));
        let resent = |table: &Table| table.flow(index).last().map_or(0, |row| row.retransmitted);
        let done = |table: &Table| match table.complete[index] {
            Some(seconds) => format!("{seconds:.3}"),
            None => "–".into(),
        };
        let _ = writeln!(
            text,
            "| {name} | {rate} | {worst_rate} | {cwnd} | {worst_cwnd} | {} | {} | {} | {} |",
            resent(linux),
            resent(sim),
            done(linux),
            done(sim)
        );
    }
    text
}

/// The rows of a flow up to the first at which both sides have had all that they ever get.
fn alive<'a>(a: Vec<&'a Row>, b: Vec<&'a Row>) -> (Vec<&'a Row>, Vec<&'a Row>) {
    let until = |rows: &[&Row]| {
        let all = rows.last().map_or(0, |row| row.delivered);
        rows.iter().position(|row| row.delivered == all).map_or(0, |last| last + 1)
    };
    let count = until(&a).max(until(&b));
    let first = |rows: Vec<&'a Row>| rows.into_iter().take(count).collect();
    (first(a), first(b))
}

/// Bytes delivered between two rows, by time.
fn rates(a: &[&Row], b: &[&Row]) -> Vec<(f64, f64, f64)> {
    let gains = |rows: &[&Row]| {
        let before = std::iter::once(0).chain(rows.iter().map(|row| row.delivered));
        let gains = rows.iter().zip(before).map(|(row, before)| (row.delivered - before) as f64);
        gains.collect::<Vec<f64>>()
    };
    let pairs = gains(a).into_iter().zip(gains(b));
    a.iter().zip(pairs).map(|(row, (a, b))| (row.time_s, a, b)).collect()
}

fn windows(a: &[&Row], b: &[&Row]) -> Vec<(f64, f64, f64)> {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| (a.time_s, f64::from(a.cwnd), f64::from(b.cwnd))).collect()
}

fn percent(apart: Option<Apart>) -> [String; 2] {
    let text = |share: f64| format!("{:.1} %", share * 100.0);
    apart.map_or(["–".into(), "–".into()], |apart| [text(apart.median), text(apart.worst)])
}

#[test]
fn distances_of_the_simulator() {
    let mut table = HEAD.to_string();
    for case in suite::all() {
        table += &lines(&case, &kept::table(&case), &simulated(&case));
    }
    println!("{table}");
    marked::committed("docs/parity.md", "distances", &table);
}

#[test]
fn distances_are_those_of_rows_at_equal_times() {
    let row = |time_s, cwnd, delivered| Row {
        time_s,
        flow: 0,
        cwnd,
        srtt_us: 0,
        sent: 0,
        retransmitted: 0,
        delivered,
    };
    let a = [row(1.0, 10, 100), row(2.0, 20, 300), row(3.0, 20, 300), row(4.0, 20, 300)];
    let b = [row(1.0, 10, 100), row(2.0, 10, 200), row(3.0, 40, 300), row(4.0, 80, 300)];
    let (a, b) = alive(a.iter().collect(), b.iter().collect());
    assert_eq!((a.len(), b.len()), (3, 3), "the fourth row tells nothing");
    assert_eq!(rates(&a, &b), [(1.0, 100.0, 100.0), (2.0, 200.0, 100.0), (3.0, 0.0, 100.0)]);
    assert_eq!(windows(&a, &b), [(1.0, 10.0, 10.0), (2.0, 20.0, 10.0), (3.0, 20.0, 40.0)]);
    assert_eq!(percent(apart(rates(&a, &b))), ["50.0 %", "100.0 %"]);
}
