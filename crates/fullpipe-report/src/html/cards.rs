//! The verdict: one card per run.

use super::drawn::hidden;
use crate::aggregate::{fate, is_beside};
use crate::overview::{self, Of, Row};
use crate::page::escape::{sentence, text};
use crate::{happened, shares};
use fullpipe_analysis::document::{Datagrams, Expectation, Flow, Published, Run};
use fullpipe_analysis::limits;
use fullpipe_analysis::numbers;
use fullpipe_analysis::scenario::shown;
use std::fmt::Write;

/// Number of kinds of flows that a card shows; the others are in the table of flows.
const KINDS_SHOWN: usize = 4;
/// Limits a card names; the others are added up.
const LIMITS_NAMED: usize = 3;

/// The card of a run.
pub(super) struct Card<'a> {
    /// Index of the run in the document.
    pub index: usize,
    /// The run.
    pub run: &'a Run,
    /// Address of its time-sequence graph.
    pub graph: Option<&'a str>,
    /// Whether the document has no other run: the page's first sentence is the run's then.
    pub is_alone: bool,
    /// Whether the page shows the run at first.
    pub is_shown: bool,
}

impl Card<'_> {
    /// The card as HTML.
    pub(super) fn html(&self) -> String {
        let Card { index, run, graph, .. } = *self;
        let mut out = format!(
            "<article class=\"card\" data-run=\"{index}\"{}><h3><span class=\"chip\"></span>{}{}</h3>",
            hidden(self.is_shown),
            text(&run.variant),
            if run.partial { " <span class=\"badge\">partial</span>" } else { "" },
        );

        // The only run's headline stands above its card already.
        if let Some(headline) = run.headline.as_ref().filter(|_| !self.is_alone) {
            let bad = if headline.grade.is_failure() { " class=\"bad\"" } else { "" };
            let _ = write!(out, "<p{bad}>{}</p>", sentence(&headline.text));
        }
        out.push_str(&subtitle(run));
        out.push_str(&subjects(run));
        if let Some(published) = &run.published {
            out.push_str(&published_line(published));
        }
        out.push_str(&expectation_line(&run.expectations));

        // The graph exists only where packets were kept.
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
}

/// Datagrams and flows of a run; alike flows are joined.
fn subjects(run: &Run) -> String {
    let mut out = String::new();
    let rows = overview::of_run(run);

    // Many kinds of flows would fill the card: the first few are shown.
    let kinds = rows.iter().filter(|row| matches!(row.of, Of::Alike(_))).count();

    // Negligible flows beside datagrams get a line each, and no block.
    for flow in run.flows.iter().filter(|flow| is_beside(run, flow)) {
        let (name, bytes) = (text(&flow.name), numbers::count(flow.bytes));
        let _ = write!(out, "<p class=\"quiet\">beside them {name}: {bytes} bytes of TCP</p>");
    }
    let mut shown = 0;
    for row in &rows {
        match (&row.of, row.flows()) {
            (Of::Datagrams(own), _) => out.push_str(&datagrams_block(run, own)),
            (Of::All(flows), _) => {
                let rate = row.rate_mbit().map_or(numbers::ABSENT.into(), numbers::rate);
                let _ = write!(
                    out,
                    "<p class=\"line\">all {} flows together: <b>{rate}</b></p>",
                    flows.len()
                );
            }
            (Of::Alike(_), _) if shown == KINDS_SHOWN => {}
            (Of::Alike(_), flows) => {
                shown += 1;
                out.push_str(&match flows {
                    [flow] => flow_block(run, flow),
                    _ => crowd_block(run, row),
                });
            }
        }
    }

    // The table of flows has those that are left out.
    if kinds > shown {
        let more = kinds - shown;
        let kinds = if more == 1 { "kind" } else { "kinds" };
        let _ = write!(
            out,
            "<p class=\"quiet\">and {more} more {kinds} of flows, see the table of flows</p>"
        );
    }
    if run.flows.is_empty() {
        out.push_str("<p class=\"quiet\">no flow was measured</p>");
    }
    out
}

/// Flows that only their names distinguish: their sum, least, median and most.
fn crowd_block(run: &Run, row: &Row) -> String {
    let flows = row.flows();
    let rate = row.rate_mbit().map_or(numbers::ABSENT.into(), numbers::rate);
    let spread = row.spread_mbit().map(|spread| spread.map(numbers::short).join(" · "));
    let spread = spread.map_or(numbers::ABSENT.into(), |spread| format!("{spread} Mb/s"));
    let name =
        if row.is_part() { format!("<h4>{}</h4>", text(&row.name())) } else { String::new() };

    // An aborted flow is named even in a crowd.
    let aborted = flows.iter().filter_map(|flow| Some((flow, flow.aborted.as_ref()?)));
    let aborted: String = aborted
        .map(|(flow, end)| {
            let end = text(&happened::aborted(end));
            format!("<p class=\"bad\">{}: {end}</p>", text(&flow.name))
        })
        .collect();

    // The first place found stands for the crowd.
    let places = flows.iter().flat_map(|flow| shares::reductions(run, flow)).next();
    let places = places.map_or(String::new(), |place| {
        format!("<p>{}: {}</p>", text(&flows[0].name), text(&place))
    });
    format!(
        "<div class=\"flow\">{name}{aborted}<dl class=\"keys\">\
         <div><dt>{} flows together</dt><dd>{rate}</dd></div>\
         <div><dt>least, median, most</dt><dd class=\"three\">{spread}</dd></div></dl>{}{places}\
         <p class=\"quiet\">{}</p></div>",
        flows.len(),
        shares(&row.limits()),
        retransmitted(row.resent()),
    )
}

