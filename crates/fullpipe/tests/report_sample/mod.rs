//! Documents to render: one that looks like the 2007 experiment, one of edge cases, one of a sweep.
//!
//! Rates follow the published rows with a small deterministic error; windows, round-trip times and
//! limits are made up to be plausible. Nothing here says anything about the simulator.

#![allow(dead_code)] // each test binary uses a part

mod published;

use fullpipe::analysis::document::{
    Document, Expectation, FORMAT, Flow, Interval, Published, PublishedRow, Run, ScenarioInfo,
    Series, Stage,
};
use published::{RUNS, Rows};
use serde_json::Map;
use std::collections::BTreeMap;
use std::path::PathBuf;

const MIB: f64 = 1_048_576.0;
const MSS: f64 = 8960.0;
const RTT_S: f64 = 0.0804;
const BUCKET_S: f64 = 0.1;
/// Rate from which the host, not the window, is the limit, Mb/s.
const HOST_MBIT: f64 = 6950.0;

/// Deterministic noise in [-1, 1).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f64 / (1u64 << 23) as f64) - 1.0
    }
}

/// The four variants of 2007.
pub fn fink() -> Document {
    document(
        "Slow start at 10 Gb/s × 80 ms, 2007",
        RUNS.iter().enumerate().map(|(i, rows)| run(i, rows)).collect(),
    )
}

/// Two flows in each of two runs.
pub fn two_flows() -> Document {
    let mut runs: Vec<Run> =
        RUNS.iter().take(2).enumerate().map(|(i, rows)| run(i, rows)).collect();
    for (index, run) in runs.iter_mut().enumerate() {
        let mut second = flow("background", &RUNS[2 + index], 90 + index as u64);
        second.intervals.truncate(run.flows[0].intervals.len());
        run.flows.push(second);
    }
    document("Two flows", runs)
}

/// `count` runs, as a sweep gives.
pub fn sweep(count: usize) -> Document {
    let runs = (0..count).map(|index| {
        let mut run = run(index, &RUNS[index % RUNS.len()]);
        run.variant = format!("delay {} ms", 10 + 5 * index);
        run.published = None;
        run
    });
    document("Delays from 10 ms", runs.collect())
}

/// Runs with nothing, with one sample, and cut short; names that try to be HTML.
pub fn edges() -> Document {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\">'&amp;";
    let mut empty = run(0, &RUNS[0]);
    empty.variant = hostile.to_string();
    empty.flows[0] = Flow {
        intervals: Vec::new(),
        series: Series::default(),
        limits: BTreeMap::new(),
        plateau_mbit: None,
        time_to_plateau_s: None,
        mean_mbit: f64::NAN,
        ..empty.flows[0].clone()
    };
    empty.published = None;
    empty.stages.clear();
    empty.set.insert("flow.bulk.congestion".into(), serde_json::json!({"name": "</script>"}));
    let mut single = run(1, &RUNS[1]);
    single.variant = "one sample".to_string();
    truncate(&mut single.flows[0], 1, 1);
    single.published = None;
    let mut partial = run(2, &RUNS[2]);
    partial.variant = "cut short".to_string();
    partial.partial = true;
    truncate(&mut partial.flows[0], 7, 70);
    partial.flows[0].series.ssthresh.fill(None);
    partial.flows[0].plateau_mbit = None;
    partial.flows[0].time_to_plateau_s = None;
    let mut without = run(3, &RUNS[3]);
    without.variant = "no flow".to_string();
    without.flows.clear();
    without.published = None;
    let mut document = document(hostile, vec![empty, single, partial, without]);
    document.partial = true;
    document.scenario.name = "{title}<b>".to_string();
    document
}

/// Writes a page where people can look at it, when FULLPIPE_KEEP names a directory.
pub fn keep(name: &str, html: &str) {
    if let Some(directory) = std::env::var_os("FULLPIPE_KEEP") {
        let path = PathBuf::from(directory).join(name);
        std::fs::write(&path, html).expect("FULLPIPE_KEEP names a directory that can be written");
    }
}

fn document(title: &str, runs: Vec<Run>) -> Document {
    Document {
        format: FORMAT,
        scenario: ScenarioInfo { name: "fink-2007".to_string(), title: title.to_string(), seed: 1 },
        partial: false,
        runs,
    }
}

fn run(index: usize, rows: &Rows) -> Run {
    let flow = flow("bulk", rows, index as u64);
    let mut set = Map::new();
    if index > 0 {
        set.insert(
            "flow.bulk.congestion".to_string(),
            serde_json::json!({"name": rows.congestion, "initial_ssthresh": 100}),
        );
    }
    Run {
        variant: rows.name.to_string(),
        set,
        engine: "sim".to_string(),
        partial: false,
        duration_s: rows.mib.len() as f64,
        expectations: vec![expectation(&flow)],
        published: Some(published(rows, &flow)),
        stages: stages(&flow),
        flows: vec![flow],
    }
}

