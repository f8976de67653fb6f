//! The tables of a page: fairness of the flows, their effects on each other, and expectations.

use crate::numbers;
use crate::report::page::escape::text;
use crate::report::terminal::grid::{Column, Table};
use crate::sweep::Unjudged;
use crate::sweep::cells::Cell;
use crate::sweep::competition::Company;
use crate::sweep::tally::Judgement;
use crate::sweep::terminal::{cells, company, versus};
use crate::sweep::versus::Judged;
use std::fmt::Write;

/// Rows of a table after which cells.json is the place to look.
const MOST: usize = 200;

/// The tables of a sweep.
#[derive(Debug, Default)]
pub struct Tables {
    /// Above the figures.
    pub(super) above: String,
    /// Below them.
    pub(super) below: String,
}

impl Tables {
    /// Tables of the cells, the comparisons and the unjudged expectations; without axes the cells are a table, too.
    pub fn new(
        cells: &[Cell],
        axes: bool,
        company: &[Company],
        versus: &[Judged],
        points: &Judgement,
        unjudged: &Unjudged,
    ) -> Tables {
        let mut above = String::new();
        if !axes {
            above += &section("variants", "Variants", &[cells::table(cells)]);
        }
        above += &section("competition", "Competition", &company::tables(cells, company));
        Tables { above, below: expected(points, versus, unjudged) }
    }
}

/// Expectations: the points that miss one, the variants that were compared, and the unjudged expectations.
fn expected(points: &Judgement, versus: &[Judged], unjudged: &Unjudged) -> String {
    let Judgement { all, missed, first_missed } = points;
    let mut inner = String::new();

    // Points are listed by what they miss, variants by table.
    if *all > 0 {
        let _ = write!(inner, "<p>{} of {all} of points hold</p>", all - missed);
        inner += &list(first_missed, *missed as usize);
    }
    if !versus.is_empty() {
        let held = versus.iter().filter(|own| own.passed).count();
        let _ = write!(inner, "<p>{held} of {} of two variants hold</p>", versus.len());
        versus::tables(versus).iter().for_each(|own| inner += &table(own));
    }
    if let Some(sentence) = unjudged.describe() {
        let _ = write!(inner, "<p class=\"banner\" id=\"unjudged\">{}</p>", text(&sentence));
    }
    match inner.is_empty() {
        true => inner,
        false => wrapped("expected", "Expectations", &inner),
    }
}

fn list(sentences: &[String], all: usize) -> String {
    let mut out = String::from("<ul>");
    for sentence in sentences {
        let _ = write!(out, "<li class=\"bad\">{}</li>", text(sentence));
    }
    out + "</ul>" + &more(all, sentences.len())
}

fn section(id: &str, heading: &str, tables: &[Table]) -> String {
    match tables {
        [] => String::new(),
        tables => wrapped(id, heading, &tables.iter().map(table).collect::<String>()),
    }
}

fn wrapped(id: &str, heading: &str, inner: &str) -> String {
    format!(
        "<section aria-labelledby=\"{id}-h\" id=\"{id}\"><h2 id=\"{id}-h\">{heading}</h2>{inner}</section>"
    )
}

fn table(table: &Table) -> String {
    let class = |column: &Column| if column.words { "" } else { " class=\"n\"" };
    let mut out =
        format!("<h3>{}</h3><div class=\"scroll\"><table><thead><tr>", text(&table.heading));
    for column in table.columns {
        let (label, unit) = (text(column.label), text(column.unit));
        let _ = write!(out, "<th scope=\"col\"{}>{label}<small>{unit}</small></th>", class(column));
    }
    out += "</tr></thead><tbody>";
    for row in table.rows.iter().take(MOST) {
        out += "<tr>";
        for (column, cell) in table.columns.iter().zip(row) {
            let class = if cell == "FAILED" { " class=\"bad\"" } else { class(column) };
            let _ = write!(out, "<td{class}>{}</td>", text(cell));
        }
        out += "</tr>";
    }
    out += "</tbody></table></div>";
    out += &more(table.rows.len(), table.rows.len().min(MOST));
    if !table.about.is_empty() {
        let _ = write!(out, "<p class=\"quiet\">{}</p>", text(table.about));
    }
    out
}

/// Number of rows beyond the shown ones.
fn more(all: usize, shown: usize) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        more => format!(
            "<p class=\"quiet\">{} more: <code>cells.json</code></p>",
            numbers::count(more as u64)
        ),
    }
}
