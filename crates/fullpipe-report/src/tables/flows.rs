//! All flows of all runs, one row each.

use super::table::{Cell, Table, column};
use crate::{happened, shares};
use fullpipe_analysis::document::{Document, Flow, Run};
use fullpipe_analysis::limits;
use fullpipe_analysis::numbers;
use fullpipe_analysis::scenario::shown;

pub(super) fn tables(document: &Document) -> Vec<Table> {
    let all = || document.runs.iter().flat_map(|run| run.flows.iter().map(move |f| (run, f)));
    let ends = all().filter_map(|(run, flow)| {
        let aborted = happened::aborted(flow.aborted.as_ref()?);
        Some(format!("{} / {}: {aborted}", run.variant, flow.name))
    });
    let rows = all().map(|(run, flow)| row(run, flow));
    vec![Table {
        name: "flows",
        run: None,
        title: "Flows".to_string(),
        finding: ends.collect::<Vec<_>>().join("; "),
        columns: vec![
            column("variant", ""),
            column("flow", ""),
            column("congestion", ""),
            column("kernel", ""),
            column("delivered", "bytes"),
            column("mean", "Mb/s"),
            column("plateau", "Mb/s"),
            column("to 90 %", "s"),
            column("retransmitted", "segments"),
            column("CPU, sender", "%"),
            column("CPU, receiver", "%"),
            column("held back by", ""),
            column("where cwnd was cut", ""),
        ],
        rows: rows.collect(),
    }]
}

fn row(run: &Run, flow: &Flow) -> Vec<Cell> {
    vec![
        Cell::text(&run.variant),
        Cell::text(&flow.name),
        Cell::text(&flow.congestion),
        Cell::text(shown(&flow.kernel)),
        Cell::Count(flow.bytes),
        Cell::number(Some(flow.mean_mbit), 1),
        Cell::number(flow.plateau_mbit, 1),
        Cell::number(flow.time_to_plateau_s, 1),
        Cell::Count(flow.retransmitted_segments),
        Cell::number(flow.cpu.map(|cpu| cpu.sender * 100.0), 0),
        Cell::number(flow.cpu.map(|cpu| cpu.receiver * 100.0), 0),
        Cell::Text(shares(flow)),
        Cell::Text(shares::reductions(run, flow).unwrap_or_default()),
    ]
}

/// All limits of a flow with their shares, largest first.
fn shares(flow: &Flow) -> String {
    let shares: Vec<String> = shares::ranked(&flow.limits)
        .into_iter()
        .map(|(name, share)| format!("{} {}", limits::label(name), numbers::share(share)))
        .collect();
    shares.join("; ")
}
