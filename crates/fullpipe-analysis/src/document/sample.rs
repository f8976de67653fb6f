//! A small document that has every kind of line.

use super::*;
use std::collections::BTreeMap;

/// Two runs, of which the second one is slow to begin; a third is missing.
pub fn document() -> Document {
    Document {
        headline: None,
        format: FORMAT,
        scenario: ScenarioInfo {
            name: "sample".into(),
            title: "Two variants on a long fat path".into(),
            seed: 7,
        },
        partial: true,
        missing: vec!["bic, not begun".into()],
        runs: vec![slow(), fast()],
        comparisons: Vec::new(),
    }
}

/// The first run with datagrams, in which its flow moves next to nothing.
pub fn with_datagrams() -> Document {
    let mut document = document();
    document.runs.truncate(1);
    let run = &mut document.runs[0];
    run.flows[0].bytes = 1000;
    run.datagrams.push(Datagrams {
        requested_mbit: None,
        sent_mbit: None,
        cpu: None,
        name: "udp".into(),
        kind: "udp".into(),
        backward: false,
        size: 1472,
        sent: 2_000_000,
        refused: 0,
        received: 1_987_548,
        undelivered: 12_452,
        undelivered_share: 0.006_226,
        lost: 12_452,
        loss_share: 0.006_226,
        duplicates: 0,
        reordered: Some(0),
        rcvbuf_errors: Some(7),
        reading: None,
        mean_mbit: Some(894.4),
        jitter_ms: Some(0.01),
        rtt_ms: None,
    });
    document
}

/// A headline of a run that reached a share of what the path allows, Mb/s.
pub fn headline(grade: Grade, share: f64, allowed_mbit: f64) -> Headline {
    let rate = share * allowed_mbit;
    Headline {
        text: format!("{rate:.0} of {allowed_mbit:.0} Mb/s ({:.0} %).", share * 100.0),
        grade,
        rate_mbit: Some(rate),
        allowed_mbit: Some(allowed_mbit),
        share: Some(share),
        cause: None,
        limit: Some("send_buffer".into()),
        limit_share: Some(0.9),
        rule: Some("send-buffer".into()),
        code: Some("sndbuf".into()),
        group: Some("send buffer".into()),
        confidence: None,
        twins: Vec::new(),
        place: None,
        setting: None,
        queue_ms: None,
        judged: None,
    }
}

/// Twelve variants at six points of an axis, the n-th with a share of n per cent of its path.
pub fn many() -> Document {
    let mut document = document();
    (document.partial, document.missing) = (false, Vec::new());
    let run = document.runs.remove(0);
    document.runs.clear();
    let starts = ["standard", "initial_ssthresh", "limited", "hystart", "hystart++", "search"];
    for rate in ["1", "10", "100"] {
        for queue in ["0.1", "0.5", "1", "2"] {
            for start in starts {
                let mut run = run.clone();
                (run.partial, run.published) = (false, None);
                run.variant = format!("{rate} Gb/s, {queue} BDP, flow.bulk.slow_start={start}");
                run.set.insert("flow.bulk.slow_start".into(), start.into());
                let share = (document.runs.len() + 1) as f64 / 100.0;
                run.headline = Some(headline(Grade::Below, share, 941.0));
                document.runs.push(run);
            }
        }
    }
    document.headline = document.runs[0].headline.clone();
    document
}

fn slow() -> Run {
    Run {
        headline: None,
        findings: Vec::new(),
        notes: Vec::new(),
        variant: "cubic, initial_ssthresh 100".into(),
        set: serde_json::Map::new(),
        view: None,
        engine: "sim".into(),
            substituted: Vec::new(),
        unvalidated: Vec::new(),
        idle_qdiscs: Vec::new(),
        partial: true,
        duration_s: 2.0,
        flows: vec![flow("bulk", "cubic", vec![
            interval(0, 7_150_080, Some(100), None, shares(&[("cwnd_slow_start", 0.25), ("idle", 0.75)])),
            interval(1, 16_997_120, Some(100), Some(84_012), shares(&[("cwnd_avoidance", 1.0)])),
        ])],
        datagrams: Vec::new(),
        nfs: Vec::new(),
        counters: Vec::new(),
        stages: vec![
            stage("sender.qdisc", "qdisc", "forward", 300, 100),
            stage("sender.tx_ring", "tx_ring", "forward", 2_000_000, 0),
            stage("a-link-whose-name-leaves-no-room-beside-the-numbers-of-a-table", "link", "forward", 1_990_000, 12_345),
            stage("receiver.rx_ring", "rx_ring", "forward", 1_980_000, 7),
            stage("receiver.tx_ring", "tx_ring", "back", 1_000, 0),
            stage("back-loss", "loss", "back", 980, 20),
        ],
        picture: picture(),
        bins: Bins::default(),
        fairness: None,
        expectations: vec![
            expectation(true, "within 1 segment"),
            expectation(false, "interval 1: 1897 segments instead of 1950 segments, -53 segments or -2.72 %"),
        ],
        published: Some(Published {
            source: "A. N. Author, \"A long title of a message on a mailing list that takes a line of its own\", 2007".into(),
            run: "cubic-w60m-ssthresh100".into(),
            rows: vec![published_row(0, 7_150_080, true), published_row(1, 16_800_000, false)],
            median_error_before_plateau: Some(0.0059),
            worst_error_before_plateau: Some(0.0117),
            total_mbit: Some(3012.3936),
            rows_mbit: 95.8,
            simulated_rows_mbit: 96.6,
            time_to_plateau_s: None,
            band_whole: false,
        }),
        packets: None,
    }
}

