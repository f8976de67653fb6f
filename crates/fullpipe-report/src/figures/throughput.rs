//! Delivered payload per interval, with published rates and the band of all clock phases.

use super::figure::{Annotation, Axis, Column, Figure, Layout, Prominence, Role, Series, TIME};
use super::parting::partings;
use super::subject::{Subject, extremes, subjects};
use fullpipe_analysis::compare::rates_alike;
use fullpipe_analysis::document::{Document, PublishedRow};
use fullpipe_analysis::numbers;

pub(super) fn figure(document: &Document) -> Figure {
    let subjects = subjects(document);
    Figure {
        name: "throughput",
        title: title(&subjects),
        description: description(document),
        prominence: Prominence::Main,
        layout: Layout::Overlay,
        x: TIME,
        y: Axis {
            label: "throughput per interval",
            unit: "Mb/s",
            from_zero: true,
            log_offered: true,
        },
        series: subjects.iter().flat_map(series).collect(),
        annotations: subjects.iter().filter_map(annotation).collect(),
        moments: partings(document),
        ticks: Vec::new(),
    }
}

/// The finding: how fast flows are in the mean, and who needs how long to its highest rate.
fn title(subjects: &[Subject]) -> String {
    let Some([low, high]) = extremes(subjects, |s| Some(s.flow.mean_mbit)) else {
        return "No flow was measured".to_string();
    };
    let mean = match low.1 == high.1 {
        true => format!("Mean rate {}", numbers::rate(low.1)),
        false => format!("Mean rates of {} to {}", numbers::rate(low.1), numbers::rate(high.1)),
    };

    // Without a plateau there is no time to it.
    let Some([fastest, slowest]) = extremes(subjects, |s| s.flow.time_to_plateau_s) else {
        return format!("{mean}; no flow has a steady rate");
    };
    let highest = slowest.0.flow.plateau_mbit;
    let highest = highest.map_or(String::new(), |mbit| format!(", {}", numbers::rate(mbit)));
    let (slow, fast) = (numbers::seconds(slowest.1), numbers::seconds(fastest.1));

    // One flow has no other to be compared with.
    if subjects.len() == 1 {
        return format!("{mean}; 90 % of the highest rate{highest}, after {slow}");
    }
    if let Some(finding) = unlike_plateaus(subjects) {
        return format!("{mean}; {finding}");
    }

    // Equal times, as they are printed, need no names.
    if slow == fast {
        return format!("{mean}; 90 % of the highest rates after {slow}");
    }
    format!(
        "{mean}; {} needs {slow} to 90 % of its highest rate{highest}; {} needs {fast}",
        slowest.0.label, fastest.0.label
    )
}

/// The highest and the lowest plateau with the times to them, where these rates are not alike: then the shorter time is
/// no merit by itself.
fn unlike_plateaus(subjects: &[Subject]) -> Option<String> {
    let reached = |s: &Subject| s.flow.time_to_plateau_s.and(s.flow.plateau_mbit);
    let [low, high] = extremes(subjects, reached)?;
    if rates_alike(low.1, high.1) {
        return None;
    }

    // The rate goes first: the time to a low plateau is no merit.
    let sentence = |(subject, mbit): (&Subject, f64)| {
        let time = subject.flow.time_to_plateau_s.map_or_else(String::new, numbers::seconds);
        format!("{} of {} after {time}", numbers::rate(mbit), subject.label)
    };
    let never = match subjects.iter().filter(|s| reached(s).is_none()).count() {
        0 => String::new(),
        1 => "; one reaches no plateau".to_string(),
        several => format!("; {several} reach no plateau"),
    };
    let (high, low) = (sentence(high), sentence(low));
    Some(format!("90 % of the highest plateau: {high}; of the lowest: {low}{never}"))
}

fn description(document: &Document) -> String {
    let mut text = "Payload delivered to the receiving application in each interval, drawn at the \
                    interval's middle. Diamonds mark the first interval at 90 % of the highest rate."
        .to_string();
    if document.runs.iter().any(|run| run.published.is_some()) {
        text.push_str(
            " Circles are published figures; the shaded band is what the simulation gives over all \
             phases of the interval clock and of the path's timers.",
        );
    }
    text
}

fn series(subject: &Subject) -> Vec<Series> {
    let (run, flow) = (subject.run_index, subject.flow_index);
    let simulated = Series {
        id: format!("r{run}.f{flow}.throughput_mbit"),
        run,
        flow: Some(flow),
        line: None,
        name: "simulated".to_string(),
        role: Role::Measure,
        x: subject.times("intervals/*/end_s"),
        x_start: Some(subject.times("intervals/*/start_s")),
        y: Column::of(subject.pointer("intervals/*/throughput_mbit")),
        y_high: None,
        absent: "",
    };

    // A run without published figures has its own line alone.
    let mut all = vec![simulated];
    // Published figures belong to a run; they are drawn with its first flow.
    if let Some(published) = subject.run.published.as_ref().filter(|_| flow == 0) {
        all.splice(0..0, [band(subject, &published.rows), points(subject)]);
    }
    all
}

/// The published rows, on the clock of the flow that they are compared with.
fn points(subject: &Subject) -> Series {
    let run = subject.run_index;
    let from = |field: &str| format!("/runs/{run}/published/rows/*/{field}");
    let time =
        |field: &str| Column::Document { from: from(field), scale: 1.0, offset: subject.delay_s() };
    Series {
        id: format!("r{run}.published"),
        run,
        flow: Some(0),
        line: None,
        name: "published".to_string(),
        role: Role::Published,
        x: time("end_s"),
        x_start: Some(time("start_s")),
        y: Column::of(from("throughput_mbit")),
        y_high: None,
        absent: "",
    }
}

fn band(subject: &Subject, rows: &[PublishedRow]) -> Series {
    let rates = |bytes: fn(&PublishedRow) -> u64| {
        Column::Derived(rows.iter().map(|row| mbit(bytes(row), row.end_s - row.start_s)).collect())
    };
    Series {
        id: format!("r{}.band", subject.run_index),
        name: "over all phases".to_string(),
        role: Role::Band,
        y: rates(|row| row.band_low),
        y_high: Some(rates(|row| row.band_high)),
        ..points(subject)
    }
}

/// Mb/s from bytes in a time; none where the time is not positive.
fn mbit(bytes: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| bytes as f64 * 8e-6 / seconds)
}

fn annotation(subject: &Subject) -> Option<Annotation> {
    let flow = subject.flow;
    let (time, plateau) = (flow.time_to_plateau_s?, flow.plateau_mbit?);
    let first = flow.intervals.iter().find(|interval| interval.throughput_mbit >= 0.9 * plateau)?;
    Some(Annotation {
        run: subject.run_index,
        flow: subject.flow_index,
        x: subject.delay_s() + (first.start_s + first.end_s) / 2.0,
        y: first.throughput_mbit,
        label: numbers::seconds(time),
    })
}
