//! Published intervals compared with the simulated ones, one table per run.

use super::table::{Cell, Table, column};
use fullpipe_analysis::document::{Document, Published, PublishedRow};
use fullpipe_analysis::numbers;

const MIB: f64 = 1_048_576.0;

pub(super) fn tables(document: &Document) -> Vec<Table> {
    let runs = document.runs.iter().enumerate();

    // Each run with published figures gets a table of its own.
    runs.filter_map(|(index, run)| {
        let published = run.published.as_ref()?;
        Some(Table {
            name: "published",
            run: Some(index),
            title: format!("{}: published against simulated", run.variant),
            finding: finding(published),
            columns: vec![
                column("from", "s"),
                column("to", "s"),
                column("published", "MiB"),
                column("simulated", "MiB"),
                column("difference", "%"),
                column("band, low", "MiB"),
                column("band, high", "MiB"),
                column("published", "Mb/s"),
                column("phase", ""),
                column("within the band", ""),
            ],
            rows: published.rows.iter().map(row).collect(),
        })
    })
    .collect()
}

fn row(row: &PublishedRow) -> Vec<Cell> {
    let mib = |bytes: u64| Cell::number(Some(bytes as f64 / MIB), 2);
    vec![
        time(row.start_s),
        time(row.end_s),
        mib(row.bytes),
        mib(row.simulated_bytes),
        Cell::Difference(row.error),
        mib(row.band_low),
        mib(row.band_high),
        Cell::number(Some(row.throughput_mbit), 1),
        Cell::text(phase(row)),
        Cell::Verdict {
            good: row.in_band,
            text: if row.in_band { "yes" } else { "no" }.to_string(),
        },
    ]
}

/// Time in whole seconds without decimals, other times with two.
fn time(seconds: f64) -> Cell {
    let decimals = if seconds.fract() == 0.0 { 0 } else { 2 };
    Cell::number(Some(seconds), decimals)
}

/// Use of the row.
fn phase(row: &PublishedRow) -> &'static str {
    match (row.ramp, row.calibrated_on) {
        (true, false) => "ramp",
        (true, true) => "ramp, calibrated on",
        (false, false) => "plateau",
        (false, true) => "plateau, calibrated on",
    }
}

fn finding(published: &Published) -> String {
    let mut parts = Vec::new();
    if let Some(median) = published.median_error_before_plateau {
        parts.push(format!("median error before the plateau {}", numbers::share(median)));
    }
    if let Some(worst) = published.worst_error_before_plateau {
        parts.push(format!("worst {}", numbers::share(worst)));
    }
    let inside = published.rows.iter().filter(|row| row.in_band).count();
    parts.push(format!("{inside} of {} rows in the band", published.rows.len()));
    parts.push(format!("{}, {}", published.run, published.source));
    parts.join("; ")
}
