//! The queue in front of the bottleneck: of the slowest link, or of the sender's card where that is slower.

use super::figure::{Axis, Figure, Layout, Prominence, Role, TIME};
use super::subject::{Subject, extremes, subjects};
use fullpipe_analysis::document::Document;
use fullpipe_analysis::numbers;

pub(super) fn figure(document: &Document) -> Figure {
    let subjects = subjects(document);
    Figure {
        name: "queue",
        title: title(&subjects),
        description:
            "Packets waiting in front of the slowest link, or of a card that is slower (in its \
                      qdisc or its ring, where there are more), the highest of each bucket."
                .to_string(),
        prominence: Prominence::Supporting,
        layout: Layout::Overlay,
        x: TIME,
        y: Axis { label: "bottleneck queue", unit: "packets", from_zero: true, log_offered: false },
        series: subjects
            .iter()
            .map(|subject| subject.gauge("queue", Role::Measure, "queue", 1.0))
            .collect(),
        annotations: Vec::new(),
        moments: Vec::new(),
        ticks: Vec::new(),
    }
}

fn title(subjects: &[Subject]) -> String {
    let Some([_, (deepest, peak)]) = extremes(subjects, |s| Some(highest(s)?.1)) else {
        return "No queue was recorded".to_string();
    };
    if peak == 0.0 {
        return "No packet ever waits at the bottleneck".to_string();
    }

    // The moment of the peak shows whether slow start or the plateau fills the queue.
    let at = highest(deepest).map_or(0.0, |(at, _)| at);
    format!(
        "The bottleneck's queue is {} at most, with {} after {}",
        numbers::packets(peak as u64),
        deepest.label,
        numbers::seconds(at)
    )
}

/// First time of the longest queue, s, and its length, packets.
fn highest(subject: &Subject) -> Option<(f64, f64)> {
    let series = &subject.flow.series;
    let peak = *series.queue.iter().max()?;
    let place = series.queue.iter().position(|queue| *queue == peak)?;
    Some((*series.end_s.get(place)?, peak as f64))
}
