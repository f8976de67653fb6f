//! Comparisons of a run: with published figures, and with the scenario's expectations.

use super::Style;
use super::grid::{Column, lay_out, number, words, wrap};
use fullpipe_analysis::document::{Document, Expectation, Published, PublishedRow};
use fullpipe_analysis::numbers;

const COLUMNS: [Column; 7] = [
    number("to", "s"),
    number("published", "Mb/s"),
    number("simulated", "Mb/s"),
    number("diff", "%"),
    number("band low", "Mb/s"),
    number("high", "Mb/s"),
    words("row"),
];

/// Published rows compared with the simulated ones. The band spans all phases of the interval clock and of the path's
/// timers.
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

/// The published run in a few words: its mean with ours over the same rows, and how many rows lie in the band.
pub fn in_short(published: &Published) -> String {
    let (theirs, ours) = (published.rows_mbit, published.simulated_rows_mbit);

    // Rows without published data have no mean.
    let mean = (theirs > 0.0).then(|| {
        let difference = numbers::difference(ours / theirs - 1.0);
        format!(
            "published mean {}, simulated {} ({difference}); ",
            numbers::rate(theirs),
            numbers::rate(ours)
        )
    });
    let inside = published.rows.iter().filter(|row| row.in_band).count();
    let cut = if published.band_whole { "" } else { ", which is not whole: interrupted" };
    format!(
        "{}{inside} of {} rows in the band{cut}",
        mean.unwrap_or_default(),
        published.rows.len()
    )
}

/// The published run in one sentence: its time, its mean with ours over the same rows, the error of the rows of its
/// ramp, and the number of rows in the band.
pub fn sentence(published: &Published) -> String {
    let mut parts = Vec::new();

    // Each part is optional: figures differ in what they give.
    if let Some(time) = published.time_to_plateau_s {
        parts.push(format!("to 90 % {} s", numbers::fixed(time, 1)));
    }
    let (theirs, ours) = (published.rows_mbit, published.simulated_rows_mbit);
    if theirs > 0.0 {
        parts.push(format!(
            "mean {} Mb/s, simulated over the same rows {} ({})",
            numbers::fixed(theirs, 1),
            numbers::fixed(ours, 1),
            numbers::difference(ours / theirs - 1.0)
        ));
    }
    if let Some(median) = published.median_error_before_plateau {
        parts.push(format!("ramp's median error {}", percent(median)));
    }
    if let Some(worst) = published.worst_error_before_plateau {
        parts.push(format!("worst {}", percent(worst)));
    }
    let inside = published.rows.iter().filter(|row| row.in_band).count();
    let cut = if published.band_whole { "" } else { ", which is not whole: interrupted" };
    parts.push(format!("{inside} of {} rows in the band{cut}", published.rows.len()));
    format!("published: {}", parts.join(", "))
}

fn percent(share: f64) -> String {
    format!("{} %", numbers::fixed(share * 100.0, 2))
}

/// Number of expectations of all runs that hold; none where nothing was expected.
pub fn of_all(document: &Document, style: Style) -> Option<String> {
    let all = document.runs.iter().flat_map(|run| &run.expectations).count();
    (all > 0).then(|| summary(all, failures(document).len(), style))
}

/// Each expectation of all runs that does not hold, with its run where there are several.
pub fn failures(document: &Document) -> Vec<String> {
    let several = document.runs.len() > 1;
    let all = document.runs.iter().flat_map(|run| run.expectations.iter().map(move |e| (run, e)));
    let failed = all.filter(|(_, expectation)| !expectation.passed);
    failed
        .map(|(run, expectation)| match several {
            true => format!("{}: {}", run.variant, failure(expectation)),
            false => failure(expectation),
        })
        .collect()
}

fn summary(all: usize, failed: usize, style: Style) -> String {
    let text = format!("{} of {all} expectations hold", all - failed);
    if failed == 0 { style.good(&text) } else { style.bad(&text) }
}

fn failure(expectation: &Expectation) -> String {
    let Expectation { metric, detail, within, .. } = expectation;
    format!("FAILED {metric}: {detail}; {within} is allowed")
}

/// Number of expectations that hold, and each one that fails.
pub fn expectations(all: &[Expectation], style: Style) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let failed: Vec<&Expectation> = all.iter().filter(|e| !e.passed).collect();
    let mut lines = vec![String::new(), summary(all.len(), failed.len(), style)];
    for expectation in failed {
        let lines_of = wrap(&failure(expectation), "  ", style.columns());
        lines.extend(lines_of.iter().map(|line| style.bad(line)));
    }
    lines
}
