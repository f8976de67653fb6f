//! How far the simulator is from each table: docs/parity.md (`make parity` rewrites it). Nothing is asserted
//! of the distances; the page has to be today's.

use crate::{kept, marked, runs, suite};
use fullpipe::parity::both::JUDGED;
use fullpipe::parity::distance::{self, Unit};
use std::fmt::Write;

const HEAD: &str = "| run | throughput apart, mean | median | worst | same cwnd | cwnd apart, worst | \
    retransmitted: Linux | simulator | complete, s: Linux | simulator |\n\
    |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// The distances of the whole suite.
pub fn units() -> Vec<Unit> {
    let units = suite::all().into_iter().flat_map(|case| {
        let units = distance::units(&case, &kept::table(&case), &runs::table(JUDGED, &case));
        units.unwrap_or_else(|why| panic!("{why}"))
    });
    units.collect()
}

fn line(text: &mut String, unit: &Unit) {
    let percent =
        |share: Option<f64>| share.map_or("–".into(), |s| format!("{:.1} %", s * 100.0));
    let (rate, cwnd) = (unit.throughput, unit.cwnd);
    let seconds = unit.furthest().map_or([None; 2], |completion| completion.seconds);
    let [done, done_sim] =
        seconds.map(|s| s.map_or("–".into(), |seconds| format!("{seconds:.3}")));
    let [resent, resent_sim] = unit.retransmitted;
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {} | {} | {resent} | {resent_sim} | {done} | {done_sim} |",
        unit.name(),
        percent(rate.map(|rate| rate.mean)),
        percent(rate.map(|rate| rate.median)),
        percent(rate.map(|rate| rate.worst)),
        percent(cwnd.map(|cwnd| cwnd.same)),
        percent(cwnd.map(|cwnd| cwnd.worst)),
    );
}

#[test]
fn distances_of_the_simulator() {
    let mut table = HEAD.to_string();
    units().iter().for_each(|unit| line(&mut table, unit));
    marked::committed("docs/parity.md", "distances", &table);
}
