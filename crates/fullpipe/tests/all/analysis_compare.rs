//! Two experiments, compared.

use crate::analysis_synthetic::*;
use fullpipe::analysis::compare::{Change, Side, compare, flatten};
use fullpipe::analysis::distance::Distance;
use fullpipe::analysis::document::{Document, FORMAT, Happened, ScenarioInfo};
use fullpipe::analysis::{self, RunMeta};
use fullpipe_sim::trace::{EventKind, Limit};
use fullpipe_sim::units::Time;
use std::collections::BTreeMap;

fn document(runs: &[(&str, u64, Limit)]) -> Document {
    let run = |(name, segments, limit): &(&str, u64, Limit)| {
        let step = Step { segments: *segments, limit: *limit, busy_ms: 10 };
        let meta = RunMeta { variant: name.to_string(), ..meta() };
        analysis::run(&meta, &steps(Time::ZERO, &[step; 40]))
    };
    let scenario = ScenarioInfo { name: "x".into(), title: "x".into(), seed: 1 };
    Document {
        headline: None,
        format: FORMAT,
        scenario,
        partial: false,
        missing: Vec::new(),
        runs: runs.iter().map(run).collect(),
        comparisons: Vec::new(),
    }
}

fn settings(text: &str) -> BTreeMap<String, String> {
    flatten(text).unwrap()
}

#[test]
fn scenarios_are_flattened_to_dotted_keys() {
    let flat = settings(
        "title = \"x\"\n[path]\nmtu = 9000\n\
         forward = [{ kind = \"link\", name = \"link\", rate = \"10Gbit\" }, { kind = \"loss\" }]\n\
         [hosts.sender.sysctl]\n\"net.core.rmem_max\" = [1, 2]\n\
         [[flow]]\nname = \"bulk\"\ncongestion = { name = \"cubic\", initial_ssthresh = 100 }\n",
    );
    let expected = [
        ("flow.bulk.congestion.initial_ssthresh", "100"),
        ("flow.bulk.congestion.name", "\"cubic\""),
        ("flow.bulk.name", "\"bulk\""),
        ("hosts.sender.sysctl.net.core.rmem_max", "[1, 2]"),
        ("path.forward.1.kind", "\"loss\""),
        ("path.forward.link.kind", "\"link\""),
        ("path.forward.link.name", "\"link\""),
        ("path.forward.link.rate", "\"10Gbit\""),
        ("path.mtu", "9000"),
        ("title", "\"x\""),
    ];
    let flat: Vec<(&str, &str)> = flat.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(flat, expected);
    assert!(flatten("a = = b").is_err());
}

#[test]
fn an_experiment_does_not_differ_from_itself() {
    let document = document(&[("a", 5, Limit::Idle), ("b", 9, Limit::SenderCpu)]);
    let both = [settings("x = 1"), settings("x = 2")];
    let side = Side { document: &document, settings: &both };
    let comparison = compare(&side, &side);
    assert_eq!(comparison.runs.len(), 2);
    assert!(comparison.only_a.is_empty() && comparison.only_b.is_empty());
    for pair in &comparison.runs {
        assert!(
            pair.scenario.is_empty() && pair.unpaired_flows.is_empty() && pair.drops.is_empty()
        );
        let flow = &pair.flows[0];
        assert!(flow.metrics.iter().chain(&flow.limits).all(Change::same));
        let apart =
            [flow.distance.throughput, flow.distance.cwnd].map(|apart| apart.expect("some"));
        assert!(apart.iter().all(|apart| apart.pairs > 1 && apart.worst == 0.0), "{apart:?}");
        assert_eq!(flow.distance.diverged, None);
    }
}

