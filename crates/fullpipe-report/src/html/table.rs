//! A neutral table as HTML.

use super::drawn::hidden;
use crate::page::escape::text;
use crate::tables::{Cell, Column, Table};
use fullpipe_analysis::numbers;
use std::fmt::Write;

/// A table under its heading, folded unless `open`.
pub(super) fn table(table: &Table, open: bool, is_shown: bool) -> String {
    let run = table.run.map_or(String::new(), |run| format!(" data-run=\"{run}\""));
    let open = if open { " open" } else { "" };
    let mut out = format!(
        "<details class=\"table\" data-table=\"{}\"{run}{open}{}><summary><h3>{}</h3> <span class=\"quiet\">{}</span></summary>",
        table.name,
        hidden(is_shown),
        text(&table.title),
        text(&table.finding),
    );
    out.push_str("<div class=\"scroll\"><table><thead><tr>");

    // Numbers stand right, words left: the column decides for its heading.
    for (place, column) in table.columns.iter().enumerate() {
        out.push_str(&heading(column, is_numeric(table, place)));
    }
    out.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        out.push_str("<tr>");
        row.iter().for_each(|value| out.push_str(&cell(value)));
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div></details>");
    out
}

fn is_numeric(table: &Table, column: usize) -> bool {
    !table.columns[column].unit.is_empty()
}

fn heading(column: &Column, numeric: bool) -> String {
    let class = if numeric { " class=\"n\"" } else { "" };
    let mut out = format!("<th scope=\"col\"{class}>{}", text(column.label));
    if numeric {
        let _ = write!(out, " <small>{}</small>", text(column.unit));
    }
    out.push_str("</th>");
    out
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(words) => format!("<td>{}</td>", text(words)),
        Cell::Count(number) => format!("<td class=\"n\">{}</td>", numbers::count(*number)),
        Cell::Number { value, decimals } => {
            format!("<td class=\"n\">{}</td>", numbers::fixed(*value, *decimals))
        }
        Cell::Difference(value) => difference(*value),
        Cell::Verdict { good, text: words } => {
            let class = if *good { "good" } else { "bad" };
            format!("<td class=\"{class}\">{}</td>", text(words))
        }
        Cell::Absent => format!("<td class=\"n quiet\">{}</td>", numbers::ABSENT),
    }
}

/// A difference with a bar to the left or right of a middle line; 5 % fill a side.
fn difference(value: f64) -> String {
    let length = if value.is_finite() { (value.abs() * 1000.0).min(50.0) } else { 0.0 };
    let side = if value < 0.0 { "right" } else { "left" };
    format!(
        "<td class=\"n difference\"><span>{}</span><i><b style=\"{side}:50%;width:{length:.2}%\"></b></i></td>",
        numbers::difference(value)
    )
}
