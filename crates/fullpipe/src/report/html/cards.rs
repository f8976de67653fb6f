//! The verdict: one card per run.

use super::escape::{sentence, text};
use crate::analysis::document::{Datagrams, Expectation, Flow, Published, Run};
use crate::report::together::{fate, is_beside, together, udp};
use crate::report::{happened, limits, numbers};
use crate::scenario::shown;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Flows a card shows; the others stand in the table of flows.
const FLOWS_SHOWN: usize = 4;
/// Limits a card names; the others are added up.
const LIMITS_NAMED: usize = 3;

/// The card of a run; `graph` is the address of its time-sequence graph.
pub(super) fn card(index: usize, run: &Run, graph: Option<&str>) -> String {
    let mut out = format!(
        "<article class=\"card\" data-run=\"{index}\"><h3><span class=\"chip\"></span>{}{}</h3>",
        text(&run.variant),
        if run.partial { " <span class=\"badge\">partial</span>" } else { "" },
    );
    out.push_str(&subtitle(run));
    udp(run).for_each(|own| out.push_str(&datagrams_block(run, own)));
    for sum in together(run) {
        let (flows, rate) = (sum.flows.len(), numbers::rate(sum.mbit));
        let _ = write!(out, "<p class=\"line\">all {flows} flows together: <b>{rate}</b></p>");
    }
    let (beside, flows): (Vec<&Flow>, Vec<&Flow>) =
        run.flows.iter().partition(|flow| is_beside(run, flow));
    for flow in beside {
        let (name, bytes) = (text(&flow.name), numbers::count(flow.bytes));
        let _ = write!(out, "<p class=\"quiet\">beside them {name}: {bytes} bytes of TCP</p>");
    }
    for flow in flows.iter().take(FLOWS_SHOWN) {
        out.push_str(&flow_block(run, flow));
    }
    if flows.len() > FLOWS_SHOWN {
        let more = flows.len() - FLOWS_SHOWN;
        let flows = if more == 1 { "flow" } else { "flows" };
        let _ =
            write!(out, "<p class=\"quiet\">and {more} more {flows}, see the table of flows</p>");
    }
    if run.flows.is_empty() {
        out.push_str("<p class=\"quiet\">no flow was measured</p>");
    }
    if let Some(published) = &run.published {
        out.push_str(&published_line(published));
    }
    out.push_str(&expectation_line(&run.expectations));
    if let (Some(graph), Some(kept)) = (graph, &run.packets) {
        let (graph, packets, at) = (text(graph), numbers::count(kept.packets), text(&kept.at));
        let _ = write!(
            out,
            "<p class=\"line\"><a href=\"{graph}\">time-sequence graph</a> of {packets} packets at {at}</p>"
        );
    }
    out.push_str("</article>");
    out
}

