//! How far the simulator is from each table: `make parity` rewrites the pages that tell it, which have to be today's.
//! A bar that is met stays met, and what misses one does not become more; single distances are not asserted.

use crate::marked;
use crate::parity::{causes, kept, overlay, page, runs, suite};
use fullpipe::parity::bars::{self, judge};
use fullpipe::parity::both::JUDGED;
use fullpipe::parity::case::Case;
use fullpipe::parity::distance::{self, Unit};
use fullpipe::parity::table::Table;
use std::fmt::Write;

/// A run of the suite on both sides.
pub struct Both {
    pub case: Case,
    pub linux: Table,
    pub sim: Table,
    pub units: Vec<Unit>,
}

/// The whole suite.
fn suite() -> Vec<Both> {
    let both = |case: Case| {
        let (linux, sim) = (kept::table(&case), runs::table(JUDGED, &case));
        let units = distance::units(&case, &linux, &sim).unwrap_or_else(|why| panic!("{why}"));
        Both { case, linux, sim, units }
    };
    suite::all().into_iter().map(both).collect()
}

const HEAD: &str = "| run | throughput apart, mean | median | worst | same cwnd | cwnd apart, worst | \
    retransmitted: Linux | simulator | complete, s: Linux | simulator |\n\
    |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

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

/// No run misses, and each bar is kept.
fn bars_are_kept(units: &[Unit]) {
    let missed: Vec<String> = bars::misses(units).into_iter().map(|miss| miss.run).collect();
    assert!(missed.is_empty(), "{missed:?}");
    let judged = judge(units);
    let missed = judged.iter().flat_map(|judged| &judged.figures).find(|figure| !figure.met);
    assert!(missed.is_none(), "{missed:?}");
}

#[test]
fn distances_of_the_simulator() {
    let suite = suite();
    let units: Vec<Unit> = suite.iter().flat_map(|both| both.units.clone()).collect();
    bars_are_kept(&units);
    let mut table = HEAD.to_string();
    units.iter().for_each(|unit| line(&mut table, unit));
    marked::committed("docs/parity.md", "distances", &table);
    let causes = causes::of(&units);
    let figures = page::figures(&units);
    marked::committed(page::PAGE, "bars", &format!("{}\n{figures}", page::size(&suite)));
    marked::committed("README.md", "parity", &figures);
    marked::committed(page::PAGE, "missed", &page::missed(&units, &causes));
    marked::committed("LIMITATIONS.md", "parity-missed", &page::missed(&units, &causes));
    marked::committed(page::PAGE, "worst", &overlay::worst(&suite, &units, &causes));
}
