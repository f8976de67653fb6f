//! The places of the figures, and their controls. Everything has its final size before a script runs, so that nothing
//! moves.

use super::drawn::{at_first, hidden};
use crate::figures::{Figure, Layout, Line, Prominence, Role, Series};
use crate::page::escape::{sentence, text};
use fullpipe_analysis::document::{Document, Run};
use fullpipe_analysis::limits;
use std::fmt::Write;

/// Colours of lines, as many as of runs (`COLOURS` in `assets/state.js`).
const COLOURS: usize = 8;

/// The section of all figures.
pub(super) fn evidence(document: &Document, figures: &[Figure]) -> String {
    let mut out = String::from(
        "<section aria-labelledby=\"evidence\"><h2 id=\"evidence\">Evidence</h2>\
         <noscript><p class=\"banner\">The figures are drawn by a script; the verdict and the tables \
         need none.</p></noscript>",
    );
    out.push_str(&legend(document));
    out.push_str("<div class=\"figures\">");
    for figure in figures {
        out.push_str(&frame(document, figure));
    }
    out.push_str("</div></section>");
    out
}

/// A button per run; a row of flows where runs have several; a button that ends a zoom.
fn legend(document: &Document) -> String {
    let mut out = String::from(
        "<nav id=\"legend\" aria-label=\"What is drawn\"><div class=\"list\" role=\"group\" aria-label=\"Runs\">",
    );
    let shown = at_first(document);
    for (index, run) in document.runs.iter().enumerate() {
        out.push_str(&run_button(index, run, shown.contains(&index)));
    }
    out.push_str("</div>");

    // One flow needs no button.
    let flows = flow_names(document);
    if flows.len() > 1 {
        out.push_str("<div class=\"list\" role=\"group\" aria-label=\"Flows\">");
        for flow in flows {
            let name = text(flow);
            let _ = write!(
                out,
                "<button type=\"button\" data-flow=\"{name}\" aria-pressed=\"true\">{name}</button>"
            );
        }
        out.push_str("</div>");
    }
    out.push_str("<button type=\"button\" id=\"reset\" disabled>whole time</button></nav>");
    out
}

fn run_button(index: usize, run: &Run, is_shown: bool) -> String {
    let partial = if run.partial { " (partial)" } else { "" };
    format!(
        "<button type=\"button\" data-run=\"{index}\" aria-pressed=\"{is_shown}\"{} \
         title=\"show or hide; double click: alone\"><span class=\"chip\"></span>{}{partial}</button>",
        hidden(is_shown),
        text(&run.variant)
    )
}

/// Names of flows over all runs, in order of appearance.
fn flow_names(document: &Document) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for flow in document.runs.iter().flat_map(|run| &run.flows) {
        if !names.contains(&flow.name.as_str()) {
            names.push(&flow.name);
        }
    }
    names
}

fn frame(document: &Document, figure: &Figure) -> String {
    // Panels keep the page's height while the script draws.
    let panels = match figure.layout {
        Layout::Overlay => 1,
        Layout::Lines => runs_with_lines(figure).min(at_first(document).len()),
        Layout::PerRun | Layout::Strip => at_first(document).len().max(1),
    };
    let class = match (figure.layout, figure.prominence) {
        (Layout::Overlay, Prominence::Main) => "main",
        (Layout::Overlay, Prominence::Supporting) => "supporting",
        (Layout::PerRun, _) => "multiples",
        (Layout::Strip, _) => "strips",
        (Layout::Lines, _) => "lines",
    };
    format!(
        "<figure class=\"{class}\" id=\"figure-{name}\" data-figure=\"{name}\"><figcaption>\
         <h3>{}</h3><p class=\"quiet\">{}</p>{}</figcaption>\
         <div class=\"panels\">{}</div></figure>",
        sentence(&figure.title),
        sentence(&figure.description),
        bar(figure),
        "<div class=\"panel\"></div>".repeat(panels),
        name = figure.name,
    )
}

