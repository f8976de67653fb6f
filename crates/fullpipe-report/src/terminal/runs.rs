//! The table of runs: a row for each run, or a matrix of many.

use super::Style;
use super::grid::{Column, lay_out, number, words, wrap};
use super::sections::Section;
use crate::labels::distinct_labels;
use crate::matrix::Matrix;
use crate::overview::{self, Row};
use fullpipe_analysis::document::{Document, Run};
use fullpipe_analysis::limits;
use fullpipe_analysis::numbers;

/// Number of runs from which on a matrix replaces the rows, where the scenario has axes.
const ROWS: usize = 6;
/// Most lines of either.
const MOST: usize = 26;
/// Room for a name in front of the numbers.
const NAME: usize = 24;
const NAME_OF_CROWD: usize = 14;
/// Longest label of a matrix's column.
const LABEL: usize = 16;

const ALONE: [Column; 6] = [
    words("run"),
    number("rate", "Mb/s"),
    number("of path", "%"),
    number("to 90 %", "s"),
    number("resent", "segs"),
    words("held back by"),
];

const CROWD: [Column; 8] = [
    words("run"),
    number("flows", ""),
    number("sum", "Mb/s"),
    number("of path", "%"),
    number("least", "Mb/s"),
    number("median", "Mb/s"),
    number("most", "Mb/s"),
    number("resent", "segs"),
];

/// The table under its heading.
pub fn section(document: &Document, style: Style) -> Section {
    if let Some(matrix) = matrix(document, style) {
        return matrix;
    }

    // Runs with crowds need columns for the spread between flows.
    let rows = overview::rows(document);
    let crowded = rows.iter().any(|row| row.spread_mbit().is_some());
    let columns: Vec<Column> = match (crowded, style.wide()) {
        (false, _) => ALONE.into(),
        (true, false) => CROWD.into(),
        (true, true) => CROWD.into_iter().chain([words("held back by")]).collect(),
    };
    let room = if crowded && !style.wide() { NAME_OF_CROWD } else { NAME };
    let cells: Vec<Vec<String>> = rows.iter().map(|own| row(own, crowded, room, style)).collect();

    let mut table = lay_out(&columns, &cells, style.columns()).into_iter();
    let head: Vec<String> = table.by_ref().take(2).map(|line| style.faint(&line)).collect();

    // A name that does not fit stands in a line above its row.
    let items = rows.iter().zip(table).map(|(own, line)| {
        let name = label(own);
        let mut lines = Vec::new();
        if name.chars().count() > room {
            lines.extend(wrap(&name, "  ", style.columns()));
        }
        lines.push(line);
        lines
    });
    let items = by_run(&rows, items.collect());
    Section { head, ..Section::items(items, MOST, "runs") }
}

/// Rows of one run as one item.
fn by_run(rows: &[Row], lines: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut items: Vec<Vec<String>> = Vec::new();
    let mut last: Option<&Run> = None;
    for (row, lines) in rows.iter().zip(lines) {
        match items.last_mut().filter(|_| last.is_some_and(|run| std::ptr::eq(run, row.run))) {
            Some(item) => item.extend(lines),
            None => items.push(lines),
        }
        last = Some(row.run);
    }
    items
}

/// Name of a run, or of a part of it.
fn label(row: &Row) -> String {
    let partial = if row.run.partial { " (partial)" } else { "" };
    match (row.is_part(), row.name()) {
        (true, name) => format!("  {name}"),
        (false, name) if name.is_empty() => format!("{}{partial}", row.run.variant),
        (false, name) => format!("{}{partial} / {name}", row.run.variant),
    }
}

