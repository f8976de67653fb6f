//! The page around the chunks.

use super::FlowIndex;
use super::chunk::Places;
use crate::page::assets::{PAGE_CSS, POLICY, SCALE_JS, THEME_JS, theme_css};
use crate::page::escape::{json, text};
use fullpipe_analysis::document::Run;
use fullpipe_analysis::numbers;
use fullpipe_analysis::scenario::point::POINTS;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write};

const STYLE: [&str; 2] = [PAGE_CSS, include_str!("assets/graph.css")];

/// Parts of one module, in the order of their dependencies.
const SCRIPT: [&str; 8] = [
    SCALE_JS,
    THEME_JS,
    include_str!("assets/data.js"),
    include_str!("assets/view.js"),
    include_str!("assets/marks.js"),
    include_str!("assets/draw.js"),
    include_str!("assets/hover.js"),
    include_str!("assets/controls.js"),
];

/// Marks of the graph: name of the colour, key, meaning.
const KEY: [(&str, &str, &str); 8] = [
    ("data", "segment", "data for the first time, from its first to its last byte"),
    ("resent", "retransmission", "data that TCP had sent before"),
    (
        "again",
        "hardware duplicate",
        "the same packet once more: the driver had refused it, or the path made a copy",
    ),
    ("dropped", "dropped later", "the simulator knows where; point at it"),
    ("ack", "ACK line", "everything below was acknowledged"),
    ("edge", "window line", "where the window ends that the receiver advertises"),
    ("sack", "SACK block", "data that the receiver has beyond a hole"),
    ("marked", "CE mark", "a queue marked it instead of dropping it"),
];

/// Everything before the chunks.
pub fn begin(out: &mut impl Write, title: &str, run: &Run) -> io::Result<()> {
    let (title, variant) = (text(title), text(&run.variant));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\
         <title>{variant} · time-sequence graph · fullpipe</title>\n<style>\n{}</style></head>\n<body>\
         <header><div><p class=\"quiet\">fullpipe · time-sequence graph · {title}</p><h1>{variant}</h1>{}</div>\
         <button type=\"button\" id=\"theme\">dark</button></header><main>",
        theme_css() + &STYLE.concat(),
        kept(run),
    );
    controls(&mut page);
    page.push_str("</main>");

    // The chunks follow in one text element, which `end` closes.
    page.push_str(HELP);
    page.push_str("<script type=\"text/plain\" id=\"chunks\">");
    out.write_all(page.as_bytes())
}

fn kept(run: &Run) -> String {
    let Some(kept) = &run.packets else { return String::new() };
    format!(
        "<p class=\"quiet\">{} packets as they pass {}{}</p>",
        numbers::count(kept.packets),
        text(&kept.at),
        text(&seen_at(&kept.at))
    )
}

/// Text on the visible and the hidden effects at a point of the path; empty for an element.
fn seen_at(point: &str) -> String {
    let of_hosts = [("-qdisc", "sender-qdisc"), ("-wire", "sender-wire")];
    let of_host =
        of_hosts.into_iter().find(|(end, _)| point.ends_with(end)).map(|(_, known)| known);
    let name = of_host.unwrap_or(point);
    let found = POINTS.iter().find(|(known, _)| *known == name);
    found.map_or(String::new(), |(_, what)| {
        format!(": {}", what.split(" Every host").next().unwrap_or(what))
    })
}

fn controls(page: &mut String) {
    page.push_str(
        "<nav id=\"bar\" aria-label=\"What is drawn\"><label id=\"flows\">flow <select id=\"flow\"></select></label>\
         <span class=\"buttons\"><button type=\"button\" id=\"in\" title=\"zoom in (+)\">+</button>\
         <button type=\"button\" id=\"out\" title=\"zoom out (−)\">−</button>\
         <button type=\"button\" id=\"fit\" title=\"fit the sequence numbers to what is seen (F)\">fit</button>\
         <button type=\"button\" id=\"back\" title=\"the view before (Backspace)\">back</button>\
         <button type=\"button\" id=\"opening\" title=\"the first rounds of slow start (S)\">slow start</button>\
         <button type=\"button\" id=\"whole\" title=\"the whole run (Esc)\">whole run</button></span>\
         <p id=\"level\" class=\"quiet\" role=\"status\"></p></nav>\
         <ul id=\"key\">",
    );
    for (name, label, about) in KEY {
        let _ = write!(
            page,
            "<li title=\"{about}\"><button type=\"button\" data-mark=\"{name}\" aria-pressed=\"true\">\
             <i class=\"{name}\"></i>{label}</button></li>"
        );
    }
    page.push_str(
        "</ul><div id=\"plot\"><canvas id=\"canvas\" tabindex=\"0\" \
         aria-label=\"Sequence numbers over time\"></canvas><div id=\"values\" role=\"status\"></div></div>\
         <noscript><p class=\"banner\">The graph is drawn by a script.</p></noscript>",
    );
}

const HELP: &str = "<footer class=\"quiet\"><p>Drag a box to zoom into it, flat for time alone; the wheel zooms at the \
    pointer; <kbd>Shift</kbd> and drag move. <kbd>+</kbd> <kbd>−</kbd> zoom, the arrows move, <kbd>F</kbd> fits, \
    <kbd>Backspace</kbd> goes back, <kbd>S</kbd> shows slow start, on which the page opens, <kbd>Esc</kbd> or a double click shows the whole run. Where packets are too many to be \
    seen singly, a pixel shows the range of what passed in its time.</p><p>Sequence numbers count bytes: the SYN is 0, the first data byte 1.</p></footer>";

/// Everything behind the chunks.
pub fn end(
    out: &mut impl Write,
    run: &Run,
    flows: &[FlowIndex],
    places: &Places,
) -> io::Result<()> {
    let names: Vec<&str> = places.0.iter().map(|name| &**name).collect();
    let index = json(&json!({
        "at": run.packets.as_ref().map(|kept| &kept.at),
        "places": names,
        "flows": flows,
    }));
    write!(
        out,
        "</script>\n<script type=\"application/json\" id=\"index\">{index}</script>\n\
         <script type=\"module\">\n{}</script></body></html>\n",
        SCRIPT.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::seen_at;

    #[test]
    fn the_page_says_where_on_the_path_its_packets_are_seen() {
        for (point, start) in [
            (
                "sender-qdisc",
                ": where tcpdump listens on the sending host: between qdisc and driver",
            ),
            ("other-qdisc", ": where tcpdump listens"),
            ("other-wire", ": the sending host's cable"),
            ("receiver", ": where tcpdump listens on the receiving host"),
        ] {
            assert!(seen_at(point).starts_with(start), "{point}: {}", seen_at(point));
        }
        assert!(!seen_at("receiver").contains("[[host]]"));
        assert_eq!(seen_at("delay"), "");
    }
}