/// Number of runs with a panel in a figure with lines.
fn runs_with_lines(figure: &Figure) -> usize {
    let mut runs: Vec<usize> = figure.series.iter().map(|series| series.run).collect();
    runs.dedup();
    runs.len()
}

/// Key and controls of a figure, where it has any.
fn bar(figure: &Figure) -> String {
    let key = key(figure);
    if key.is_empty() && !figure.y.log_offered
        || figure.series.is_empty() && figure.layout == Layout::Lines
    {
        return String::new();
    }
    let button = if figure.y.log_offered {
        "<button type=\"button\" class=\"log\" aria-pressed=\"false\">logarithmic</button>"
    } else {
        ""
    };
    format!("<div class=\"bar\"><ul class=\"key\">{key}</ul>{button}</div>")
}

/// Meanings of the marks of a figure, where they have several.
fn key(figure: &Figure) -> String {
    if figure.layout == Layout::Lines {
        return key_of_lines(figure);
    }

    // Series of all runs have the same few marks: one entry each.
    let mut entries: Vec<(usize, String, &str)> = figure.series.iter().map(key_entry).collect();
    entries.sort();
    entries.dedup();
    let mut out = String::new();

    // A single mark explains itself, but strips always need their colours.
    if entries.len() > 1 || figure.layout == Layout::Strip {
        for (_, class, label) in entries {
            let _ = write!(out, "<li><i class=\"{class}\"></i>{}</li>", text(label));
        }
    }
    out
}

/// Most lines that a key names.
const MOST_IN_KEY: usize = 24;

/// The lines by their colours; then, where they mean more than one thing, how they are drawn.
fn key_of_lines(figure: &Figure) -> String {
    // Runs share lines by name and colour: each is listed once.
    let mut lines: Vec<(&Line, &str)> = Vec::new();
    for series in &figure.series {
        let Some(line) = &series.line else { continue };
        if !lines.iter().any(|(other, _)| other.name == line.name && other.colour == line.colour) {
            lines.push((line, if series.role == Role::Count { "count" } else { "measure" }));
        }
    }
    let mut out = String::new();
    for (line, class) in lines.iter().take(MOST_IN_KEY) {
        let colour = match line.colour {
            Some(colour) => format!("var(--run-{})", colour % COLOURS),
            None => "var(--ink)".to_string(),
        };

        // Colours repeat after the last one: the second use has another mark.
        let again = if line.colour.is_some_and(|c| c >= COLOURS) { " again" } else { "" };
        let _ = write!(
            out,
            "<li><i class=\"{class}{again}\" style=\"--run:{colour}\"></i>{}</li>",
            text(&line.name)
        );
    }
    if lines.len() > MOST_IN_KEY {
        let _ = write!(out, "<li>and {} more</li>", lines.len() - MOST_IN_KEY);
    }

    // How lines are drawn matters only where they mean several things.
    let drawn = figure
        .series
        .iter()
        .map(|series| (series.role as usize, class(series.role), &series.name[..]));
    let mut drawn: Vec<(usize, &str, &str)> = drawn.collect();
    drawn.sort_unstable();
    drawn.dedup();
    for (_, class, name) in drawn.iter().filter(|_| drawn.len() > 1) {
        let _ = write!(out, "<li><i class=\"{class}\"></i>{}</li>", text(name));
    }
    out
}

/// Place in the key, class of the mark, label.
fn key_entry(series: &Series) -> (usize, String, &str) {
    if series.role == Role::Share {
        let place = limits::place(&series.name);
        let class = format!("share limit-{place}");
        return (place, class, limits::label(&series.name));
    }
    (series.role as usize, class(series.role).to_string(), &series.name)
}

/// Name of a role in style sheets; equal to its name in JSON.
fn class(role: Role) -> &'static str {
    match role {
        Role::Measure => "measure",
        Role::Bound => "bound",
        Role::Ceiling => "ceiling",
        Role::Published => "published",
        Role::Band => "band",
        Role::Share => "share",
        Role::Count => "count",
    }
}
