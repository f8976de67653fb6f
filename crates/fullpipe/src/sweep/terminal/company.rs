//! Fairness of the flows in a sweep's cells, and their effects on each other.

use super::cells::name;
use crate::report::terminal::Style;
use crate::report::terminal::grid::{Column, Table, lay_out, number, words, wrap};
use crate::sweep::cells::{Cell, CellShared};
use crate::sweep::competition::Company;
use crate::sweep::estimate::Estimate;

/// Most rows of a table in a text.
const MOST: usize = 6;

static SHARED: [Column; 5] = [
    words("variant and point"),
    number("Jain", ""),
    number("2nd half", ""),
    number("converged", "s"),
    number("RTT^-k", ""),
];

static COMPANY: [Column; 6] = [
    words("variant and point"),
    words("flow"),
    number("friendly", ""),
    number("rate", "harm"),
    number("delay", "harm"),
    number("loss", "harm"),
];

/// Two tables with 95 % intervals, each where there is something in it.
pub fn company(cells: &[Cell], company: &[Company], style: Style) -> String {
    let mut lines = Vec::new();
    for table in tables(cells, company) {
        let rows = &table.rows[..table.rows.len().min(MOST)];
        lines.push(String::new());
        lines.extend(lay_out(table.columns, rows, style.columns()));
        if table.rows.len() > MOST {
            lines
                .push(format!("  {} more lines: report.html, cells.json", table.rows.len() - MOST));
        }
        lines.push(String::new());
        lines.extend(wrap(table.about, "  ", style.columns()));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The tables, each where there is something in it.
pub(in crate::sweep) fn tables(cells: &[Cell], company: &[Company]) -> Vec<Table> {
    let shared = cells.iter().filter_map(|cell| Some(of_cell(cell, cell.fairness.as_ref()?)));
    let company = company.iter().map(of_company);
    let table = |heading: &str, columns, rows: Vec<_>, about| Table {
        heading: heading.into(),
        columns,
        rows,
        about,
    };
    let all = [
        table("How flows share the path", &SHARED[..], shared.collect(), ABOUT_SHARED),
        table("What flows do to each other", &COMPANY[..], company.collect(), ABOUT),
    ];
    all.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

const ABOUT_SHARED: &str = "Jain: index of the flows' rates while all live (1: equal); converged: repetitions in which it is 0.95 over 10 s, \
                            for 20 s, and when (–: the flows live together for less than these 30 s, too short to see it); RTT^-k: exponent of the rate. docs/competition.md";
const ABOUT: &str = "friendly: the flow's rate beside the others over that beside its like; harm: what it loses beside being alone \
                     (0: nothing, 1: all). docs/competition.md";

fn of_cell(cell: &Cell, all: &CellShared) -> Vec<String> {
    let converged = match all.converged_s {
        Some(time) => format!("{}/{} {}", all.converged, cell.runs, with_range(Some(time), 1)),
        None if all.too_short == cell.runs => "–".into(),
        None => format!("0/{}", cell.runs),
    };
    vec![
        name(&cell.variant, &cell.at),
        with_range(Some(all.jain), 3),
        with_range(all.jain_settled, 3),
        converged,
        with_range(all.rtt_exponent, 2),
    ]
}

fn of_company(own: &Company) -> Vec<String> {
    let harm = own.harm.as_ref();
    vec![
        name(&own.variant, &own.at),
        own.flow.clone(),
        with_range(own.friendliness, 2),
        with_range(harm.map(|harm| harm.throughput), 2),
        with_range(harm.and_then(|harm| harm.delay), 2),
        with_range(harm.and_then(|harm| harm.loss), 2),
    ]
}

/// A mean with half its interval's width.
fn with_range(estimate: Option<Estimate>, digits: usize) -> String {
    let Some(estimate) = estimate else { return "–".into() };
    let mean = format!("{:.digits$}", estimate.mean);
    estimate.within.map_or(mean.clone(), |within| format!("{mean}±{within:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_there_is_is_shown() {
        let style = Style { width: 80, color: false };
        assert_eq!(company(&[Cell::default()], &[], style), "");
        let jain = Estimate::of(&[0.9, 0.98]).expect("values");
        let dropped = Estimate::of(&[0.0]).expect("a value");
        let cell = Cell {
            variant: "cubic".into(),
            runs: 2,
            fairness: Some(CellShared {
                jain,
                jain_settled: None,
                converged: 1,
                converged_s: Estimate::of(&[12.5]),
                too_short: 0,
                rtt_exponent: None,
                dropped,
                queue: None,
            }),
            ..Cell::default()
        };
        let text = company(&[cell], &[], style);
        // Half of 0.08 times 12.706.
        assert!(text.contains("cubic") && text.contains("0.940±0.508"), "{text}");
        assert!(text.contains("1/2 12.5") && !text.contains("friendly"), "{text}");
    }
}
