//! The page around cards, figures and tables.

use super::escape::{json, sentence, text};
use super::{DRAWN_AT_FIRST, cards, evidence, picture, table};
use crate::analysis::document::Document;
use crate::report::figures::{Figure, Role};
use crate::report::limits;
use crate::report::tables::Table;
use crate::report::together::about_datagrams;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Forbids every request, also those that a hostile document would try to add.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

const STYLE: [&str; 4] = [
    include_str!("assets/theme.css"),
    include_str!("assets/page.css"),
    include_str!("assets/picture.css"),
    include_str!("assets/figure.css"),
];

/// Parts of one module, in the order of their dependencies.
const SCRIPT: [&str; 10] = [
    include_str!("assets/data.js"),
    include_str!("assets/state.js"),
    include_str!("assets/scale.js"),
    include_str!("assets/marks.js"),
    include_str!("assets/labels.js"),
    include_str!("assets/panel.js"),
    include_str!("assets/cursor.js"),
    include_str!("assets/theme.js"),
    include_str!("assets/controls.js"),
    include_str!("assets/api.js"),
];

/// The whole page.
pub(super) fn page(
    document: &Document,
    figures: &[Figure],
    tables: &[Table],
    graphs: &[Option<String>],
) -> String {
    let title = text(&document.scenario.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <link rel=\"icon\" href=\"data:,\"><title>{title} · fullpipe</title>\n<style>\n{}</style>\n{}</head>\n<body>",
        STYLE.concat(),
        script()
    );
    out.push_str(&header(document, &title));
    out.push_str("<main>");
    out.push_str(&verdict(document, figures, graphs));
    out.push_str(&picture::section(document));
    out.push_str(&evidence::evidence(document, figures));
    out.push_str(&table_section(tables));
    out.push_str("</main>");
    out.push_str(FOOTER);
    out.push_str(&data(document, figures));
    out.push_str("</body></html>\n");
    out
}

fn header(document: &Document, title: &str) -> String {
    let scenario = &document.scenario;
    let runs = match document.runs.len() {
        1 => "1 run".to_string(),
        n => format!("{n} runs"),
    };
    let mut out = format!(
        "<header><div><p class=\"quiet\">fullpipe · {} · {runs} · seed {}</p><h1>{title}</h1></div>\
         <button type=\"button\" id=\"theme\">dark</button></header>",
        text(&scenario.name),
        scenario.seed
    );
    if document.partial {
        out.push_str(
            "<p class=\"banner\" role=\"alert\"><b>Interrupted.</b> This run was cut short: \
             everything is whole up to the last interval, and nothing is known beyond it.</p>",
        );
    }
    out
}

/// First sentences and cards. The first is the main figure's finding, or what became of datagrams where runs are about these; with a comparison that of cwnd follows.
fn verdict(document: &Document, figures: &[Figure], graphs: &[Option<String>]) -> String {
    let first = || figures.first().map_or("", |figure| figure.title.as_str()).to_string();
    let mut lead = about_datagrams(document).unwrap_or_else(first);
    let compared = figures.iter().filter(|f| f.name == "cwnd" && !document.comparisons.is_empty());
    compared.for_each(|cwnd| lead += &format!(". {}", cwnd.title));
    let many = if document.runs.len() > DRAWN_AT_FIRST { " many" } else { "" };
    let mut out = format!(
        "<section aria-labelledby=\"verdict\"><h2 id=\"verdict\">Verdict</h2><p class=\"lead\">{}.</p>\
         <div class=\"cards{many}\">",
        sentence(&lead)
    );
    for (index, (run, graph)) in document.runs.iter().zip(graphs).enumerate() {
        out.push_str(&cards::card(index, run, graph.as_deref()));
    }
    out.push_str("</div></section>");
    out
}

fn table_section(tables: &[Table]) -> String {
    if tables.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section aria-labelledby=\"tables\"><h2 id=\"tables\">Tables</h2>");
    for each in tables {
        let alike = tables.iter().filter(|other| other.name == each.name).count();
        let open = each.name != "stages" && alike <= DRAWN_AT_FIRST || alike == 1;
        out.push_str(&table::table(each, open));
    }
    out.push_str("</section>");
    out
}

const FOOTER: &str = "<footer class=\"quiet\"><p>Every number of this page stands in the JSON element \
    <code>fullpipe-data</code> of this file. Mb/s count 10<sup>6</sup> bits of payload; MiB are 2<sup>20</sup> \
    bytes.</p><p class=\"controls-help\">Point at a figure for values; drag to zoom all figures in time; \
    <kbd>Esc</kbd> or a double click shows all. With a figure focused: <kbd>←</kbd> <kbd>→</kbd> move the cursor \
    (<kbd>Shift</kbd>: ten steps), <kbd>Home</kbd> <kbd>End</kbd>, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>L</kbd> \
    logarithmic. A double click on a run, or <kbd>S</kbd>, shows it alone.</p></footer>";

/// What draws the figures. A module runs when the page is whole; nothing is shown before it has run,
/// so that nothing moves under the reader's eyes.
fn script() -> String {
    format!("<script type=\"module\" blocking=\"render\">\n{}</script>", SCRIPT.concat())
}

/// The document, and what its figures are made of.
fn data(document: &Document, figures: &[Figure]) -> String {
    let mut out = String::new();
    let figures = serde_json::json!({
        "figures": figures,
        "limits": limit_places(figures),
        "drawn_at_first": DRAWN_AT_FIRST,
    });
    let data = [("fullpipe-data", json(document)), ("fullpipe-figures", json(&figures))];
    for (id, json) in data {
        let _ = writeln!(out, "<script type=\"application/json\" id=\"{id}\">{json}</script>");
    }
    out
}

/// Label and colour of each limit that a figure shows.
fn limit_places(figures: &[Figure]) -> Map<String, Value> {
    let shares = figures
        .iter()
        .flat_map(|figure| &figure.series)
        .filter(|series| series.role == Role::Share);
    shares
        .map(|series| {
            let name = series.name.as_str();
            let value =
                serde_json::json!({"label": limits::label(name), "place": limits::place(name)});
            (name.to_string(), value)
        })
        .collect()
}
