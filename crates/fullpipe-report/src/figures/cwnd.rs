//! Congestion window and slow start threshold.

use super::figure::{Axis, Figure, Layout, Prominence, Role, Series, TIME};
use super::parting::{finding, partings};
use super::rounds::ticks;
use super::subject::{Subject, extremes, subjects};
use fullpipe_analysis::document::Document;
use fullpipe_analysis::numbers;

pub(super) fn figure(document: &Document) -> Figure {
    let subjects = subjects(document);
    Figure {
        name: "cwnd",
        // A comparison's finding goes before that of single runs.
        title: finding(document).unwrap_or_else(|| title(&subjects)),
        description: "Congestion window (line) and slow start threshold (dashes; not drawn while \
                      infinite), values at the end of each bucket. Strokes with numbers: where rounds of \
                      slow start begin."
            .to_string(),
        prominence: Prominence::Main,
        layout: Layout::Overlay,
        x: TIME,
        y: Axis { label: "congestion window", unit: "packets", from_zero: true, log_offered: true },
        series: subjects.iter().flat_map(series).collect(),
        annotations: Vec::new(),
        moments: partings(document),
        ticks: subjects.iter().flat_map(ticks).collect(),
    }
}

fn series(subject: &Subject) -> [Series; 2] {
    let ssthresh =
        Series { absent: "infinite", ..subject.gauge("ssthresh", Role::Bound, "ssthresh", 1.0) };
    [subject.gauge("cwnd", Role::Measure, "cwnd", 1.0), ssthresh]
}

fn title(subjects: &[Subject]) -> String {
    let Some([_, (_, peak)]) = extremes(subjects, highest) else {
        return "No congestion window was recorded".to_string();
    };
    let peak = numbers::packets(peak as u64);

    // The time to half of the peak shows growth; the peak itself may be one spike.
    match extremes(subjects, half_way) {
        Some([(early, soon), (late, long)]) if long > soon => format!(
            "cwnd needs {} to half of its peak with {}, {} with {}; the highest peak is {peak}",
            numbers::seconds(long),
            late.label,
            numbers::seconds(soon),
            early.label,
        ),
        Some([_, (_, at)]) => format!(
            "cwnd peaks at {peak}; it passes half of its peak after {}",
            numbers::seconds(at)
        ),
        None => format!("cwnd peaks at {peak}"),
    }
}

fn highest(subject: &Subject) -> Option<f64> {
    subject.flow.series.cwnd.iter().max().map(|cwnd| f64::from(*cwnd))
}

/// When the window first was half of the flow's highest, s.
fn half_way(subject: &Subject) -> Option<f64> {
    let series = &subject.flow.series;
    let half = highest(subject)? / 2.0;
    let place = series.cwnd.iter().position(|cwnd| f64::from(*cwnd) >= half)?;
    series.end_s.get(place).copied()
}