fn row(own: &Row, crowded: bool, room: usize, style: Style) -> Vec<String> {
    let optional = |value: Option<f64>| value.map_or(numbers::ABSENT.into(), rate);
    let name = Some(label(own)).filter(|name| name.chars().count() <= room).unwrap_or_default();
    let share = own.share().map_or(numbers::ABSENT.into(), percent);
    let resent = numbers::count(own.resent());

    // A single flow has a time to its plateau instead of a spread.
    if !crowded {
        let time = own.flows().first().and_then(|flow| flow.time_to_plateau_s);
        let time = time.map_or(numbers::ABSENT.into(), |time| numbers::fixed(time, 1));
        return vec![name, optional(own.rate_mbit()), share, time, resent, held_back(own)];
    }
    let flows =
        if own.flows().is_empty() { numbers::ABSENT.into() } else { own.flows().len().to_string() };
    let mut row = vec![name, flows, optional(own.rate_mbit()), share];
    match own.spread_mbit() {
        Some(spread) => row.extend(spread.map(rate)),
        None => row.extend([(); 3].map(|()| numbers::ABSENT.to_string())),
    }
    row.push(resent);
    if style.wide() {
        row.push(held_back(own));
    }
    row
}

fn rate(mbit: f64) -> String {
    numbers::fixed(mbit, if mbit >= 1000.0 { 0 } else { 1 })
}

fn percent(share: f64) -> String {
    numbers::share(share).trim_end_matches(" %").to_string()
}

/// The largest limit and its share; unknown where a run is seen through sockets.
fn held_back(row: &Row) -> String {
    match row.limits().first() {
        Some((name, share)) if row.run.view.is_none() => {
            format!("{} {}", limits::label(name), numbers::share(*share))
        }
        _ => numbers::ABSENT.into(),
    }
}

/// Many runs over the axes of their scenario; none where there are few, or where no axis makes columns that fit the width.
fn matrix(document: &Document, style: Style) -> Option<Section> {
    // A few runs fit into the plain table, which shows more of each.
    if document.runs.len() <= ROWS {
        return None;
    }
    let matrix = Matrix::of(document);
    if matrix.columns.len() < 2 {
        return None;
    }

    // Rates stand in where some path has no known share.
    let known = document.runs.iter().all(|run| overview::share(run).is_some());
    let labels = short(&matrix.columns);
    let first = if matrix.rows_are.is_empty() { "run" } else { &matrix.rows_are[..] };
    let header = [vec![first.to_string()], labels].concat();
    let mut rows = vec![header];
    for (label, cells) in &matrix.rows {
        let values = cells.iter().map(|run| match run.map(|run| &document.runs[run]) {
            Some(run) => value(run, known),
            None => String::new(),
        });
        rows.push(std::iter::once(label.clone()).chain(values).collect());
    }

    let mut columns = vec![words("")];
    columns.extend(matrix.columns.iter().map(|_| number("", "")));
    let lines: Vec<String> =
        lay_out(&columns, &rows, style.columns()).into_iter().skip(2).collect();

    // A matrix wider than the terminal would wrap: the plain table is better.
    if lines.iter().any(|line| line.chars().count() > style.columns()) {
        return None;
    }
    let what = if known { "share of what the path allows, %" } else { "rate, Mb/s" };
    let about = format!("{what}; columns: {}", matrix.columns_are);
    let mut head = wrap(&about, "", style.columns());
    head.push(style.faint(&lines[0]));
    let items = lines[1..].iter().map(|line| vec![line.clone()]).collect();
    Some(Section { head, ..Section::items(items, MOST, "rows") })
}

/// The share of a run, or its rate.
fn value(run: &Run, share: bool) -> String {
    let value =
        if share { overview::share(run).map(percent) } else { overview::rate_mbit(run).map(rate) };
    value.unwrap_or(numbers::ABSENT.into())
}

/// Labels of columns, cut to their ends where they are long.
fn short(labels: &[String]) -> Vec<String> {
    let are_long = labels.iter().any(|label| label.chars().count() > LABEL);
    let labels = if are_long { distinct_labels(labels) } else { labels.to_vec() };
    labels
        .into_iter()
        .map(|label| match label.chars().count().checked_sub(LABEL) {
            Some(over) if over > 0 => {
                format!("…{}", label.chars().skip(over + 1).collect::<String>())
            }
            _ => label,
        })
        .collect()
}
