//! Times of messages on both engines, and the scenarios of newer keys.

use crate::numbers::ABSENT;
use crate::parity::distance::Unit;
use crate::parity::messages::{Messages, Summary};
use crate::parity::newer::{self, Newer};
use crate::report::terminal::Style;
use crate::report::terminal::grid::{Column, lay_out, number, words, wrap};

const NEWER: [Column; 5] = [
    words("newer keys"),
    number("runs", ""),
    number("apart", "% median"),
    number("under 5 %", "apart"),
    number("messages", "in time"),
];

/// The runs with messages, then a line for each file of newer keys; empty where there are none.
pub fn messages(units: &[Unit], style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(summary) = Summary::of(units) {
        lines.push(String::new());
        lines.extend(wrap(&summed(&summary), "", style.columns()));
    }
    let newer = newer::of(units);
    if !newer.is_empty() {
        lines.push(String::new());
        let rows: Vec<Vec<String>> = newer.iter().map(|row| cells(row).to_vec()).collect();
        lines.extend(lay_out(&NEWER, &rows, style.columns()));
    }
    lines
}

/// "messages keep to the bar in 3 of 4 runs; ...", without an end.
pub fn summed(summary: &Summary) -> String {
    let Summary { runs, kept, worst_run, worst } = summary;
    let flow = &worst.flow;
    format!(
        "messages keep to the bar in {kept} of {runs} runs; furthest apart, of what is allowed: {} in {worst_run}, \
         {flow}: {}",
        share(worst.excess()),
        both(worst)
    )
}

/// Times of a flow's messages on Linux and in the simulator.
fn both(messages: &Messages) -> String {
    let side = |side: usize, of: &str| match messages.times[side] {
        Some(times) => format!("{:.1} and {:.1} ms {of}", times.median_ms, times.p95_ms),
        None => format!("none {of}"),
    };
    format!("median and p95 {}, {}", side(0, "on Linux"), side(1, "here"))
}

/// Cells of a file's row: its name, runs, median distance in %, close runs, runs with like messages.
pub fn cells(newer: &Newer) -> [String; 5] {
    let Newer { file, runs, median, close, messages } = newer;
    let of = |kept: usize, all: usize| format!("{kept} of {all}");
    let absent = || ABSENT.to_string();
    [
        file.clone(),
        runs.to_string(),
        median.map_or_else(absent, |median| format!("{:.1}", median * 100.0)),
        of(*close, *runs),
        messages.as_ref().map_or_else(absent, |messages| of(messages.kept, messages.runs)),
    ]
}

/// A multiple of the allowed distance, in %.
pub fn share(excess: f64) -> String {
    if excess.is_finite() { format!("{:.1} %", excess * 100.0) } else { "one side only".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::distance::Throughput;
    use crate::parity::messages::Times;

    #[test]
    fn runs_with_messages_have_a_summary_and_files_a_row() {
        let times = |ms: f64| Some(Times { count: 3, median_ms: ms, p95_ms: 2.0 * ms });
        let messages = |sim| Messages {
            flow: "calls".into(),
            times: [times(100.0), times(sim)],
            round_trip_s: 0.02,
        };
        let throughput =
            Throughput { mean: 0.0, median: 0.0, worst: 0.0, worst_at_s: 1.0, intervals: 10 };
        let unit = |run: &str, sim| Unit {
            run: run.into(),
            throughput: Some(throughput),
            messages: vec![messages(sim)],
            ..Unit::default()
        };
        let units = [unit("programs/a", 100.0), unit("programs/b", 115.0)];
        let text = super::messages(&units, Style { width: 80, color: false }).join("\n");
        let expected = "\nmessages keep to the bar in 1 of 2 runs; furthest apart, of what is allowed:\n\
            150.0 % in programs/b, calls: median and p95 100.0 and 200.0 ms on Linux, 115.0\nand 230.0 ms here\n\n";
        assert!(text.starts_with(expected), "{text}");
        let row = text.lines().last().map(|line| line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(
            row.unwrap_or_default(),
            "programs 2 0.0 2 of 2 1 of 2".split(' ').collect::<Vec<_>>()
        );
        assert!(super::messages(&[Unit::default()], Style { width: 80, color: false }).is_empty());
    }
}
