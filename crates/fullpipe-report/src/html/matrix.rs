//! Many runs as a matrix over the axes of their scenario: a button per run, which shows it.

use crate::matrix::Matrix;
use crate::overview;
use crate::page::escape::text;
use fullpipe_analysis::document::{Document, Run};
use fullpipe_analysis::numbers;
use std::fmt::Write;

/// Columns of a matrix where no axis makes some.
const COLUMNS: usize = 6;

/// The matrix, or rows of buttons where no axis makes columns.
pub(super) fn matrix(document: &Document) -> String {
    let matrix = Matrix::of(document);
    let mut out = format!(
        "<div class=\"scroll\"><table class=\"matrix\"><caption>{}</caption>",
        caption(document)
    );

    // One axis makes no columns: its cells wrap into rows.
    if matrix.columns.len() > 1 {
        out.push_str(&head(&matrix));
        out.push_str("<tbody>");
        for (label, cells) in &matrix.rows {
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", text(label));
            cells.iter().for_each(|run| out.push_str(&cell(document, *run, "")));
            out.push_str("</tr>");
        }
    } else {
        out.push_str("<tbody>");
        for row in matrix.rows.chunks(COLUMNS) {
            out.push_str("<tr>");
            for (label, cells) in row {
                out.push_str(&cell(document, cells[0], label));
            }
            out.push_str("</tr>");
        }
    }
    out.push_str("</tbody></table></div>");
    out
}

fn caption(document: &Document) -> &'static str {
    match document.runs.iter().any(|run| overview::share(run).is_some()) {
        true => {
            "Share of what the path allows, and rate of each run. Choose a run to see it below; with \
             <kbd>Ctrl</kbd> it is added to those that are shown. Arrow keys move between runs."
        }
        false => {
            "Rate of each run. Choose a run to see it below; with <kbd>Ctrl</kbd> it is added to those \
             that are shown. Arrow keys move between runs."
        }
    }
}

fn head(matrix: &Matrix) -> String {
    let mut out = format!(
        "<thead><tr><th></th><th class=\"quiet\" colspan=\"{}\" scope=\"colgroup\">{}</th></tr><tr><th class=\"quiet\">{}</th>",
        matrix.columns.len(),
        text(&matrix.columns_are),
        text(&matrix.rows_are)
    );
    for label in &matrix.columns {
        let _ = write!(out, "<th scope=\"col\">{}</th>", text(label));
    }
    out.push_str("</tr></thead>");
    out
}

/// A button: the share of the path that the run reached, as a number and as colour, its rate, and its headline as title.
fn cell(document: &Document, run: Option<usize>, label: &str) -> String {
    let Some(index) = run else { return "<td></td>".into() };
    let run: &Run = &document.runs[index];
    let rate = overview::rate_mbit(run).map_or(numbers::ABSENT.into(), numbers::rate);
    let share = overview::share(run);

    // The share goes first: it compares runs of different paths.
    let (first, second) = match share {
        Some(share) => (numbers::share(share), rate),
        None => (rate, String::new()),
    };

    // The script colours the cell by this share.
    let filled = share
        .map_or(String::new(), |share| format!(" style=\"--share:{:.3}\"", share.clamp(0.0, 1.0)));
    let answer = run.headline.as_ref().map_or(String::new(), |headline| text(&headline.text));
    let name =
        if label.is_empty() { String::new() } else { format!("<small>{}</small>", text(label)) };
    let failed = if run.expectations.iter().any(|e| !e.passed) {
        "<small class=\"bad\">✗</small>"
    } else {
        ""
    };
    format!(
        "<td><button type=\"button\" class=\"cell\" data-run=\"{index}\" aria-pressed=\"false\" title=\"{}: {answer}\"{filled}>\
         {name}<span class=\"chip\"></span><b>{first}</b>{failed}<small>{second}</small></button></td>",
        text(&run.variant)
    )
}
