//! Packets in flight against the two windows that bound them.

use super::figure::{Axis, Figure, Layout, Prominence, Role, Series, TIME};
use super::subject::{Subject, extremes, subjects};
use fullpipe_analysis::document::Document;
use fullpipe_analysis::numbers;

pub(super) fn figure(document: &Document) -> Figure {
    let subjects = subjects(document);
    Figure {
        name: "windows",
        title: title(&subjects),
        description: "Packets in flight (coloured), congestion window (dashes) and the advertised \
                      window as the sender knows it (dots), in packets of one MSS. In flight below \
                      both windows means that neither held the flow back."
            .to_string(),
        prominence: Prominence::Main,
        layout: Layout::PerRun,
        x: TIME,
        y: Axis { label: "packets", unit: "packets", from_zero: true, log_offered: true },
        series: subjects.iter().flat_map(series).collect(),
        annotations: Vec::new(),
        moments: Vec::new(),
        ticks: Vec::new(),
    }
}

fn series(subject: &Subject) -> [Series; 3] {
    [
        subject.gauge("in flight", Role::Measure, "in_flight", 1.0),
        subject.gauge("cwnd", Role::Bound, "cwnd", 1.0),
        subject.gauge("advertised window", Role::Ceiling, "snd_wnd_packets", 1.0),
    ]
}

fn title(subjects: &[Subject]) -> String {
    match extremes(subjects, fill) {
        None => "No window was recorded".to_string(),
        // One per cent apart is alike: one share suffices.
        Some([low, high]) if high.1 - low.1 < 0.01 => {
            format!("In flight reaches {} of the advertised window", numbers::share(high.1))
        }
        Some([low, high]) => format!(
            "In flight reaches {} of the advertised window with {}, {} with {}",
            numbers::share(high.1),
            high.0.label,
            numbers::share(low.1),
            low.0.label,
        ),
    }
}

/// Highest in flight as a share of the highest advertised window.
fn fill(subject: &Subject) -> Option<f64> {
    let series = &subject.flow.series;
    let window = *series.snd_wnd_packets.iter().max()?;
    let in_flight = *series.in_flight.iter().max()?;
    (window > 0).then(|| f64::from(in_flight) / f64::from(window))
}
