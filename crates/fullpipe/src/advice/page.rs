//! Advice as a section of the report's page, above the verdicts on the runs that prove it.

use super::document::Advice;
use super::files::File;
use super::shown;
use crate::report::page::escape::{sentence, text};
use crate::report::terminal::grid::{Column, words};
use std::fmt::Write;

/// Section of HTML: the answer, the changes with their proof and their costs, and the files with their undo.
pub fn section(advice: &Advice) -> String {
    let mut out = format!(
        "<section class=\"advice\" aria-labelledby=\"advice\"><h2 id=\"advice\">Advice</h2><p class=\"lead\">{}</p>",
        sentence(&advice.answer)
    );
    table(&mut out, &shown::of_rates(advice), &shown::rates(advice));
    let _ = write!(
        out,
        "<p class=\"quiet\">These are {}.{}</p>",
        text(&shown::rates_are(advice)),
        if advice.changes.is_empty() {
            ""
        } else {
            " Below are the runs at full length, with the start."
        }
    );

    // Tables, notes and files appear only where there is something to set.
    if !advice.changes.is_empty() {
        changes(&mut out, advice);
    }
    list(&mut out, shown::NOTES, &advice.notes);
    list(&mut out, shown::DIFFERENT, &shown::different(advice));
    let joins: Vec<String> = advice.newcomer.iter().map(shown::joins).collect();
    list(&mut out, shown::JOINS, &joins);
    list(&mut out, shown::by_hand(advice), &advice.files.program);
    advice.files.enough.iter().for_each(|own| file(&mut out, own));
    out.push_str("</section>");
    out
}

fn changes(out: &mut String, advice: &Advice) {
    let _ = write!(out, "<h3>{}</h3>", shown::CHANGES);
    let mut rows = shown::changes(advice);
    for (row, own) in rows.iter_mut().zip(&advice.changes) {
        row.push(shown::reason(own, advice));
    }
    let columns = shown::of_changes(advice).iter().cloned().chain([words("why")]);
    table(out, &columns.collect::<Vec<Column>>(), &rows);
}

fn table(out: &mut String, columns: &[Column], rows: &[Vec<String>]) {
    let class = |column: &Column| if column.words { "" } else { " class=\"n\"" };
    // Writing to a string cannot fail, here and below.
    out.push_str("<div class=\"scroll\"><table><thead><tr>");
    for column in columns {
        let _ = write!(out, "<th{}>{}", class(column), column.label);
        if !column.unit.is_empty() {
            let _ = write!(out, " <small>{}</small>", column.unit);
        }
        out.push_str("</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for (column, cell) in columns.iter().zip(row) {
            let _ = write!(out, "<td{}>{}</td>", class(column), sentence(cell));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
}

fn list(out: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(out, "<h3>{heading}</h3><ul>");
    lines.iter().for_each(|line| _ = write!(out, "<li>{}</li>", sentence(line)));
    out.push_str("</ul>");
}

fn file(out: &mut String, own: &File) {
    let _ = write!(
        out,
        "<details class=\"table\"><summary><h3>{}</h3></summary><div class=\"scroll\"><pre><code>{}</code>\
         </pre><table><tbody>",
        text(&shown::place(own)),
        text(own.text.trim_end())
    );
    for (what, command) in shown::commands(own) {
        let _ = write!(out, "<tr><td>{what}</td><td><code>{}</code></td></tr>", text(&command));
    }
    out.push_str("</tbody></table></div></details>");
}
