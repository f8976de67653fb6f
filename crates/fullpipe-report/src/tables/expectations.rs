//! The scenario's expectations, judged.

use super::table::{Cell, Table, column};
use fullpipe_analysis::document::{Document, Expectation, Run};
use fullpipe_analysis::numbers;

pub(super) fn tables(document: &Document) -> Vec<Table> {
    let all = || document.runs.iter().flat_map(|run| &run.expectations);
    let held = all().filter(|expectation| expectation.passed).count();
    let rows = document
        .runs
        .iter()
        .flat_map(|run| run.expectations.iter().map(|expectation| row(run, expectation)));
    vec![Table {
        name: "expectations",
        run: None,
        title: "Expectations of the scenario".to_string(),
        finding: format!("{held} of {} hold", all().count()),
        columns: vec![
            column("variant", ""),
            column("metric", ""),
            column("intervals", ""),
            column("expected", ""),
            column("measured", ""),
            column("within", ""),
            column("verdict", ""),
        ],
        rows: rows.collect(),
    }]
}

fn row(run: &Run, expectation: &Expectation) -> Vec<Cell> {
    let intervals = match expectation.interval {
        Some([first, end]) => format!("{first} up to {end}"),
        None => "whole run".to_string(),
    };
    vec![
        Cell::text(&run.variant),
        Cell::text(&expectation.metric),
        Cell::text(intervals),
        Cell::text(list(&expectation.expected)),
        Cell::text(list(&expectation.measured)),
        Cell::text(&expectation.within),
        Cell::Verdict { good: expectation.passed, text: expectation.detail.clone() },
    ]
}

fn list(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|value| numbers::short(*value)).collect();
    values.join(", ")
}
