//! The README's table of published against simulated figures equals the results of a run (`UPDATE_EXPECT=1` rewrites
//! it).

#[path = "../../../fullpipe/tests/all/marked/mod.rs"]
#[allow(dead_code, reason = "tables of studies are in another crate")]
pub mod marked;
use crate::common::Desk;
use fullpipe::analysis::document::{Document, Run};

const HEADING: &str = "\
| run | published, Mb/s | simulated, Mb/s | difference | published, s to 90 % | simulated, s to 90 % | ramp, median error | ramp, worst error | rows in the band |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
";

/// Rates are means over all published rows, for both alike.
fn row(run: &Run) -> String {
    let published = run.published.as_ref().expect("published figures");
    let rows = &published.rows;
    let (theirs, ours) = (published.rows_mbit, published.simulated_rows_mbit);
    let (median, worst) =
        (published.median_error_before_plateau, published.worst_error_before_plateau);
    let percent = |share: Option<f64>| share.expect("a ramp") * 100.0;
    let inside = rows.iter().filter(|row| row.in_band).count();
    format!(
        "| {} | {theirs:.1} | {ours:.1} | {:+.2} % | {:.0} | {:.0} | {:.2} % | {:.2} % | {inside} of {} |\n",
        run.variant,
        (ours / theirs - 1.0) * 100.0,
        published.time_to_plateau_s.expect("a plateau"),
        run.flows[0].time_to_plateau_s.expect("a plateau"),
        percent(median),
        percent(worst),
        rows.len(),
    )
}

/// Shares of |error| that the ramps keep to: median and worst row. A row within the band of the
/// unknown phases may be further off.
const WORST: f64 = 0.08;
const MEDIAN: f64 = 0.02;

fn judge(run: &Run) {
    let published = run.published.as_ref().expect("published figures");
    let median = published.median_error_before_plateau.expect("a ramp");
    assert!(median < MEDIAN, "{}: median error {median}", run.variant);
    for row in published.rows.iter().filter(|row| row.ramp) {
        let close = row.in_band || row.error.abs() < WORST;
        assert!(close, "{}: row that ends at {} s: error {}", run.variant, row.end_s, row.error);
    }
    assert_eq!(run.flows[0].retransmitted_segments, 0, "{}", run.variant);
    assert!(run.expectations.iter().all(|e| e.passed), "{}: {:?}", run.variant, run.expectations);
}

#[test]
#[ignore = "a study: make studies"]
fn study_the_table_of_published_figures_comes_from_a_run() {
    let call = Desk::new().call(&["run", "fink-2007", "--json", "--quiet"]);
    let document: Document = serde_json::from_str(&call.stdout).expect("a document");
    document.runs.iter().for_each(judge);
    let rows: String = document.runs.iter().map(row).collect();
    marked::committed("README.md", "published-table", &format!("{HEADING}{rows}"));
}
