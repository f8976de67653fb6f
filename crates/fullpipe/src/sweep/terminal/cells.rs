//! The cells of a sweep: a line for each flow, below a line with the sum where there are several.

use crate::numbers::short;
use crate::report::terminal::Style;
use crate::report::terminal::grid::{Column, Table, fitted, number, words, wrap};
use crate::report::terminal::names::Name;
use crate::sweep::cells::{Cell, CellFlow};
use crate::sweep::estimate::Estimate;
use serde_json::{Map, Value};

/// Lines after which the table is the place to look.
pub const MOST_LINES: usize = 24;
/// Flows of a cell that each have a line; of more the text has the sum, the slowest and the fastest.
const EACH: usize = 4;

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
pub(in crate::sweep) fn table(cells: &[Cell]) -> Table {
    let rows = cells.iter().flat_map(|cell| of_cell(cell, usize::MAX)).collect();
    Table { heading: "Variants".into(), columns: &COLUMNS, rows, about: ABOUT }
}

/// The cells as text: settled rates with their 95 % intervals. `cells` are the first ones, `all` the lines of all.
pub fn cells(title: &str, cells: &[Cell], all: usize, style: Style) -> String {
    let mut lines = wrap(title, "", style.columns());
    lines.extend(axes(cells).iter().flat_map(|axes| wrap(axes, "  ", style.columns())));
    lines.push(String::new());
    let rows = cells.iter().flat_map(|cell| of_cell(cell, EACH));
    let rows: Vec<Vec<String>> = rows.take(MOST_LINES).collect();

    // Names go along with the lines, so that variants can be shortened.
    let names =
        cells.iter().flat_map(|cell| vec![Name::new(&cell.variant, &cell.at); lines_of(cell)]);
    let names: Vec<Name> = names.take(MOST_LINES).collect();
    lines.extend(fitted(&COLUMNS, rows, &names, style.columns()));
    if all > MOST_LINES {
        let text = format!("{} more lines: report.html, cells.json, results.csv", all - MOST_LINES);
        lines.extend(wrap(&text, "  ", style.columns()));
    }
    lines.push(String::new());
    lines.extend(wrap(ABOUT, "  ", style.columns()));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Names of the axes in the order of a point's values; none without axes.
pub(super) fn axes(cells: &[Cell]) -> Option<String> {
    let keys: Vec<&str> = cells.first()?.at.keys().map(String::as_str).collect();
    (!keys.is_empty()).then(|| format!("point: {}", keys.join(", ")))
}

/// Lines of a cell in a text.
pub fn lines_of(cell: &Cell) -> usize {
    match cell.flows.len() {
        0 | 1 => 1,
        flows if flows <= EACH => flows + 1,
        _ => 3,
    }
}

/// Lines of a cell; of more than `most` flows the sum, the slowest and the fastest.
fn of_cell(cell: &Cell, most: usize) -> Vec<Vec<String>> {
    let name = name(&cell.variant, &cell.at);
    if cell.flows.is_empty() {
        let failed = format!("{} failed", cell.failed);
        return vec![vec![name, failed]];
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    if cell.flows.len() > 1 {
        rows.push(sum(cell));
    }
    rows.extend(some(&cell.flows, most).into_iter().map(|flow| of_flow(flow, cell)));
    rows[0][0] = name;
    rows
}

/// The flows, or of more than `most` the slowest and the fastest.
fn some(flows: &[CellFlow], most: usize) -> Vec<&CellFlow> {
    if flows.len() <= most {
        return flows.iter().collect();
    }
    let by_rate =
        |a: &&CellFlow, b: &&CellFlow| a.settled_mbit.mean.total_cmp(&b.settled_mbit.mean);
    let ends = [flows.iter().min_by(by_rate), flows.iter().max_by(by_rate)];
    ends.into_iter().flatten().collect()
}

/// All flows of a cell together.
fn sum(cell: &Cell) -> Vec<String> {
    let resent = cell.flows.iter().map(|flow| flow.retransmitted.mean).sum();
    let steady = cell.flows.iter().map(|flow| flow.steady).min().unwrap_or(0);
    let rate = cell.sum_mbit.as_ref();
    vec![
        String::new(),
        format!("all {}", cell.flows.len()),
        rate.map_or_else(|| "–".into(), |rate| short(rate.mean)),
        rate.map_or_else(|| "–".into(), |rate| within(rate, cell)),
        short(resent),
        "–".into(),
        format!("{steady}/{}", cell.runs),
    ]
}

/// Variant and values of the axes.
pub(in crate::sweep) fn name(variant: &str, at: &Map<String, Value>) -> String {
    Name::new(variant, at).whole()
}

/// Half the width of an interval, in words where repetitions say nothing of how far runs are apart.
fn within(estimate: &Estimate, cell: &Cell) -> String {
    match estimate.within {
        Some(_) if cell.one_run => "alike".into(),
        Some(_) if estimate.min == estimate.max => "equal".into(),
        within => within.map_or_else(|| "–".into(), short),
    }
}

fn of_flow(flow: &CellFlow, cell: &Cell) -> Vec<String> {
    vec![
        String::new(),
        flow.name.clone(),
        short(flow.settled_mbit.mean),
        within(&flow.settled_mbit, cell),
        short(flow.retransmitted.mean),
        flow.srtt_ms.map_or_else(|| "–".into(), |srtt| short(srtt.mean)),
        format!("{}/{}", flow.steady, cell.runs),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cell(flows: usize) -> Cell {
        let estimate = |value: f64| Estimate::of(&[value, value + 2.0]).expect("values");
        let at = json!({ "path.loss": 1e-4, "path.delay": "10ms" });
        Cell {
            variant: "base".into(),
            at: at.as_object().expect("a point").clone(),
            runs: 2,
            sum_mbit: Some(estimate(500.0)),
            flows: (0..flows)
                .map(|n| CellFlow {
                    name: format!("bulk-{n}"),
                    congestion: "cubic".into(),
                    settled_mbit: estimate(10.0 * (n + 1) as f64),
                    steady: 2,
                    retransmitted: estimate(3.0),
                    srtt_ms: None,
                    law_mbit: None,
                    law_holds: false,
                    share: None,
                    variation: None,
                    limit: "link".into(),
                })
                .collect(),
            ..Cell::default()
        }
    }

    #[test]
    fn a_table_names_its_axes_and_sums_parallel_flows() {
        let cell = cell(8);
        assert_eq!(lines_of(&cell), 3);
        let style = Style { width: 80, color: false };
        let text = cells("A sweep", &[cell], 3, style);
        assert!(
            text.contains("point: path.delay, path.loss")
                || text.contains("point: path.loss, path.delay"),
            "{text}"
        );
        let rows: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|line| line.contains("2/2"))
            .collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert!(rows[0].contains("all 8 501 ") && rows[0].contains(" 32 – 2/2"), "{}", rows[0]);
        assert!(rows[1].starts_with("bulk-0 11 ") && rows[2].starts_with("bulk-7 81 "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
