//! Fate of packets that are no TCP segments.

use super::table::{Cell, Table, column};
use fullpipe_analysis::document::{Datagrams, Document, Run};

pub(super) fn tables(document: &Document) -> Vec<Table> {
    let rows = document.runs.iter().flat_map(|run| run.datagrams.iter().map(|own| row(run, own)));
    vec![Table {
        name: "datagrams",
        run: None,
        title: "Datagrams".to_string(),
        finding: "they have no congestion control, window or connection, so no cwnd, no limits and nothing sent again".into(),
        columns: vec![
            column("variant", ""),
            column("name", ""),
            column("kind", ""),
            column("sent", "packets"),
            column("refused", "packets"),
            column("received", "packets"),
            column("not delivered", "packets"),
            column("not delivered", "%"),
            column("lost", "packets"),
            column("lost", "%"),
            column("late", "packets"),
            column("twice", "packets"),
            column("no room", "packets"),
            column("mean", "Mb/s"),
            column("jitter", "ms"),
            column("min", "ms"),
            column("avg", "ms"),
            column("max", "ms"),
            column("mdev", "ms"),
        ],
        rows: rows.collect(),
    }]
}

fn row(run: &Run, own: &Datagrams) -> Vec<Cell> {
    let count = |count: Option<u64>| count.map_or(Cell::Absent, Cell::Count);
    let trips = own.rtt_ms;
    vec![
        Cell::text(&run.variant),
        Cell::text(&own.name),
        Cell::text(&own.kind),
        Cell::Count(own.sent),
        Cell::Count(own.refused),
        Cell::Count(own.received),
        Cell::Count(own.undelivered),
        Cell::number(Some(own.undelivered_share * 100.0), 2),
        Cell::Count(own.lost),
        Cell::number(Some(own.loss_share * 100.0), 2),
        count(own.reordered),
        Cell::Count(own.duplicates),
        count(own.rcvbuf_errors),
        Cell::number(own.mean_mbit, 1),
        Cell::number(own.jitter_ms, 3),
        Cell::number(trips.map(|t| t.min), 3),
        Cell::number(trips.map(|t| t.avg), 3),
        Cell::number(trips.map(|t| t.max), 3),
        Cell::number(trips.map(|t| t.mdev), 3),
    ]
}