fn flow(name: &str, rows: &Rows, seed: u64) -> Flow {
    let mut noise = Noise(seed + 7);
    let rates: Vec<f64> = rows
        .mib
        .iter()
        .map(|mib| (mib * MIB / MSS * (1.0 + 0.006 * noise.next())).round() * MSS * 8e-6)
        .collect();
    let slow_start = rows.mib[0] > 50.0;
    let series = series(&rates, slow_start, &mut noise);
    let intervals = intervals(&rates, &series);
    let mut sorted = rates.clone();
    sorted.sort_by(f64::total_cmp);
    let plateau = sorted[sorted.len() - 3];
    let limits = series.limits.iter().map(|(name, shares)| {
        (
            name.clone(),
            shares.iter().map(|share| f64::from(*share)).sum::<f64>() / shares.len() as f64,
        )
    });
    Flow {
        name: name.to_string(),
        congestion: rows.congestion.to_string(),
        kernel: "2.6.20".to_string(),
        clock_start_s: 0.161,
        limits: limits.collect(),
        bytes: intervals.iter().map(|interval| interval.bytes).sum(),
        retransmitted_segments: 0,
        mean_mbit: rates.iter().sum::<f64>() / rates.len() as f64,
        plateau_mbit: Some(plateau),
        time_to_plateau_s: rates
            .iter()
            .position(|rate| *rate >= 0.9 * plateau)
            .map(|place| place as f64 + 1.0),
        intervals,
        series,
    }
}

fn intervals(rates: &[f64], series: &Series) -> Vec<Interval> {
    let per = (1.0 / BUCKET_S) as usize;
    let interval = |(second, rate): (usize, &f64)| {
        let end = (second + 1) * per - 1;
        Interval {
            start_s: second as f64,
            end_s: second as f64 + 1.0,
            bytes: (rate / 8e-6).round() as u64,
            segments: (rate / 8e-6 / MSS).round() as u64,
            throughput_mbit: *rate,
            retransmitted_segments: 0,
            cwnd: series.cwnd[end],
            ssthresh: series.ssthresh[end],
            srtt_us: series.srtt_us[end],
            in_flight: series.in_flight[end],
            queue: series.queue[end],
            limits: series
                .limits
                .iter()
                .map(|(name, shares)| (name.clone(), f64::from(shares[end])))
                .collect(),
        }
    };
    rates.iter().enumerate().map(interval).collect()
}

fn series(rates: &[f64], slow_start: bool, noise: &mut Noise) -> Series {
    let mut series = Series { bucket_s: BUCKET_S, ..Series::default() };
    let packets = |mbit: f64| (mbit * 1e6 / 8.0 / MSS * RTT_S).max(2.0);
    for bucket in 0..rates.len() * (1.0 / BUCKET_S) as usize {
        let time = (bucket + 1) as f64 * BUCKET_S;
        let needed = if slow_start && time < 1.5 {
            (2.0 * 1.5f64.powf(time / RTT_S)).min(packets(rates[rates.len() - 1]) * 1.02)
        } else {
            packets(rate_at(rates, time)) * if slow_start { 1.02 } else { 1.0 }
        };
        let rate = needed * MSS * 8.0 / RTT_S / 1e6;
        let host = ((rate - HOST_MBIT) / 300.0 + 0.4).clamp(0.0, 0.97);
        push(&mut series, time, needed, host, slow_start, noise);
    }
    series
}

fn push(
    series: &mut Series,
    time: f64,
    window: f64,
    host: f64,
    slow_start: bool,
    noise: &mut Noise,
) {
    let cwnd = window.round();
    let waiting =
        if host > 0.5 { 90.0 + 60.0 * noise.next() } else { (window / 40.0) * noise.next().abs() };
    let in_slow_start = slow_start || cwnd <= 100.0;
    series.end_s.push((time * 1000.0).round() / 1000.0);
    series.throughput_mbit.push(window * MSS * 8.0 / RTT_S / 1e6);
    series.cwnd.push(cwnd as u32);
    series.ssthresh.push((!slow_start).then_some(100));
    series.in_flight.push((cwnd * (1.0 - 0.01 * noise.next().abs())) as u32);
    series.snd_wnd_packets.push((1000.0 + 2.4 * cwnd).min(10_530.0) as u32);
    series
        .srtt_us
        .push((time > 0.15).then_some((80_400.0 + waiting * 7.5 + 40.0 * noise.next()) as u32));
    series.queue.push(waiting.max(0.0) as u64);
    let mut held = |name: &str, share: f64| {
        series.limits.entry(name.to_string()).or_default().push(share as f32)
    };
    held("sender_cpu", host);
    held("cwnd_slow_start", if in_slow_start { 1.0 - host } else { 0.0 });
    held("cwnd_avoidance", if in_slow_start { 0.0 } else { 1.0 - host });
    held("receive_window", 0.0);
}