#[test]
fn differences_stand_side_by_side() {
    let a = document(&[("one", 10, Limit::CwndSlowStart), ("gone", 1, Limit::Idle)]);
    let mut b = document(&[("new", 1, Limit::Idle), ("one", 15, Limit::SenderCpu)]);
    b.runs[1].stages[0].dropped = 7;
    let a_settings = [settings("mtu = 1500\nseed = 1"), settings("")];
    let b_settings = [settings(""), settings("mtu = 9000\nseed = 1\n[path]\nx = true")];
    let comparison = compare(
        &Side { document: &a, settings: &a_settings },
        &Side { document: &b, settings: &b_settings },
    );
    assert_eq!(
        (&comparison.only_a[..], &comparison.only_b[..]),
        (&["gone".to_string()][..], &["new".to_string()][..])
    );
    let pair = &comparison.runs[0];
    let scenario: Vec<_> =
        pair.scenario.iter().map(|s| (s.key.as_str(), s.a.as_deref(), s.b.as_deref())).collect();
    assert_eq!(scenario, [("mtu", Some("1500"), Some("9000")), ("path.x", None, Some("true"))]);
    let bytes = &pair.flows[0].metrics[0];
    assert_eq!((bytes.a, bytes.b, bytes.relative), (Some(400_000.0), Some(600_000.0), Some(0.5)));
    let throughput = pair.flows[0].distance.throughput.expect("intervals");
    // 10 segments per step against 15.
    assert!((throughput.median - 1.0 / 3.0).abs() < 1e-9, "{throughput:?}");
    let limits: Vec<_> =
        pair.flows[0].limits.iter().map(|l| (l.name.as_str(), l.a, l.b, l.relative)).collect();
    let expected = [
        ("cwnd_slow_start", Some(1.0), Some(0.0), Some(-1.0)),
        ("sender_cpu", Some(0.0), Some(1.0), None),
    ];
    assert_eq!(limits, expected);
    assert_eq!(
        (pair.drops[0].name.as_str(), pair.drops[0].a, pair.drops[0].b),
        ("link", Some(0.0), Some(7.0))
    );
}

#[test]
fn single_runs_are_a_pair_whatever_their_names() {
    let a = document(&[("base", 10, Limit::Idle)]);
    let b = document(&[("other", 10, Limit::Idle)]);
    let comparison =
        compare(&Side { document: &a, settings: &[] }, &Side { document: &b, settings: &[] });
    assert_eq!((comparison.runs[0].a.as_str(), comparison.runs[0].b.as_str()), ("base", "other"));
}

/// Forty steps of 100 ms; from step 20 on cwnd is halved, after a recovery that begins at `lost` s, retransmits
/// `resent` segments and ends 300 ms later.
fn with_a_loss(lost: u64, resent: u64) -> Document {
    let step = Step { segments: 10, limit: Limit::CwndAvoidance, busy_ms: 10 };
    let mut recording = steps(Time::ZERO, &[step; 40]);
    for sample in recording.flows.iter_mut().filter(|sample| sample.time >= Time::ms(lost)) {
        sample.cwnd /= 2;
        sample.segments_retransmitted = resent;
        sample.ca_state = if sample.time < Time::ms(lost + 300) { 3 } else { 0 };
    }
    recording.events.push(event(Time::ms(3_999), EventKind::Finished, 400_000));
    let mut document = document(&[("base", 1, Limit::Idle)]);
    document.runs = vec![analysis::run(&meta(), &recording)];
    document
}

/// A document of forty steps without a loss; cwnd is halved at so many samples from 2 s on.
fn with_a_dip(samples: u64) -> Document {
    let step = Step { segments: 10, limit: Limit::CwndAvoidance, busy_ms: 10 };
    let mut recording = steps(Time::ZERO, &[step; 40]);
    let dip = Time::ms(2_000)..Time::ms(2_000 + 100 * samples);
    let inside = recording.flows.iter_mut().filter(|sample| dip.contains(&sample.time));
    inside.for_each(|sample| sample.cwnd /= 2);
    let mut document = document(&[("base", 1, Limit::Idle)]);
    document.runs = vec![analysis::run(&meta(), &recording)];
    document
}

fn distance_of(a: &Document, b: &Document) -> Distance {
    let side = |document| Side { document, settings: &[] };
    compare(&side(a), &side(b)).runs[0].flows[0].distance.clone()
}

