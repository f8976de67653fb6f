//! Distance of the simulator from each table. `make parity` rewrites the pages with the distances, and they have to be
//! up to date. A bar that is met stays met, and the number of misses does not grow. Single distances are not asserted.

use crate::marked;
use crate::parity::{causes, kept, overlay, page, runs, suite};
use expect_test::expect_file;
use fullpipe::parity::bars::{self, Bar, judge};
use fullpipe::parity::both::JUDGED;
use fullpipe::parity::case::Case;
use fullpipe::parity::distance::{self, Unit};
use fullpipe::parity::table::Table;
use fullpipe::parity::{newer, rows};
use std::collections::BTreeSet;

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

/// The kept rows, and the table of the page.
fn rows_are_kept(units: &[Unit]) {
    let rows: String = units.iter().map(rows::row).collect();
    let path = suite::folder().join(rows::FILE);
    expect_file![path].assert_eq(&rows);
    let head = format!(
        "| run | {} |\n|---{}|\n",
        rows::COLUMNS.join(" | "),
        "|--:".repeat(rows::COLUMNS.len())
    );
    marked::committed("docs/parity.md", "distances", &(head + &rows));
}

/// Runs that miss a bar. No other one may, and one that misses none any more leaves the list.
const MISSES: [&str; 4] = [
    "quick-requests/two-flows",
    "path-mtu/search-anew-larger-card-6.1",
    "path-mtu/clamp-and-search-larger-card-6.1",
    "messages/small-receive-buffers-four-in-flight",
];

/// The listed runs miss a bar, and no others. Bars that allow some misses are kept all the same.
fn bars_are_kept(units: &[Unit]) {
    let missed: BTreeSet<String> = bars::misses(units).into_iter().map(|miss| miss.run).collect();
    assert_eq!(missed, MISSES.map(String::from).into());
    for judged in judge(units) {
        let allows_none = |bar| matches!(bar, Bar::Cwnd | Bar::Retransmissions);
        let lost = judged.figures.iter().find(|own| !own.met && !allows_none(own.bar));
        assert!(lost.is_none(), "{}: {lost:?}", judged.congestion);
    }

    // Scenarios of newer keys have a closer bar, which counts the listed runs, too.
    let newer = newer::whole(units);
    assert!(newer.is_kept(), "{newer:?}");
}

#[test]
fn distances_of_the_simulator() {
    let suite = suite();
    let units: Vec<Unit> = suite.iter().flat_map(|both| both.units.clone()).collect();
    bars_are_kept(&units);
    rows_are_kept(&units);
    let causes = causes::of(&units);
    let figures = page::figures(&units);
    marked::committed(page::PAGE, "bars", &format!("{}\n{figures}", page::size(&suite)));
    marked::committed("README.md", "parity", &figures);
    marked::committed(page::PAGE, "newer", &page::newer(&units));
    marked::committed(page::PAGE, "missed", &page::missed(&units, &causes));
    marked::committed(page::PAGE, "worst", &overlay::worst(&suite, &units, &causes));
}
