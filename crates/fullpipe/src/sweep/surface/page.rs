//! The page around the surfaces.

use super::{Surfaces, Thinned};
use crate::numbers::count;
use crate::report::page::assets::{PAGE_CSS, POLICY, SCALE_JS, THEME_JS, theme_css};
use crate::report::page::escape::{json, text};
use serde_json::json as value;

const STYLE: [&str; 2] = [PAGE_CSS, include_str!("assets/surface.css")];

/// Parts of one module, in the order of their dependencies.
const SCRIPT: [&str; 9] = [
    SCALE_JS,
    THEME_JS,
    include_str!("assets/data.js"),
    include_str!("assets/labels.js"),
    include_str!("assets/surface.js"),
    include_str!("assets/difference.js"),
    include_str!("assets/slices.js"),
    include_str!("assets/pairs.js"),
    include_str!("assets/controls.js"),
];

/// The whole page, which needs no network.
pub fn page(surfaces: &Surfaces, lead: &str) -> String {
    let title = text(&surfaces.title);
    let data = json(&value!(surfaces));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\
         <title>{title} · fullpipe</title>\n<style>\n{}</style></head>\n<body>\
         <header><div><p class=\"quiet\">fullpipe · sweep</p><h1>{title}</h1></div>\
         <button type=\"button\" id=\"theme\">dark</button></header><main>\
         <p class=\"lead\">{}</p>{}{}<div id=\"figures\"{}>{BODY}</div>{}{}</main>{}\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script type=\"module\">\n{}</script></body></html>\n",
        theme_css() + &STYLE.concat(),
        text(lead),
        thinned(&surfaces.thinned),
        surfaces.tables.above,
        // Where there are no axes there is nothing to draw.
        if surfaces.axes.is_empty() { " hidden" } else { "" },
        surfaces.tables.below,
        surfaces.failures.html(),
        if surfaces.axes.is_empty() { "" } else { HELP },
        SCRIPT.concat()
    )
}

/// Text on values that are not drawn; empty where all are.
fn thinned(axes: &[Thinned]) -> String {
    let of = |axis: &Thinned| {
        let (drawn, of) = (count(axis.drawn as u64), count(axis.of as u64));
        format!("{drawn} of {of} values of {}", axis.name)
    };
    let parts: Vec<String> = axes.iter().map(of).collect();
    if parts.is_empty() {
        return String::new();
    }
    let said = format!(
        "There are more points than can be drawn. Drawn are {}, evenly chosen with the first and the last one; nothing is averaged. \
         cells.json and results.csv have all points, and a sweep with shorter axes draws a part of them whole.",
        parts.join(", ")
    );
    format!("<p class=\"banner\" id=\"thinned\">{}</p>", text(&said))
}

const BODY: &str = "<section aria-labelledby=\"p\" id=\"pairs\" hidden><h2 id=\"p\">All pairs</h2>\
    <p id=\"places\"></p><div id=\"parts\"></div><div id=\"matrices\"></div></section><nav id=\"bar\" aria-label=\"What is drawn\">\
    <label>quantity <select id=\"quantity\"></select></label>\
    <label>across <select id=\"x\"></select></label><label>up <select id=\"y\"></select></label>\
    <span id=\"others\"></span></nav>\
    <section aria-labelledby=\"s\"><h2 id=\"s\">Surfaces</h2><div id=\"ramp\"></div><div id=\"surfaces\" class=\"panels\"></div></section>\
    <section aria-labelledby=\"d\" id=\"difference\"><h2 id=\"d\">Difference</h2><p><label><select id=\"a\"></select></label> \
    over <label><select id=\"b\"></select></label></p><div id=\"differences\" class=\"panels\"></div>\
    <ul id=\"marks\" class=\"key\"></ul></section>\
    <section aria-labelledby=\"c\"><h2 id=\"c\">Slices</h2><p id=\"slice\"></p><ul id=\"key\" class=\"key\"></ul><div id=\"slices\"></div></section>\
    <div id=\"values\" role=\"status\"></div>\
    <noscript><p class=\"banner\">The figures are drawn by a script; cells.json and results.csv have the numbers.</p></noscript>";

const HELP: &str = "<footer class=\"quiet\"><p>A field is the mean over repetitions, a grey one has none: nothing was measured, or all runs failed; a dot in it says that not all of them are \
    steady (fewer than 30 loss epochs in the second half of a flow's life, and rates of the last three quarters that differ). Lines are contours at the marks of the colour \
    scale. Bars of slices are 95 % confidence intervals (Student's t). Dashed lines are what the congestion control's \
    rule makes of random losses (Mathis 1997, RFC 9438, Kelly 2003), drawn where its assumptions hold: one flow, a mean window from ten \
    packets to half of what the path holds, 30 loss epochs, and cwnd as what holds the flow back.</p></footer>";
