//! Tables as neutral data: one file each, and one list.

mod compared;
mod counters;
mod datagrams;
mod expectations;
mod findings;
mod flows;
mod messages;
mod nfs;
mod published;
mod shared;
mod slow_start;
mod stages;
mod table;

pub(super) use findings::NAME as FINDINGS;
pub(super) use slow_start::asks as asks_for_slow_start;
pub use table::{Cell, Column, Table};

use fullpipe_analysis::document::Document;

/// Every kind of table, in the order in which a report shows them.
const TABLES: [fn(&Document) -> Vec<Table>; 12] = [
    findings::tables,
    published::tables,
    expectations::tables,
    compared::tables,
    flows::tables,
    shared::tables,
    datagrams::tables,
    messages::tables,
    nfs::tables,
    slow_start::tables,
    stages::tables,
    counters::tables,
];

/// All tables of a document that have rows.
#[must_use]
pub fn all(document: &Document) -> Vec<Table> {
    TABLES
        .iter()
        .flat_map(|tables| tables(document))
        .filter(|table| !table.rows.is_empty())
        .collect()
}
