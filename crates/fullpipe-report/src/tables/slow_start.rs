//! Results of slow start, where a scenario asks for them.

use super::table::{Cell, Table, column};
use fullpipe_analysis::document::{Document, Flow, Run};
use fullpipe_analysis::numbers;

/// Whether a key that the run changed names a slow start.
pub(crate) fn asks(run: &Run) -> bool {
    run.set.keys().any(|key| key.contains(".slow_start"))
}

pub(super) fn tables(document: &Document) -> Vec<Table> {
    // Runs that choose no slow start would only lengthen the table.
    let runs = document.runs.iter().filter(|run| asks(run));
    let rows = runs.flat_map(|run| run.flows.iter().filter_map(move |flow| row(run, flow)));
    vec![Table {
        name: "slow-start",
        run: None,
        title: "Slow start".to_string(),
        finding: String::new(),
        columns: vec![
            column("variant", ""),
            column("flow", ""),
            column("to full rate", "s"),
            column("ended", "s"),
            column("largest cwnd", "packets"),
            column("lost", "segments"),
            column("queued", "ms"),
            column("mean", "Mb/s"),
        ],
        rows: rows.collect(),
    }]
}

fn row(run: &Run, flow: &Flow) -> Option<Vec<Cell>> {
    let slow_start = flow.slow_start?;

    // Losses of slow start are bad news, and shown as such.
    let lost = match slow_start.retransmitted_segments {
        0 => Cell::Count(0),
        lost => Cell::Verdict { good: false, text: numbers::count(lost) },
    };
    Some(vec![
        Cell::text(&run.variant),
        Cell::text(&flow.name),
        Cell::number(flow.time_to_full_rate_s, 1),
        Cell::number(slow_start.ended_s, 2),
        Cell::Count(slow_start.cwnd.into()),
        lost,
        Cell::number(Some(slow_start.queued_s * 1e3), 1),
        Cell::number(Some(flow.mean_mbit), 1),
    ])
}
