//! What a run is compared with: published figures, and the scenario's expectations.

use super::Style;
use super::grid::{Column, lay_out, number, words, wrap};
use crate::analysis::document::{Expectation, Published, PublishedRow};
use crate::report::numbers;

const COLUMNS: [Column; 7] = [
    number("to", "s"),
    number("published", "Mb/s"),
    number("simulated", "Mb/s"),
    number("diff", "%"),
    number("band low", "Mb/s"),
    number("high", "Mb/s"),
    words("row"),
];

/// Published rows beside the simulated ones. The band spans all phases of the interval clock and
/// of the path's timers.
pub fn published(published: &Published, style: Style) -> Vec<String> {
    let text = format!("published: {}, {}", published.run, published.source);
    let mut lines = wrap(&text, "", style.columns());
    let rows: Vec<Vec<String>> = published.rows.iter().map(row).collect();
    let mut table = lay_out(&COLUMNS, &rows, style.columns()).into_iter();
    lines.extend(table.by_ref().take(2).map(|line| style.faint(&line)));
    lines.extend(table);
    lines
}

fn row(row: &PublishedRow) -> Vec<String> {
    let seconds = row.end_s - row.start_s;
    let rate = |bytes: u64| numbers::fixed(bytes as f64 * 8.0 / seconds / 1e6, 1);
    vec![
        numbers::fixed(row.end_s, 1),
        numbers::fixed(row.throughput_mbit, 1),
        rate(row.simulated_bytes),
        numbers::difference(row.error).trim_end_matches(" %").to_string(),
        rate(row.band_low),
        rate(row.band_high),
        nature(row),
    ]
}

fn nature(row: &PublishedRow) -> String {
    let mut words = vec![if row.ramp { "ramp" } else { "plateau" }];
    words.push(if row.in_band { "in band" } else { "off band" });
    if row.calibrated_on {
        words.push("calibrated");
    }
    words.join(", ")
}

/// How many expectations hold, and each one that does not.
pub fn expectations(all: &[Expectation], style: Style) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let failed: Vec<&Expectation> = all.iter().filter(|e| !e.passed).collect();
    let held = all.len() - failed.len();
    let text = format!("{held} of {} expectations hold", all.len());
    let summary = if failed.is_empty() { style.good(&text) } else { style.bad(&text) };
    let mut lines = vec![String::new(), summary];
    for expectation in failed {
        let Expectation { metric, detail, within, .. } = expectation;
        let text = format!("FAILED {metric}: {detail}; {within} is allowed");
        lines.extend(wrap(&text, "  ", style.columns()).iter().map(|line| style.bad(line)));
    }
    lines
}
