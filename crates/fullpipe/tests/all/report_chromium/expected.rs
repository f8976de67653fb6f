//! Expected drawings, taken from the document's fields, not from the figures.

use fullpipe::analysis::document::{Document, Flow};

/// A point of the document: x, y and, for a band, the upper end.
pub type Point = (f64, f64, Option<f64>);

/// A column of a flow's series, over its time.
pub fn gauge<T: Copy + Into<f64>>(flow: &Flow, column: &[T], scale: f64) -> Vec<Point> {
    let times = flow.series.end_s.iter();
    times.zip(column).map(|(time, value)| (*time, (*value).into() * scale, None)).collect()
}

fn optional(flow: &Flow, column: &[Option<u32>], scale: f64) -> Vec<Point> {
    let times = flow.series.end_s.iter();
    times
        .zip(column)
        .filter_map(|(time, value)| Some((*time, f64::from((*value)?) * scale, None)))
        .collect()
}

fn throughput(flow: &Flow) -> Vec<Point> {
    let middle = |start: f64, end: f64| (start + end) / 2.0;
    let intervals = flow.intervals.iter();
    intervals.map(|one| (middle(one.start_s, one.end_s), one.throughput_mbit, None)).collect()
}

/// Every series that a run with one flow has: figure, id, points.
pub fn expected(document: &Document, run: usize) -> Vec<(&'static str, String, Vec<Point>)> {
    let flow = &document.runs[run].flows[0];
    let series = &flow.series;
    let id = |field: &str| format!("r{run}.f0.{field}");
    let queue: Vec<f64> = series.queue.iter().map(|queue| *queue as f64).collect();
    let mut all = vec![
        ("throughput", id("throughput_mbit"), throughput(flow)),
        ("cwnd", id("cwnd"), gauge(flow, &series.cwnd, 1.0)),
        ("cwnd", id("ssthresh"), optional(flow, &series.ssthresh, 1.0)),
        ("windows", id("in_flight"), gauge(flow, &series.in_flight, 1.0)),
        ("windows", id("cwnd"), gauge(flow, &series.cwnd, 1.0)),
        ("windows", id("snd_wnd_packets"), gauge(flow, &series.snd_wnd_packets, 1.0)),
        ("rtt", id("srtt_us"), optional(flow, &series.srtt_us, 0.001)),
        ("queue", id("queue"), gauge(flow, &queue, 1.0)),
    ];
    all.extend(over_time(document, run));
    for (name, shares) in
        series.limits.iter().filter(|(_, shares)| shares.iter().any(|share| *share > 0.0))
    {
        let half = series.bucket_s / 2.0;
        let points = gauge(flow, shares, 100.0).into_iter().map(|(x, y, _)| (x - half, y, None));
        all.push(("limits", id(&format!("limits/{name}")), points.collect()));
    }
    if let Some(published) = &document.runs[run].published {
        let rows = published.rows.iter();
        let rate = |bytes: u64| bytes as f64 * 8e-6;
        let points = rows.clone().map(|row| (row.start_s + 0.5, row.throughput_mbit, None));
        all.push(("throughput", format!("r{run}.published"), points.collect()));
        let band =
            rows.map(|row| (row.start_s + 0.5, rate(row.band_low), Some(rate(row.band_high))));
        all.push(("throughput", format!("r{run}.band"), band.collect()));
    }
    all
}

/// Expected drawings of the run's bins, except columns: these are stacked.
fn over_time(document: &Document, run: usize) -> Vec<(&'static str, String, Vec<Point>)> {
    let (of, mut all) = (&document.runs[run], Vec::new());
    let bins = &of.bins;
    let clock = of.flows.iter().map(|flow| flow.clock_start_s).fold(f64::MAX, f64::min);
    let points = |values: Vec<f64>| {
        let middles = bins.start_s.iter().zip(&bins.end_s).map(|(a, b)| (a + b) / 2.0 - clock);
        middles.zip(values).filter(|(x, _)| *x >= 0.0).map(|(x, y)| (x, y, None)).collect()
    };
    for (flow, rates) in bins.flows.iter().enumerate() {
        let id = |what: &str| format!("r{run}.flows.{flow}.{what}");
        all.push(("bandwidth", id("delivered_mbit"), points(rates.delivered_mbit.clone())));
        all.push(("bandwidth", id("sent_mbit"), points(rates.sent_mbit.clone())));
    }
    for (index, place) in bins.places.iter().enumerate() {
        let peaks = place.peak.iter().map(|peak| *peak as f64).collect();
        all.push(("queues", format!("r{run}.places.{index}.peak"), points(peaks)));
    }
    all
}
