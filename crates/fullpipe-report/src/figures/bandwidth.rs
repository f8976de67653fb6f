//! Rates that each flow and all of them together send and deliver over time.

use super::figure::{Axis, Figure, Line, Role, Series};
use super::over_time::{Binned, bin, figure as figure_of, with};
use fullpipe_analysis::document::{Document, Rates, Run};
use fullpipe_analysis::numbers;

const ALL: &str = "all flows";

pub(super) fn figure(document: &Document) -> Figure {
    let several = document.runs.iter().any(|run| run.flows.len() > 1);
    let description = format!(
        "Payload in {}: what the receiving applications read (lines), and what the senders' TCP sent, retransmissions included (dashes){}.",
        bin(document),
        if several { "; the thickest line is all flows together" } else { "" }
    );
    let y = Axis { label: "bandwidth", unit: "Mb/s", from_zero: true, log_offered: true };
    let runs = document.runs.iter().enumerate();
    let series = runs.flat_map(|(run, of)| series(run, of)).collect();
    figure_of("bandwidth", title(document), description, y, series)
}

/// Series of a run. The sum of a single flow is the flow, with its own line.
fn series(run: usize, of: &Run) -> Vec<Series> {
    let pair = |place: String, line: Line, flow: Option<usize>| {
        let one = |name, role, field| {
            let (line, field) = (line.clone(), format!("{place}/{field}"));
            Binned { run, of, flow, line, name, role, field }.series()
        };
        [
            one("delivered", Role::Measure, "delivered_mbit"),
            one("sent, with retransmissions", Role::Bound, "sent_mbit"),
        ]
    };

    // Runs whose bins were not kept have no lines.
    let flows = of.flows.iter().take(of.bins.flows.len()).enumerate();
    let mut all: Vec<Series> = flows
        .flat_map(|(flow, known)| {
            let line = Line { name: known.name.clone(), colour: Some(flow) };
            pair(format!("flows/{flow}"), line, Some(flow))
        })
        .collect();

    // The sum of one flow would hide the flow's own line.
    if of.bins.flows.len() > 1 {
        all.extend(pair("sum".into(), Line { name: ALL.into(), colour: None }, None));
    }
    all
}

fn title(document: &Document) -> String {
    let means = document.runs.iter().filter_map(|run| Some((run, mean(run)?)));
    let mut means: Vec<(&Run, f64)> = means.collect();

    // The extremes name the finding: all others lie between them.
    means.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((least, low)), Some((most, high))) = (means.first(), means.last()) else {
        return "No bandwidth was recorded".to_string();
    };
    let several = document.runs.iter().any(|run| run.flows.len() > 1);
    let who = if several { "All flows together deliver" } else { "The flow delivers" };
    let finding = match means.len() {
        1 => format!("{who} {} in the mean", numbers::rate(*high)),
        _ => format!(
            "{who} {} in the mean{}, {}{}",
            numbers::rate(*high),
            with(document, most),
            numbers::rate(*low),
            with(document, least)
        ),
    };
    let again = |run: &&Run| resent(&run.bins.sum);

    // The worst run alone is named: its share of repetitions is the largest.
    let worst = document.runs.iter().max_by(|a, b| again(a).total_cmp(&again(b)));
    match worst.filter(|run| again(run) > 0.0) {
        None => format!("{finding}; nothing is sent again"),
        Some(run) => {
            let share = numbers::share(again(&run));
            format!("{finding}; {share} of what is sent{} is sent again", with(document, run))
        }
    }
}

/// Mb/s over all bins of a run.
fn mean(run: &Run) -> Option<f64> {
    let end = run.bins.end_s.last().filter(|end| **end > 0.0)?;
    let bytes: u64 = run.bins.sum.delivered_bytes.iter().sum();
    (!run.bins.flows.is_empty()).then_some(bytes as f64 * 8e-6 / end)
}

/// Retransmissions as a share of sent bytes.
fn resent(rates: &Rates) -> f64 {
    let [again, sent] = [&rates.retransmitted_bytes, &rates.sent_bytes];
    let [again, sent] = [again, sent].map(|column| column.iter().sum::<u64>());
    again as f64 / sent.max(1) as f64
}
