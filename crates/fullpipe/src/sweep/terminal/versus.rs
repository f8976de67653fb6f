//! Expectations of two variants of a sweep.

use super::cells::name;
use crate::numbers;
use crate::report::terminal::Style;
use crate::report::terminal::grid::{Column, Table, lay_out, number, words, wrap};
use crate::sweep::versus::Judged;

/// Lines after which the cells' file is the place to look.
const MOST: usize = 12;

static COLUMNS: [Column; 6] = [
    words("variant and point"),
    words("is"),
    words("than"),
    number("by", ""),
    number("within", ""),
    words(""),
];

const ABOUT: &str = "by: mean over repetitions of the difference; within: its 95 % confidence interval; all of it has to be on that side";

/// A table by metric; nothing where nothing was expected.
pub fn versus(all: &[Judged], style: Style) -> String {
    let mut lines = Vec::new();
    for table in tables(all) {
        let rows = &table.rows[..table.rows.len().min(MOST)];
        lines.extend([String::new(), format!("  {}", table.heading)]);
        lines.extend(lay_out(table.columns, rows, style.columns()));
        if table.rows.len() > MOST {
            lines
                .push(format!("  {} more lines: report.html, cells.json", table.rows.len() - MOST));
        }
    }
    if !lines.is_empty() {
        lines.push(String::new());
        lines.extend(wrap(ABOUT, "  ", style.columns()));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A table for each metric; the last one explains all of them.
pub(in crate::sweep) fn tables(all: &[Judged]) -> Vec<Table> {
    let mut metrics: Vec<&str> = Vec::new();

    // Metrics in the scenario's order.
    for own in all {
        if !metrics.contains(&&*own.expected.metric) {
            metrics.push(&own.expected.metric);
        }
    }

    // The explanation is the same for all: it stands once.
    let last = metrics.len().saturating_sub(1);
    metrics
        .iter()
        .enumerate()
        .map(|(n, metric)| Table {
            heading: format!("expected: {metric}"),
            columns: &COLUMNS,
            rows: all.iter().filter(|own| own.expected.metric == *metric).map(row).collect(),
            about: if n == last { ABOUT } else { "" },
        })
        .collect()
}

fn row(own: &Judged) -> Vec<String> {
    let short = |value: Option<f64>| value.map_or_else(|| "–".into(), numbers::short);
    vec![
        name(&own.expected.variant, &own.point),
        own.expected.side.name().into(),
        own.expected.other.clone(),
        short(own.difference.map(|found| found.mean)),
        short(own.difference.and_then(|found| found.within)),
        if own.passed { "holds" } else { "FAILED" }.into(),
    ]
}