fn fast() -> Run {
    let mut late = flow("late", "bic", Vec::new());
    (late.plateau_mbit, late.time_to_plateau_s, late.limits) = (None, None, BTreeMap::new());
    Run {
        headline: None,
        findings: Vec::new(),
        notes: Vec::new(),
        variant: "reno".into(),
        set: serde_json::Map::new(),
        view: None,
        engine: "sim".into(),
        substituted: Vec::new(),
        unvalidated: Vec::new(),
        idle_qdiscs: Vec::new(),
        partial: false,
        duration_s: 2.0,
        flows: vec![
            flow(
                "bulk",
                "reno",
                vec![interval(
                    0,
                    1_073_741_824,
                    None,
                    Some(90_500),
                    shares(&[("sender_cpu", 0.6), ("receive_window", 0.4)]),
                )],
            ),
            late,
        ],
        datagrams: Vec::new(),
        nfs: Vec::new(),
        counters: Vec::new(),
        stages: Vec::new(),
        picture: Picture::default(),
        bins: Bins::default(),
        fairness: None,
        expectations: vec![expectation(true, "exact")],
        published: None,
        packets: None,
    }
}

/// Of some of the stages; the link's name leaves no room for the numbers.
fn picture() -> Picture {
    let place = |stage: &str, host: Option<&str>, filled, limits| Place {
        stage: stage.into(),
        host: host.map(str::to_string),
        exact: false,
        mean_filled: filled,
        peak_filled: filled.map(|_| 1.0),
        full: filled.map(|_| 0.25),
        empty: Some(0.5),
        limits,
    };
    let long = "a-link-whose-name-leaves-no-room-beside-the-numbers-of-a-table";
    Picture {
        step_s: 0.01,
        places: vec![
            place("sender.qdisc", Some("sender"), Some(0.5), shares(&[("bulk", 1.0 / 3.0)])),
            place("sender.tx_ring", Some("sender"), Some(0.125), shares(&[])),
            place(long, None, None, shares(&[])),
            place("receiver.tx_ring", Some("receiver"), Some(0.0), shares(&[])),
        ],
    }
}

fn stage(name: &str, kind: &str, direction: &str, entered: u64, dropped: u64) -> Stage {
    Stage {
        name: name.into(),
        kind: kind.into(),
        direction: direction.into(),
        unit: if kind == "qdisc" { "skb" } else { "segment" }.into(),
        capacity: None,
        tuned_up_to: None,
        entered,
        left: entered,
        dropped,
        marked: 0,
        requeues: 0,
        waiting: 0,
        peak: 0,
        mean_waiting: 0.0,
        busy_s: 0.0,
        blocked_s: 0.0,
    }
}

fn flow(name: &str, congestion: &str, intervals: Vec<Interval>) -> Flow {
    Flow {
        name: name.into(),
        index: None,
        backward: false,
        from: None,
        congestion: congestion.into(),
        kernel: "2.6.20".into(),
        clock_start_s: 0.08,
        bytes: intervals.iter().map(|i| i.bytes).sum(),
        intervals,
        series: Series::default(),
        limits: shares(&[
            ("cwnd_slow_start", 1.0 / 3.0),
            ("cwnd_avoidance", 1.0 / 3.0),
            ("idle", 1.0 / 3.0),
        ]),
        retransmitted_segments: 0,
        mean_mbit: 96.589,
        plateau_mbit: Some(135.977),
        time_to_plateau_s: Some(2.0),
        ..Flow::default()
    }
}

fn interval(
    second: u32,
    bytes: u64,
    ssthresh: Option<u32>,
    srtt_us: Option<u32>,
    limits: BTreeMap<String, f64>,
) -> Interval {
    Interval {
        start_s: f64::from(second),
        end_s: f64::from(second) + 1.0,
        bytes,
        segments: bytes / 8960,
        throughput_mbit: bytes as f64 * 8.0 / 1e6,
        retransmitted_segments: 0,
        cwnd: 1234,
        ssthresh,
        srtt_us,
        in_flight: 1200,
        queue: 17,
        limits,
    }
}

fn shares(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
    pairs.iter().map(|(name, share)| (name.to_string(), *share)).collect()
}

fn expectation(passed: bool, detail: &str) -> Expectation {
    Expectation {
        metric: "flow.bulk.segments_delivered".into(),
        interval: Some([0, 2]),
        expected: vec![798.0, 1950.0],
        measured: vec![798.0, 1897.0],
        within: "1 segment".into(),
        passed,
        detail: detail.into(),
    }
}

fn published_row(second: u32, bytes: u64, in_band: bool) -> PublishedRow {
    let simulated = [7_150_080, 16_997_120][second as usize];
    PublishedRow {
        start_s: f64::from(second),
        end_s: f64::from(second) + 1.0,
        bytes,
        throughput_mbit: bytes as f64 * 8.0 / 1e6,
        simulated_bytes: simulated,
        error: simulated as f64 / bytes as f64 - 1.0,
        band_low: simulated - 89_600,
        band_high: simulated + 89_600,
        in_band,
        ramp: second == 0,
        calibrated_on: second == 1,
    }
}
