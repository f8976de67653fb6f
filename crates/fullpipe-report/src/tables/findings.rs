//! Findings of each run: cause, share, certainty, evidence, cure.

use super::table::{Cell, Table, column};
use crate::shares::certainty;
use fullpipe_analysis::document::{Document, Finding, Run};
use fullpipe_analysis::rules::DROPS;

/// Name of the table.
pub(crate) const NAME: &str = "findings";

/// Table of all runs, with the cause that a headline names first.
pub(super) fn tables(document: &Document) -> Vec<Table> {
    let all =
        || document.runs.iter().flat_map(|run| run.findings.iter().map(move |own| (run, own)));

    // Views of sockets alone have twins: the column would be empty elsewhere.
    let has_twins = all().any(|(_, own)| !own.twins.is_empty());
    let finding = match all().count() {
        1 => "1 cause".to_string(),
        n => format!("{n} causes"),
    };
    let mut columns = vec![
        column("variant", ""),
        column("cause", ""),
        column("evidence", ""),
        column("what to do", ""),
        column("group", ""),
        column("time", "%"),
        column("certainty", ""),
        column("more", ""),
    ];
    if has_twins {
        columns.push(column("looks the same", ""));
    }
    vec![Table {
        name: NAME,
        run: None,
        title: "Findings".to_string(),
        finding,
        columns,
        rows: all().map(|(run, own)| row(run, own, has_twins)).collect(),
    }]
}

/// A finding; with its twins where any finding has some.
fn row(run: &Run, own: &Finding, has_twins: bool) -> Vec<Cell> {
    let words = |text: &Option<String>| text.as_ref().map_or(Cell::Absent, Cell::text);
    let evidence = Some(own.evidence.join("; ")).filter(|text| !text.is_empty());
    let mut cells = vec![
        Cell::text(&run.variant),
        Cell::text(&own.cause),
        words(&evidence),
        words(&own.remedy),
        Cell::text(&own.group),
        // Datagrams have no life: their cause says how many are dropped.
        Cell::number(Some(own.share_of_time * 100.0).filter(|_| own.rule != DROPS), 0),
        Cell::text(certainty(own.confidence)),
        Cell::text(format!("fullpipe explain {}", own.code)),
    ];
    if has_twins {
        cells.push(twins(own));
    }
    cells
}

/// Causes that look the same, and the observation that decides.
fn twins(own: &Finding) -> Cell {
    match own.would_decide.as_ref().filter(|_| !own.twins.is_empty()) {
        Some(decides) => Cell::text(format!("{}. {decides}", own.twins.join(", "))),
        None => Cell::Absent,
    }
}
