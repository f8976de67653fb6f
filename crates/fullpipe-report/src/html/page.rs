//! The page around cards, figures and tables.

use super::cards::Card;
use super::{drawn, evidence, matrix, picture, table};
use crate::figures::{Figure, Role};
use crate::page::assets::{PAGE_CSS, POLICY, SCALE_JS, THEME_JS, theme_css};
use crate::page::escape::{json, sentence, text};
use crate::tables::{FINDINGS, Table};
use crate::time_sequence::packed;
use fullpipe_analysis::document::Document;
use fullpipe_analysis::limits;
use serde_json::{Map, Value};
use std::fmt::Write;

const STYLE: [&str; 3] =
    [PAGE_CSS, include_str!("assets/picture.css"), include_str!("assets/figure.css")];

/// Parts of one module, in the order of their dependencies.
const SCRIPT: [&str; 10] = [
    include_str!("assets/data.js"),
    include_str!("assets/state.js"),
    SCALE_JS,
    include_str!("assets/marks.js"),
    include_str!("assets/labels.js"),
    include_str!("assets/panel.js"),
    include_str!("assets/cursor.js"),
    THEME_JS,
    include_str!("assets/controls.js"),
    include_str!("assets/api.js"),
];

/// The whole page.
pub(super) fn page(
    document: &Document,
    figures: &[Figure],
    tables: &[Table],
    graphs: &[Option<String>],
    above: &str,
) -> String {
    let title = text(&document.scenario.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <link rel=\"icon\" href=\"data:,\"><title>{title} · fullpipe</title>\n<style>\n{}</style>\n{}</head>\n<body>",
        theme_css() + &STYLE.concat(),
        script()
    );

    // Sections go from the verdict to its evidence, then to all numbers.
    out.push_str(&header(document, &title));
    out.push_str("<main>");
    out.push_str(above);
    out.push_str(&verdict(document, graphs, tables));
    out.push_str(&evidence::evidence(document, figures));
    out.push_str(&picture::section(document));
    out.push_str(&table_section(document, tables));
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

/// The headline, the findings, a matrix where there are many runs, and a card per run.
fn verdict(document: &Document, graphs: &[Option<String>], tables: &[Table]) -> String {
    let mut out =
        String::from("<section aria-labelledby=\"verdict\"><h2 id=\"verdict\">Verdict</h2>");
    if let Some(headline) = &document.headline {
        let bad = if headline.grade.is_failure() { " bad" } else { "" };
        let _ = write!(out, "<p class=\"lead{bad}\">{}</p>", sentence(&headline.text));
    }

    // Findings belong to the verdict; all other tables follow later.
    for own in tables.iter().filter(|own| own.name == FINDINGS) {
        let is_open = !drawn::are_many(document) || own.rows.len() <= OPEN;
        out.push_str(&table::table(own, is_open, true));
    }

    // Many runs get a matrix to choose cards from.
    if drawn::are_many(document) {
        out.push_str(&matrix::matrix(document));
    }
    out.push_str("<div class=\"cards\">");
    let shown = drawn::at_first(document);
    for (index, (run, graph)) in document.runs.iter().zip(graphs).enumerate() {
        let (graph, is_alone) = (graph.as_deref(), document.runs.len() == 1);
        let card = Card { index, run, graph, is_alone, is_shown: shown.contains(&index) };
        out.push_str(&card.html());
    }
    out.push_str("</div></section>");
    out
}

/// Most rows of a table that is open at first.
const OPEN: usize = 24;

fn table_section(document: &Document, tables: &[Table]) -> String {
    if tables.is_empty() {
        return String::new();
    }
    let shown = drawn::at_first(document);
    let mut out = String::from("<section aria-labelledby=\"tables\"><h2 id=\"tables\">Tables</h2>");

    // Long or repeated tables are folded, so that the page stays short.
    for each in tables.iter().filter(|own| own.name != FINDINGS) {
        let alike = tables.iter().filter(|other| other.name == each.name).count();
        let open = each.name != "stages" && alike <= drawn::MOST || alike == 1;
        let open = open && (!drawn::are_many(document) || each.rows.len() <= OPEN);
        let is_shown = each.run.is_none_or(|run| shown.contains(&run));
        out.push_str(&table::table(each, open, is_shown));
    }
    out.push_str("</section>");
    out
}

const FOOTER: &str = "<footer class=\"quiet\"><p>Every number of this page stands in the JSON element \
    <code>fullpipe-data</code> of this file, and in <code>summary.json</code>. Mb/s count 10<sup>6</sup> bits of payload; MiB are 2<sup>20</sup> \
    bytes.</p><p class=\"controls-help\">Point at a figure for values; drag to zoom all figures in time; \
    <kbd>Esc</kbd> or a double click shows all. With a figure focused: <kbd>←</kbd> <kbd>→</kbd> move the cursor \
    (<kbd>Shift</kbd>: ten steps), <kbd>Home</kbd> <kbd>End</kbd>, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>L</kbd> \
    logarithmic. A double click on a run, or <kbd>S</kbd>, shows it alone.</p></footer>";

/// Script that draws the figures. A module runs when the page is whole. The page shows nothing before it has run, so
/// that nothing moves under the reader's eyes.
fn script() -> String {
    format!("<script type=\"module\" blocking=\"render\">\n{}</script>", SCRIPT.concat())
}

/// Characters of JSON from which on it is deflated.
const LARGE: usize = 2_000_000;

/// The document, and the data of its figures.
fn data(document: &Document, figures: &[Figure]) -> String {
    let mut out = String::new();
    let figures = serde_json::json!({
        "figures": figures,
        "titles": drawn::titles(document, figures),
        "limits": limit_places(figures),
        "drawn_at_first": drawn::at_first(document),
        "folded_flows": drawn::folded_flows(document),
        "many": drawn::are_many(document),
    });

    // Large data is packed: the page would be too long to load.
    let data = [("fullpipe-data", json(document)), ("fullpipe-figures", json(&figures))];

    // Small data stays readable in the page's source.
    let are_large = data.iter().map(|(_, json)| json.len()).sum::<usize>() > LARGE;
    for (id, json) in data {
        let _ = match are_large {
            false => writeln!(out, "<script type=\"application/json\" id=\"{id}\">{json}</script>"),
            true => writeln!(
                out,
                "<script type=\"text/plain\" data-packed=\"deflate-raw\" id=\"{id}\">{}</script>",
                packed(json.as_bytes())
            ),
        };
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
