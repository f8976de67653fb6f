//! Where packets waited or were dropped, one table per run, in the packets' order.

use super::table::{Cell, Table, column};
use crate::picture::counted;
use fullpipe_analysis::document::{Document, Run, Stage};
use fullpipe_analysis::numbers;

pub(super) fn tables(document: &Document) -> Vec<Table> {
    let runs = document.runs.iter().enumerate();
    // Queues mark only where a discipline and the flows know ECN.
    let stages = || document.runs.iter().flat_map(|run| &run.stages);

    // Columns that are 0 in all runs are left out.
    let marks = stages().any(|stage| stage.marked > 0);
    let requeues = stages().any(|stage| stage.requeues > 0);
    runs.map(|(index, run)| Table {
        name: "stages",
        run: Some(index),
        title: format!("{}: where packets waited", run.variant),
        finding: finding(run),
        columns: [
            column("stage", ""),
            column("direction", ""),
            column("unit", ""),
            column("capacity", "units"),
            column("peak", "units"),
            column("mean", "units"),
            column("dropped", "units"),
            column("waiting at the end", "units"),
            column("passed", "units"),
            column("busy", "s"),
            column("blocked", "s"),
        ]
        .into_iter()
        .chain(marks.then(|| column("marked", "units")))
        .chain(requeues.then(|| column("requeued", "skbs")))
        .collect(),
        rows: run.stages.iter().map(|stage| row(stage, marks, requeues)).collect(),
    })
    .collect()
}

fn row(stage: &Stage, marks: bool, requeues: bool) -> Vec<Cell> {
    let cells = [
        Cell::text(&stage.name),
        Cell::text(&stage.direction),
        Cell::text(unit(stage)),
        stage.capacity.map_or(Cell::Absent, Cell::Count),
        Cell::Count(stage.peak),
        Cell::number(Some(stage.mean_waiting), 1),
        drops(stage.dropped),
        Cell::Count(stage.waiting),
        Cell::Count(stage.left),
        Cell::number(Some(stage.busy_s), 3),
        Cell::number(Some(stage.blocked_s), 3),
    ];
    let marked = marks.then_some(Cell::Count(stage.marked));
    let requeued = requeues.then_some(Cell::Count(stage.requeues));
    cells.into_iter().chain(marked).chain(requeued).collect()
}

/// Unit of the stage's numbers.
fn unit(stage: &Stage) -> String {
    match counted(stage) {
        counted if counted != stage.unit => format!("{counted}, capacity: {}", stage.unit),
        counted => counted.into(),
    }
}

/// Drops deserve an eye; none do not.
fn drops(dropped: u64) -> Cell {
    match dropped {
        0 => Cell::Count(0),
        dropped => Cell::Verdict { good: false, text: numbers::count(dropped) },
    }
}

/// Whether a stage was full at times, by its picture or by its peak.
fn was_full(run: &Run, stage: &Stage) -> bool {
    let place = run.picture.places.iter().find(|place| place.stage == stage.name);
    let filled = place.and_then(|place| place.full).is_some_and(|share| share > 0.0);
    let capacity = stage.capacity.filter(|_| counted(stage) == stage.unit);
    filled || capacity.is_some_and(|capacity| stage.peak >= capacity)
}

fn finding(run: &Run) -> String {
    let dropped: u64 = run.stages.iter().map(|stage| stage.dropped).fold(0, u64::saturating_add);
    let full = run.stages.iter().filter(|stage| was_full(run, stage));
    let full: Vec<&str> = full.map(|stage| stage.name.as_str()).collect();
    let drops = match dropped {
        0 => "nothing dropped".to_string(),
        dropped => format!("{} dropped", numbers::count(dropped)),
    };
    let full = match full.as_slice() {
        [] => "no stage was ever full".to_string(),
        names => format!("full at times: {}", names.join(", ")),
    };

    // An idle qdisc may surprise: its limit never acted.
    match run.idle_qdiscs.as_slice() {
        [] => format!("{drops}; {full}"),
        idle => format!(
            "{drops}; {full}; no packet waited in {}, as the ring took all",
            idle.join(", ")
        ),
    }
}