fn retransmitted(segments: u64) -> String {
    match segments {
        0 => "no retransmission".to_string(),
        1 => "1 segment retransmitted".to_string(),
        n => format!("{} segments retransmitted", numbers::count(n)),
    }
}

/// Facts of a run: congestion control, kernel, engine, and settings of the variant.
fn subtitle(run: &Run) -> String {
    let mut parts: Vec<String> = Vec::new();

    // Flows with equal control and kernel share an entry; of another host's socket both are unknown.
    for flow in run.flows.iter().filter(|flow| !flow.congestion.is_empty()) {
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

    // The variant's settings are cut by the page where they are long.
    if !run.set.is_empty() {
        let set: Vec<String> =
            run.set.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let set = text(&set.join("; "));
        let _ = write!(out, "<p class=\"set\" title=\"{set}\">{set}</p>");
    }
    out
}

/// Fate of datagrams.
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

    // Without a plateau the label stays, and the time is absent.
    let plateau = flow.plateau_mbit.map_or("to 90 % of its highest rate".to_string(), |mbit| {
        format!("to 90 % of its highest rate, {}", numbers::rate(mbit))
    });
    let time = flow.time_to_plateau_s.map_or(numbers::ABSENT.to_string(), numbers::seconds);
    let aborted = flow.aborted.as_ref().map(|end| text(&happened::aborted(end)));
    let aborted = aborted.map(|end| format!("<p class=\"bad\">{end}</p>")).unwrap_or_default();
    let places = shares::reductions(run, flow).into_iter().chain(shares::dropped_acks(flow));
    let places: String = places.map(|place| format!("<p>{}</p>", text(&place))).collect();
    format!(
        "<div class=\"flow\">{name}{aborted}<dl class=\"keys\">\
         <div><dt>{plateau}</dt><dd>{time}</dd></div>\
         <div><dt>mean over its life</dt><dd>{}</dd></div></dl>{}{places}\
         <p class=\"quiet\">{}</p></div>",
        numbers::rate(flow.mean_mbit),
        shares(&shares::ranked(&flow.limits)),
        retransmitted(flow.retransmitted_segments),
    )
}

/// A bar of the flow's limits, with its largest parts in words; the words add up to 100 %.
fn shares(ranked: &[(&str, f64)]) -> String {
    if ranked.is_empty() {
        return "<p class=\"quiet\">what held it back is not known</p>".to_string();
    }

    // Words go by size, the bar by the limits' fixed order: runs compare at a glance.
    let mut stacked = ranked.to_vec();
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

    // The rest makes the words add up to 100 %.
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

    // Rows without published data have no mean to compare with.
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
    use super::Card;
    use fullpipe_analysis::document::Run;
    use fullpipe_analysis::document::sample;

    fn card(run: &Run) -> String {
        Card { index: 0, run, graph: None, is_alone: true, is_shown: true }.html()
    }

    #[test]
    fn a_card_is_about_datagrams_where_flows_only_stand_beside_them() {
        let mut run = sample::with_datagrams().runs.remove(0);
        let html = card(&run);
        assert!(html.contains("<h4>udp</h4>") && html.contains("<dd>894 Mb/s</dd>"), "{html}");
        assert!(html.contains("12,345 at a-link") && html.contains("beside them bulk"), "{html}");
        assert!(!html.contains("mean over its life"), "{html}");
        run.datagrams.clear();
        assert!(card(&run).contains("mean over its life"));
    }

    #[test]
    fn a_card_has_the_sum_of_several_flows() {
        let run = sample::document().runs.remove(1);
        assert!(card(&run).contains("all 2 flows together: <b>8,590 Mb/s</b>"));
    }

    #[test]
    fn alike_flows_stand_together_on_a_card() {
        let mut run = sample::document().runs.remove(1);
        let flow = run.flows[0].clone();
        run.flows = (0..8)
            .map(|n| {
                let mut flow = flow.clone();
                (flow.name, flow.mean_mbit) = (format!("bulk-{n}"), 10.0 * f64::from(n + 1));
                flow
            })
            .collect();
        let html = card(&run);
        assert!(html.contains("<dt>8 flows together</dt>"), "{html}");
        assert!(html.contains("10 · 40 · 80 Mb/s"), "{html}");
    }
}
