//! Documents to render: one like the 2007 experiment, one of edge cases, one of a sweep.
//!
//! Rates follow the published rows with a small deterministic error; windows, round-trip times and
//! limits are made up to be plausible. Nothing here says anything about the simulator.

#![allow(dead_code)] // each test binary uses a part

mod bins;
mod flow;
mod published;

use flow::{BUCKET_S, flow, truncate};
use fullpipe::analysis::compare::of_one_scenario;
use fullpipe::analysis::document::{
    Bins, Document, Expectation, FORMAT, Flow, Happened, Interval, Moment, Picture, Place,
    Published, PublishedRow, Run, ScenarioInfo, Series, Stage,
};
use published::{RUNS, Rows};
use serde_json::Map;
use std::collections::BTreeMap;
use std::path::PathBuf;

const MIB: f64 = 1_048_576.0;
/// The four variants of 2007.
pub fn fink() -> Document {
    document(
        "Slow start at 10 Gb/s × 80 ms, 2007",
        RUNS.iter().enumerate().map(|(i, rows)| run(i, rows, BUCKET_S)).collect(),
    )
}

/// Two flows in each of two runs.
pub fn two_flows() -> Document {
    let mut runs: Vec<Run> =
        RUNS.iter().take(2).enumerate().map(|(i, rows)| run(i, rows, BUCKET_S)).collect();
    for (index, run) in runs.iter_mut().enumerate() {
        let mut second = flow("background", &RUNS[2 + index], 90 + index as u64, BUCKET_S);
        second.intervals.truncate(run.flows[0].intervals.len());
        run.flows.push(second);
        run.bins = bins::bins(&run.flows, index == 0);
    }
    document("Two flows", runs)
}

/// Two runs with two flows each, compared like those of two engines.
pub fn compared() -> Document {
    let mut document = two_flows();
    let loss = Moment { at_s: 0.1, what: Happened::Retransmitted, value: 3 };
    document.runs[1].flows[0].moments.push(loss);
    let pair = of_one_scenario(&document.runs[0], &document.runs[1]);
    document.comparisons.push(pair);
    document
}

/// `count` runs, as a sweep gives.
pub fn sweep(count: usize) -> Document {
    let runs = (0..count).map(|index| {
        let mut run = run(index, &RUNS[index % RUNS.len()], BUCKET_S);
        run.variant = format!("delay {} ms", 10 + 5 * index);
        run.published = None;
        run
    });
    document("Delays from 10 ms", runs.collect())
}

/// The variants again, with a hundred times as many values as a figure has pixels.
pub fn dense() -> Document {
    let runs = RUNS.iter().enumerate().map(|(i, rows)| run(i, rows, 0.001));
    document("Dense", runs.collect())
}

/// A document without runs.
pub fn nothing() -> Document {
    document("Nothing", Vec::new())
}

/// Runs with nothing, with one sample, and cut short; names that try to be HTML.
pub fn edges() -> Document {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\">'&amp;";
    let mut empty = run(0, &RUNS[0], BUCKET_S);
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
    (empty.published, empty.bins) = (None, Bins::default());
    empty.stages.clear();
    empty.set.insert("flow.bulk.congestion".into(), serde_json::json!({"name": "</script>"}));
    let mut single = run(1, &RUNS[1], BUCKET_S);
    single.variant = "one sample".to_string();
    truncate(&mut single.flows[0], 1, 1);
    single.published = None;
    let mut partial = run(2, &RUNS[2], BUCKET_S);
    partial.variant = "cut short".to_string();
    partial.partial = true;
    truncate(&mut partial.flows[0], 7, 70);
    partial.flows[0].series.ssthresh.fill(None);
    partial.flows[0].plateau_mbit = None;
    partial.flows[0].time_to_plateau_s = None;
    let mut without = run(3, &RUNS[3], BUCKET_S);
    without.variant = "no flow".to_string();
    without.flows.clear();
    without.bins = Bins::default();
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
        headline: None,
        format: FORMAT,
        scenario: ScenarioInfo { name: "fink-2007".to_string(), title: title.to_string(), seed: 1 },
        partial: false,
        missing: Vec::new(),
        comparisons: Vec::new(),
        runs,
    }
}

fn run(index: usize, rows: &Rows, bucket_s: f64) -> Run {
    let flow = flow("bulk", rows, index as u64, bucket_s);
    let mut set = Map::new();
    if index > 0 {
        set.insert(
            "flow.bulk.congestion".to_string(),
            serde_json::json!({"name": rows.congestion, "initial_ssthresh": 100}),
        );
    }
    Run {
        view: None,
        headline: None,
        findings: Vec::new(),
        notes: Vec::new(),
        variant: rows.name.to_string(),
        set,
        engine: "sim".to_string(),
        substituted: Vec::new(),
        unvalidated: Vec::new(),
        idle_qdiscs: Vec::new(),
        partial: false,
        duration_s: rows.mib.len() as f64,
        expectations: vec![expectation(&flow)],
        published: Some(published(rows, &flow)),
        packets: None,
        fairness: None,
        datagrams: Vec::new(),
        nfs: Vec::new(),
        counters: Vec::new(),
        stages: stages(&flow),
        picture: picture(),
        bins: bins::bins(std::slice::from_ref(&flow), index == 0),
        flows: vec![flow],
    }
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
        rows_mbit: rows.total_mbit,
        simulated_rows_mbit: flow.mean_mbit,
        time_to_plateau_s: None,
        band_whole: true,
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

/// The ring, which is sampled, and the link, which has no capacity.
fn picture() -> Picture {
    let place = |stage: &str, host: Option<&str>, filled: Option<f64>| Place {
        stage: stage.to_string(),
        host: host.map(str::to_string),
        exact: host.is_none(),
        mean_filled: filled,
        peak_filled: filled.map(|_| 1.0),
        full: filled,
        empty: Some(0.625),
        limits: [("bulk".to_string(), 0.375)].into(),
    };
    let ring = place("sender.tx_ring", Some("sender"), Some(0.25));
    Picture { step_s: 0.01, places: vec![ring, place("link", None, None)] }
}

fn stages(flow: &Flow) -> Vec<Stage> {
    let segments: u64 = flow.intervals.iter().map(|interval| interval.segments).sum();
    let peak = *flow.series.queue.iter().max().unwrap_or(&0);
    let stage =
        |name: &str, kind: &str, unit: &str, capacity: Option<u64>, peak: u64, busy_s: f64| Stage {
            requeues: 0,
            name: name.to_string(),
            kind: kind.to_string(),
            direction: "forward".to_string(),
            unit: unit.to_string(),
            capacity,
            tuned_up_to: None,
            entered: segments,
            left: segments,
            dropped: 0,
            marked: 0,
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
