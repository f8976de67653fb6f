//! Results of slow start, where a scenario asks for them.

use super::Style;
use super::grid::{Column, lay_out, number, words, wrap};
use crate::tables::asks_for_slow_start;
use fullpipe_analysis::document::{Document, Flow, Run, SlowStart};
use fullpipe_analysis::numbers;

const COLUMNS: [Column; 6] = [
    words(""),
    number("to full rate", "s"),
    number("ended", "s"),
    number("largest cwnd", "packets"),
    number("lost", "segments"),
    number("queued", "ms"),
];

/// Heading and two lines per flow: its name, which is long in a sweep, and the numbers; nothing where no run asks for
/// a slow start.
pub fn lines(document: &Document, style: Style) -> Vec<String> {
    let asking = document.runs.iter().filter(|run| asks_for_slow_start(run));
    let all = asking.flat_map(|run| run.flows.iter().map(move |flow| (run, flow)));
    let known: Vec<(&Run, &Flow, SlowStart)> =
        all.filter_map(|(run, flow)| Some((run, flow, flow.slow_start?))).collect();
    if known.is_empty() {
        return Vec::new();
    }
    let rows: Vec<Vec<String>> = known.iter().map(|(_, flow, s)| row(flow, s)).collect();
    let mut table = lay_out(&COLUMNS, &rows, style.columns()).into_iter();
    let mut lines = vec![String::new(), style.bold("Slow start")];
    lines.extend(table.by_ref().take(2).map(|line| style.faint(&line)));

    // The name gets a line of its own above the numbers.
    for ((run, flow, _), line) in known.iter().zip(table) {
        let name = match run.flows.len() {
            1 => run.variant.clone(),
            _ => format!("{} / {}", run.variant, flow.name),
        };
        lines.extend(wrap(&name, "  ", style.columns()));
        lines.push(line);
    }
    lines
}

fn row(flow: &Flow, slow_start: &SlowStart) -> Vec<String> {
    let seconds = |value: Option<f64>, decimals| {
        value.map_or(numbers::ABSENT.to_string(), |value| numbers::fixed(value, decimals))
    };
    vec![
        String::new(),
        seconds(flow.time_to_full_rate_s, 1),
        seconds(slow_start.ended_s, 2),
        numbers::count(slow_start.cwnd.into()),
        numbers::count(slow_start.retransmitted_segments),
        numbers::fixed(slow_start.queued_s * 1e3, 1),
    ]
}
