//! Fairness of the flows on a path.

use super::table::{Cell, Table, column};
use fullpipe_analysis::document::{Document, Run};
use fullpipe_analysis::fairness::{Fairness, Part};

pub(super) fn tables(document: &Document) -> Vec<Table> {
    vec![of_runs(document), of_flows(document)]
}

/// Runs with their fairness.
fn shared(document: &Document) -> impl Iterator<Item = (&Run, &Fairness)> {
    document.runs.iter().filter_map(|run| Some((run, run.fairness.as_ref()?)))
}

fn of_runs(document: &Document) -> Table {
    Table {
        name: "fairness",
        run: None,
        title: "How flows share the path".to_string(),
        finding: "Jain's index of the flows' rates while all live: 1 where they are equal; converged: it is 0.95 over 10 s, for \
                  20 s, and over the second half".into(),
        columns: vec![
            column("variant", ""),
            column("from", "s"),
            column("to", "s"),
            column("Jain", ""),
            column("second half", ""),
            column("converged", "s"),
            column("RTT^-k", ""),
            column("dropped", "packets"),
            column("queue", "packets"),
        ],
        rows: shared(document).map(|(run, all)| row(run, all)).collect(),
    }
}

fn row(run: &Run, all: &Fairness) -> Vec<Cell> {
    vec![
        Cell::text(&run.variant),
        Cell::number(Some(all.start_s), 1),
        Cell::number(Some(all.end_s), 1),
        Cell::number(Some(all.jain), 3),
        Cell::number(all.jain_settled, 3),
        Cell::number(all.converged_s, 1),
        Cell::number(all.rtt_exponent, 2),
        Cell::Count(all.dropped),
        Cell::number(all.queue, 0),
    ]
}

fn of_flows(document: &Document) -> Table {
    let rows = shared(document).flat_map(|(run, all)| all.flows.iter().map(|own| part(run, own)));
    Table {
        name: "shares",
        run: None,
        title: "Shares of flows".to_string(),
        finding: "while all live; settled and variation over the second half of that time".into(),
        columns: vec![
            column("variant", ""),
            column("flow", ""),
            column("mean", "Mb/s"),
            column("settled", "Mb/s"),
            column("share", "%"),
            column("variation", ""),
            column("sent again", "%"),
            column("mean srtt", "ms"),
        ],
        rows: rows.collect(),
    }
}

fn part(run: &Run, own: &Part) -> Vec<Cell> {
    vec![
        Cell::text(&run.variant),
        Cell::text(&own.name),
        Cell::number(Some(own.mbit), 1),
        Cell::number(Some(own.settled_mbit), 1),
        Cell::number(Some(own.share * 100.0), 1),
        Cell::number(own.variation, 3),
        Cell::number(Some(own.retransmitted_share * 100.0), 3),
        Cell::number(own.srtt_ms, 2),
    ]
}
