//! Times of messages, with their answers or one way.

use super::Style;
use super::grid::wrap;
use fullpipe_analysis::document::{Flow, Messages, Run};
use fullpipe_analysis::numbers::{count, short};

/// A sentence for each flow with known times of messages; nothing where there is none.
pub fn lines(run: &Run, style: Style) -> Vec<String> {
    let asking = run.flows.iter().filter_map(|flow| Some((flow, flow.messages?)));
    let texts = asking.flat_map(|(flow, own)| wrap(&said(run, flow, own), "  ", style.columns()));
    let mut lines: Vec<String> = texts.collect();
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

fn said(run: &Run, flow: &Flow, own: Messages) -> String {
    let what = if own.one_way { "messages of" } else { "answers to" };
    format!(
        "{}: {} {what} {} were read: half of them within {} ms, 95 % within {} ms, the slowest after {} ms",
        run.variant,
        count(own.count),
        flow.name,
        short(own.median_ms),
        short(own.p95_ms),
        short(own.worst_ms)
    )
}