#[test]
fn where_runs_part_stands_what_happened_there() {
    let (without, with) = (with_a_loss(9_000, 0), with_a_loss(2_000, 7));
    let diverged = distance_of(&without, &with).diverged.expect("half the window");
    assert_eq!((diverged.at_s, diverged.a.cwnd, diverged.b.cwnd), (2.0, 29, 14));
    // A bucket and two round trips of 200 ms earlier.
    assert!((diverged.from_s - 1.5).abs() < 1e-9, "{}", diverged.from_s);
    assert!(diverged.events_a.is_empty(), "{:?}", diverged.events_a);
    let happened: Vec<_> = diverged.events_b.iter().map(|m| (m.at_s, m.what, m.value)).collect();
    assert_eq!(happened, [(2.0, Happened::State, 3), (2.0, Happened::Retransmitted, 7)]);
}

#[test]
fn a_difference_at_one_bucket_alone_is_no_parting() {
    let whole = with_a_dip(0);
    let once = distance_of(&whole, &with_a_dip(1));
    assert_eq!(once.diverged, None);
    assert_eq!(once.cwnd.map(|cwnd| cwnd.worst_at_s), Some(2.0), "it is a difference");
    let diverged = distance_of(&whole, &with_a_dip(2)).diverged.expect("two in a row");
    assert_eq!((diverged.at_s, diverged.a.cwnd, diverged.b.cwnd), (2.0, 29, 14));
}

#[test]
fn losses_are_compared_by_interval_in_all_and_by_episode() {
    let distance = distance_of(&with_a_loss(1_500, 4), &with_a_loss(2_200, 5));
    let resent: Vec<_> = distance.intervals.iter().map(|i| i.retransmitted_segments).collect();
    assert_eq!(resent, [[0, 0], [4, 0], [0, 5], [0, 0]]);
    let apart = distance.retransmitted.expect("intervals");
    assert_eq!((apart.worst, apart.worst_at_s), (1.0, 2.0));
    let total = distance.retransmissions;
    assert_eq!((total.a, total.b), (4.0, 5.0));
    assert!((total.relative - 0.2).abs() < 1e-9);
    let losses = distance.losses;
    assert_eq!((losses.a, losses.b, losses.pairs[0].a.retransmitted), (1, 1, 4));
    assert!((losses.worst_difference_s.expect("a pair") - 0.7).abs() < 1e-9);
}

#[test]
fn completion_counts_from_connect_and_only_where_both_end() {
    let whole = with_a_loss(1_000, 1);
    let done = distance_of(&whole, &whole).completion_s.expect("both end");
    assert_eq!((done.a, done.b, done.relative), (3.999, 3.999, 0.0));
    let other = document(&[("base", 10, Limit::Idle)]);
    assert_eq!(distance_of(&whole, &other).completion_s, None);
}

#[test]
fn two_results_become_one_document_with_their_comparison() {
    let (a, b) = (with_a_loss(1_500, 4), with_a_loss(2_200, 5));
    let comparison =
        compare(&Side { document: &a, settings: &[] }, &Side { document: &b, settings: &[] });
    let merged = analysis::merged(&a, &b, &comparison);
    let names: Vec<_> = merged.runs.iter().map(|run| run.variant.as_str()).collect();
    assert_eq!(names, ["a: base", "b: base"]);
    let pair = &merged.comparisons[0];
    assert_eq!((pair.a.as_str(), pair.b.as_str()), ("a: base", "b: base"));
    assert_eq!(pair.flows, comparison.runs[0].flows);
}

#[test]
fn a_flow_keeps_two_thousand_moments_and_counts_the_rest() {
    let step = Step { segments: 10, limit: Limit::CwndAvoidance, busy_ms: 10 };
    let mut recording = steps(Time::ZERO, &[step; 2_500]);
    for (number, sample) in recording.flows.iter_mut().enumerate() {
        sample.segments_retransmitted = number as u64;
    }
    let run = analysis::run(&meta(), &recording);
    let flow = &run.flows[0];
    assert_eq!((flow.moments.len(), flow.moments_left_out), (2_000, 499));
}