/// Rate between the middles of the seconds.
fn rate_at(rates: &[f64], time: f64) -> f64 {
    let place = (time - 0.5).clamp(0.0, (rates.len() - 1) as f64);
    let (low, part) = (place as usize, place.fract());
    let high = (low + 1).min(rates.len() - 1);
    rates[low] * (1.0 - part) + rates[high] * part
}

fn truncate(flow: &mut Flow, intervals: usize, buckets: usize) {
    flow.intervals.truncate(intervals);
    let series = &mut flow.series;
    series.end_s.truncate(buckets);
    series.throughput_mbit.truncate(buckets);
    series.cwnd.truncate(buckets);
    series.ssthresh.truncate(buckets);
    series.in_flight.truncate(buckets);
    series.snd_wnd_packets.truncate(buckets);
    series.srtt_us.truncate(buckets);
    series.queue.truncate(buckets);
    series.limits.values_mut().for_each(|shares| shares.truncate(buckets));
}

fn published(rows: &Rows, flow: &Flow) -> Published {
    let plateau = flow.plateau_mbit.unwrap_or(f64::MAX);
    let row = |(second, (mib, interval)): (usize, (&f64, &Interval))| {
        let bytes = (mib * MIB) as u64;
        let ramp = interval.throughput_mbit < 0.9 * plateau;
        let width = if ramp { 0.03 } else { 0.006 };
        PublishedRow {
            start_s: second as f64,
            end_s: second as f64 + 1.0,
            bytes,
            throughput_mbit: bytes as f64 * 8e-6,
            simulated_bytes: interval.bytes,
            error: interval.bytes as f64 / bytes as f64 - 1.0,
            band_low: (interval.bytes as f64 * (1.0 - width)) as u64,
            band_high: (interval.bytes as f64 * (1.0 + width)) as u64,
            in_band: (interval.bytes as f64 / bytes as f64 - 1.0).abs() <= width,
            ramp,
            calibrated_on: !ramp && second > 20,
        }
    };
    let rows_: Vec<PublishedRow> =
        rows.mib.iter().zip(&flow.intervals).enumerate().map(row).collect();
    let mut errors: Vec<f64> =
        rows_.iter().filter(|row| row.ramp).map(|row| row.error.abs()).collect();
    errors.sort_by(f64::total_cmp);
    Published {
        source: "Bill Fink, netdev, May 2007".to_string(),
        run: rows.name.to_string(),
        median_error_before_plateau: errors.get(errors.len() / 2).copied(),
        worst_error_before_plateau: errors.last().copied(),
        total_mbit: Some(rows.total_mbit),
        rows: rows_,
    }
}

fn expectation(flow: &Flow) -> Expectation {
    let measured: Vec<f64> =
        flow.intervals.iter().take(1).map(|interval| interval.segments as f64).collect();
    Expectation {
        metric: "flow.bulk.segments_delivered".to_string(),
        interval: Some([0, 1]),
        expected: measured.clone(),
        measured,
        within: "1 segment".to_string(),
        passed: true,
        detail: "equal".to_string(),
    }
}

fn stages(flow: &Flow) -> Vec<Stage> {
    let segments: u64 = flow.intervals.iter().map(|interval| interval.segments).sum();
    let peak = *flow.series.queue.iter().max().unwrap_or(&0);
    let stage =
        |name: &str, kind: &str, unit: &str, capacity: Option<u64>, peak: u64, busy_s: f64| Stage {
            name: name.to_string(),
            kind: kind.to_string(),
            direction: "forward".to_string(),
            unit: unit.to_string(),
            capacity,
            entered: segments,
            left: segments,
            dropped: 0,
            waiting: 0,
            peak,
            mean_waiting: peak as f64 / 3.0,
            busy_s,
            blocked_s: 0.0,
        };
    vec![
        stage("sender.send_buffer", "send_buffer", "byte", Some(125_829_120), 125_829_120, 0.0),
        stage("sender.qdisc", "qdisc", "skb", Some(1000), 41, 0.0),
        stage("sender.tx_ring", "tx_ring", "segment", Some(256), 256, 5.871),
        stage("link", "link", "segment", None, peak, 6.02),
        stage("delay", "delay", "segment", Some(20_000), 8412, 0.0),
        stage("receiver.rx_ring", "rx_ring", "segment", Some(512), 18, 0.0),
        stage(
            "receiver.receive_buffer",
            "receive_buffer",
            "byte",
            Some(125_829_120),
            1_254_400,
            0.0,
        ),
    ]
}