/// What the run is: congestion control, kernel, engine, and what the variant set.
fn subtitle(run: &Run) -> String {
    let mut parts: Vec<String> = Vec::new();
    for flow in &run.flows {
        let way = if flow.backward { ", backward" } else { "" };
        let part = format!("{} on Linux {}{way}", flow.congestion, shown(&flow.kernel));
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.push(format!("engine {}", run.engine));
    let mut out = format!("<p class=\"quiet\">{}</p>", text(&parts.join(" · ")));
    if !run.substituted.is_empty() {
        let otherwise = text(&run.substituted.join("; "));
        let _ = write!(out, "<p>Not as the scenario says: {otherwise}</p>");
    }
    if !run.set.is_empty() {
        let set: Vec<String> =
            run.set.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let set = text(&set.join("; "));
        let _ = write!(out, "<p class=\"set\" title=\"{set}\">{set}</p>");
    }
    out
}

/// What became of datagrams.
fn datagrams_block(run: &Run, own: &Datagrams) -> String {
    let read = own.mean_mbit.map_or(numbers::ABSENT.to_string(), numbers::rate);
    format!(
        "<div class=\"flow\"><h4>{}</h4><dl class=\"keys\"><div><dt>datagrams read</dt><dd>{read}</dd></div>\
         <div><dt>not delivered</dt><dd>{}</dd></div></dl><p>{}</p></div>",
        text(&own.name),
        numbers::share(own.undelivered_share),
        text(&fate(run, own))
    )
}

fn flow_block(run: &Run, flow: &Flow) -> String {
    let name =
        if run.flows.len() > 1 { format!("<h4>{}</h4>", text(&flow.name)) } else { String::new() };
    let plateau = flow.plateau_mbit.map_or("no plateau reached".to_string(), |mbit| {
        format!("to 90 % of {}", numbers::rate(mbit))
    });
    let time = flow.time_to_plateau_s.map_or(numbers::ABSENT.to_string(), numbers::seconds);
    let retransmitted = match flow.retransmitted_segments {
        0 => "no retransmission".to_string(),
        1 => "1 segment retransmitted".to_string(),
        n => format!("{} segments retransmitted", numbers::count(n)),
    };
    let aborted = flow.aborted.as_ref().map(|end| text(&happened::aborted(end)));
    let aborted = aborted.map(|end| format!("<p class=\"bad\">{end}</p>")).unwrap_or_default();
    let places = limits::cuts(run, flow).into_iter().chain(limits::dropped_acks(flow));
    let places: String = places.map(|place| format!("<p>{}</p>", text(&place))).collect();
    format!(
        "<div class=\"flow\">{name}{aborted}<dl class=\"keys\">\
         <div><dt>{plateau}</dt><dd>{time}</dd></div>\
         <div><dt>mean over its life</dt><dd>{}</dd></div></dl>{}{places}\
         <p class=\"quiet\">{retransmitted}</p></div>",
        numbers::rate(flow.mean_mbit),
        shares(&flow.limits),
    )
}

/// A bar of what held the flow back, and its largest parts in words; the words add up to 100 %.
fn shares(limits: &BTreeMap<String, f64>) -> String {
    let ranked = limits::ranked(limits);
    if ranked.is_empty() {
        return "<p class=\"quiet\">what held it back is not known</p>".to_string();
    }
    let mut stacked = ranked.clone();
    stacked.sort_by_key(|(name, _)| limits::place(name));
    let mut out = String::from("<div class=\"shares\" aria-hidden=\"true\">");
    for (name, share) in &stacked {
        let _ = write!(
            out,
            "<i class=\"limit-{}\" style=\"flex-grow:{share:.5}\"></i>",
            limits::place(name)
        );
    }
    out.push_str("</div><ul class=\"held\">");
    for (name, share) in ranked.iter().take(LIMITS_NAMED) {
        out.push_str(&held(&format!("limit-{}", limits::place(name)), limits::label(name), *share));
    }
    let rest: f64 = ranked.iter().skip(LIMITS_NAMED).map(|(_, share)| share).sum();
    if rest > 0.0 {
        out.push_str(&held("limit-rest", "other", rest));
    }
    out.push_str("</ul>");
    out
}

fn held(class: &str, label: &str, share: f64) -> String {
    format!("<li><i class=\"{class}\"></i>{} <b>{}</b></li>", text(label), numbers::share(share))
}

fn published_line(published: &Published) -> String {
    let (theirs, ours) = (published.rows_mbit, published.simulated_rows_mbit);
    let mean = (theirs > 0.0).then(|| {
        format!(
            "published mean {}, simulated over the same rows {} ({})",
            numbers::rate(theirs),
            numbers::rate(ours),
            numbers::difference(ours / theirs - 1.0)
        )
    });
    let median = published.median_error_before_plateau.map(|median| {
        let worst = published.worst_error_before_plateau;
        let worst =
            worst.map_or(String::new(), |worst| format!(", worst {}", numbers::share(worst)));
        format!("ramp: median error {}{worst}", numbers::share(median))
    });
    let lines: Vec<String> =
        [mean, median].into_iter().flatten().map(|line| sentence(&line)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("<p class=\"line\">{}</p>", lines.join("<br>"))
}

fn expectation_line(expectations: &[Expectation]) -> String {
    if expectations.is_empty() {
        return String::new();
    }
    let held = expectations.iter().filter(|expectation| expectation.passed).count();
    let (class, mark) = if held == expectations.len() { ("good", "✓") } else { ("bad", "✗") };
    format!(
        "<p class=\"line {class}\">{mark} {held} of {} expectations hold</p>",
        expectations.len()
    )
}

#[cfg(test)]
mod tests {
    use super::card;
    use crate::report::terminal::sample;

    #[test]
    fn a_card_is_about_datagrams_where_flows_only_stand_beside_them() {
        let mut run = sample::with_datagrams().runs.remove(0);
        let html = card(0, &run, None);
        assert!(html.contains("<h4>udp</h4>") && html.contains("<dd>894 Mb/s</dd>"), "{html}");
        assert!(html.contains("12,345 at a-link") && html.contains("beside them bulk"), "{html}");
        assert!(!html.contains("mean over its life"), "{html}");
        run.datagrams.clear();
        assert!(card(0, &run, None).contains("mean over its life"));
    }

    #[test]
    fn a_card_has_the_sum_of_several_flows() {
        let run = sample::document().runs.remove(1);
        assert!(card(0, &run, None).contains("all 2 flows together: <b>8,590 Mb/s</b>"));
    }
}
