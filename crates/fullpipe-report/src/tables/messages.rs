//! Times of messages, with their answers.

use super::table::{Cell, Table, column};
use fullpipe_analysis::document::{Document, Flow, Messages, Run};

pub(super) fn tables(document: &Document) -> Vec<Table> {
    let flows = document.runs.iter().flat_map(|run| run.flows.iter().map(move |own| (run, own)));
    vec![Table {
        name: "messages",
        run: None,
        title: "Messages and their answers".to_string(),
        finding: "from the first byte of a request that is written to the last one of its answer that is read, or of the message itself where nobody answers"
            .into(),
        columns: vec![
            column("variant", ""),
            column("flow", ""),
            column("answers", ""),
            column("median", "ms"),
            column("95 % within", "ms"),
            column("longest", "ms"),
        ],
        rows: flows.filter_map(|(run, flow)| Some(row(run, flow, flow.messages?))).collect(),
    }]
}

fn row(run: &Run, flow: &Flow, own: Messages) -> Vec<Cell> {
    vec![
        Cell::text(&run.variant),
        Cell::text(&flow.name),
        Cell::Count(own.count),
        Cell::number(Some(own.median_ms), 3),
        Cell::number(Some(own.p95_ms), 3),
        Cell::number(Some(own.worst_ms), 3),
    ]
}
