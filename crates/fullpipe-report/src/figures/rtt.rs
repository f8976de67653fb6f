//! Smoothed round-trip time.

use super::figure::{Axis, Figure, Layout, Prominence, Role, Series, TIME};
use super::subject::{Subject, extremes, subjects};
use fullpipe_analysis::document::Document;
use fullpipe_analysis::numbers;

const MS_PER_US: f64 = 0.001;

pub(super) fn figure(document: &Document) -> Figure {
    let subjects = subjects(document);
    Figure {
        name: "rtt",
        title: title(&subjects),
        description: "Smoothed round-trip time as the sender's TCP knows it. The axis does not \
                      begin at zero."
            .to_string(),
        prominence: Prominence::Supporting,
        layout: Layout::Overlay,
        x: TIME,
        y: Axis { label: "smoothed RTT", unit: "ms", from_zero: false, log_offered: false },
        series: subjects.iter().map(series).collect(),
        annotations: Vec::new(),
        moments: Vec::new(),
        ticks: Vec::new(),
    }
}

fn series(subject: &Subject) -> Series {
    Series { absent: "no sample yet", ..subject.gauge("srtt", Role::Measure, "srtt_us", MS_PER_US) }
}

fn title(subjects: &[Subject]) -> String {
    let samples =
        |s: &Subject| -> Vec<u32> { s.flow.series.srtt_us.iter().flatten().copied().collect() };

    // The least RTT of all flows is taken as the path's own.
    let least = extremes(subjects, |s| samples(s).iter().min().map(|us| f64::from(*us)));
    let most = extremes(subjects, |s| samples(s).iter().max().map(|us| f64::from(*us)));
    let (Some([(_, low), _]), Some([_, (worst, high)])) = (least, most) else {
        return "No round-trip time was sampled".to_string();
    };
    let ms = |us: f64| numbers::short(us * MS_PER_US);

    // One per cent is no queue worth a sentence.
    if high - low < 0.01 * low {
        format!("srtt stays between {} and {} ms", ms(low), ms(high))
    } else {
        format!(
            "srtt rises from {} to at most {} ms, with {}: {} ms of waiting",
            ms(low),
            ms(high),
            worst.label,
            ms(high - low)
        )
    }
}
