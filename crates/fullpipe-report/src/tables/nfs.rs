//! Fate of files on NFS mounts.

use super::table::{Cell, Table, column};
use fullpipe_analysis::document::{Document, Nfs, Run};

pub(super) fn tables(document: &Document) -> Vec<Table> {
    let rows = document.runs.iter().flat_map(|run| run.nfs.iter().map(|own| row(run, own)));
    vec![Table {
        name: "nfs",
        run: None,
        title: "Files on NFS mounts".to_string(),
        finding:
            "from the first call of a program until the last file is written to the server, or read"
                .into(),
        columns: vec![
            column("variant", ""),
            column("name", ""),
            column("version", ""),
            column("operation", ""),
            column("files", "bytes"),
            column("took", "s"),
            column("mean", "Mb/s"),
            column("requests", ""),
            column("until sent", "ms"),
            column("until answered", "ms"),
        ],
        rows: rows.collect(),
    }]
}

fn row(run: &Run, own: &Nfs) -> Vec<Cell> {
    let requests = own.requests;
    vec![
        Cell::text(&run.variant),
        Cell::text(&own.name),
        Cell::text(&own.version),
        Cell::text(&own.operation),
        Cell::Count(own.bytes),
        Cell::number(own.took_s, 3),
        Cell::number(own.mean_mbit, 1),
        requests.map_or(Cell::Absent, |requests| Cell::Count(requests.count)),
        Cell::number(requests.map(|requests| requests.mean_queue_ms), 1),
        Cell::number(requests.map(|requests| requests.mean_rtt_ms), 1),
    ]
}
