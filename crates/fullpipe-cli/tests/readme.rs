//! The README's table of published against simulated figures is what a run gives
//! (`FULLPIPE_BLESS=1` rewrites it).

mod common;
use common::Desk;
use serde_json::Value;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
const BEGIN: &str = "<!-- published-table -->\n";
const END: &str = "<!-- /published-table -->";

const HEADING: &str = "\
| run | mean, Mb/s: published | simulated | difference | 90 % of plateau after, s: published | simulated | ramp's seconds: median error | worst | in the band |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// Seconds until a published row reached 90 % of the published plateau's median.
fn published_time(rows: &[Value]) -> f64 {
    let rate = |row: &Value| number(&row["throughput_mbit"]);
    let mut plateau: Vec<f64> = rows.iter().filter(|row| row["ramp"] == false).map(rate).collect();
    plateau.sort_by(f64::total_cmp);
    let median = plateau.get(plateau.len() / 2).copied().unwrap_or(f64::NAN);
    rows.iter().find(|row| rate(row) >= 0.9 * median).map_or(f64::NAN, |row| number(&row["end_s"]))
}

fn row(run: &Value) -> String {
    let (flow, published) = (&run["flows"][0], &run["published"]);
    let rows = published["rows"].as_array().expect("published rows");
    let (theirs, ours) = (number(&published["total_mbit"]), number(&flow["mean_mbit"]));
    let percent = |name: &str| number(&published[name]) * 100.0;
    let inside = rows.iter().filter(|row| row["in_band"] == true).count();
    format!(
        "| {} | {theirs:.1} | {ours:.1} | {:+.2} % | {:.0} | {:.0} | {:.2} % | {:.2} % | {inside} of {} |\n",
        run["variant"].as_str().expect("a name"),
        (ours / theirs - 1.0) * 100.0,
        published_time(rows),
        number(&flow["time_to_plateau_s"]),
        percent("median_error_before_plateau"),
        percent("worst_error_before_plateau"),
        rows.len(),
    )
}

#[test]
fn the_table_of_published_figures_comes_from_a_run() {
    let call = Desk::new().call(&["run", "fink-2007", "--json", "--quiet"]);
    let document = call.json();
    let rows = document["runs"].as_array().expect("runs").iter().map(row);
    let table = format!("\n{HEADING}{}\n", rows.collect::<String>());
    assert!(!table.contains("NaN"), "{table}");
    let readme = std::fs::read_to_string(README).expect("the README");
    let (before, rest) = readme.split_once(BEGIN).expect("where the table begins");
    let (current, after) = rest.split_once(END).expect("where the table ends");
    if std::env::var_os("FULLPIPE_BLESS").is_some() {
        std::fs::write(README, format!("{before}{BEGIN}{table}{END}{after}")).expect("README");
    } else {
        assert_eq!(current, table, "FULLPIPE_BLESS=1 rewrites the table");
    }
}
