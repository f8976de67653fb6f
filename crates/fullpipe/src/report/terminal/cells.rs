//! The cells of a sweep, a line for each flow.

use super::Style;
use super::grid::{Column, Table, fitted, number, words, wrap};
use super::names::Name;
use crate::report::numbers::short;
use crate::sweep::cells::{Cell, CellFlow};
use crate::sweep::estimate::Estimate;
use serde_json::{Map, Value};

/// Lines after which the table is the place to look.
pub const MOST_LINES: usize = 60;

static COLUMNS: [Column; 7] = [
    words("variant and point"),
    words("flow"),
    number("rate", "Mb/s"),
    number("within", "Mb/s"),
    number("resent", "segs"),
    number("srtt", "ms"),
    words("steady"),
];

const ABOUT: &str = "rate: mean over repetitions of the rate in the second half of a flow's life; within: its 95 % confidence \
                interval (Student's t), equal: all rates are, alike: repetitions are one run; steady: repetitions with 30 loss epochs in that half, or with even rates in the last three quarters";

/// All cells.
pub(in crate::report) fn table(cells: &[Cell]) -> Table {
    let rows = cells.iter().flat_map(of_cell).collect();
    Table { heading: "Variants".into(), columns: &COLUMNS, rows, about: ABOUT }
}

/// The cells as text: settled rates with their 95 % intervals. `cells` are the first ones, `all` the lines of all.
pub fn cells(title: &str, cells: &[Cell], all: usize, style: Style) -> String {
    let mut lines = wrap(title, "", style.columns());
    lines.push(String::new());
    let rows: Vec<Vec<String>> = cells.iter().flat_map(of_cell).take(MOST_LINES).collect();
    let names = cells
        .iter()
        .flat_map(|cell| vec![Name::new(&cell.variant, &cell.at); cell.flows.len().max(1)]);
    let names: Vec<Name> = names.take(MOST_LINES).collect();
    lines.extend(fitted(&COLUMNS, rows, &names, style.columns()));
    if all > MOST_LINES {
        let text = format!("{} more lines: cells.json, results.csv", all - MOST_LINES);
        lines.extend(wrap(&text, "  ", style.columns()));
    }
    lines.push(String::new());
    lines.extend(wrap(ABOUT, "  ", style.columns()));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn of_cell(cell: &Cell) -> Vec<Vec<String>> {
    let name = name(&cell.variant, &cell.at);
    if cell.flows.is_empty() {
        let failed = format!("{} failed", cell.failed);
        return vec![vec![name, failed]];
    }
    let line = |(n, flow): (usize, &CellFlow)| {
        let name = if n == 0 { name.clone() } else { String::new() };
        of_flow(name, flow, cell)
    };
    cell.flows.iter().enumerate().map(line).collect()
}

/// Variant and values of the axes.
pub(in crate::report) fn name(variant: &str, at: &Map<String, Value>) -> String {
    Name::new(variant, at).whole()
}

fn of_flow(name: String, flow: &CellFlow, cell: &Cell) -> Vec<String> {
    let within = |estimate: &Estimate| match estimate.within {
        // Repetitions that are one run say nothing of how far runs are apart.
        Some(_) if cell.one_run => "alike".into(),
        Some(_) if estimate.min == estimate.max => "equal".into(),
        within => within.map_or_else(|| "–".into(), short),
    };
    vec![
        name,
        flow.name.clone(),
        short(flow.settled_mbit.mean),
        within(&flow.settled_mbit),
        short(flow.retransmitted.mean),
        flow.srtt_ms.map_or_else(|| "–".into(), |srtt| short(srtt.mean)),
        format!("{}/{}", flow.steady, cell.runs),
    ]
}
