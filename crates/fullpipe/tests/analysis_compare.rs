//! Two experiments beside each other.

mod analysis_synthetic;

use analysis_synthetic::*;
use fullpipe::analysis::compare::{Change, Side, compare, flatten};
use fullpipe::analysis::document::{Document, FORMAT, ScenarioInfo};
use fullpipe::analysis::{self, RunMeta};
use fullpipe_sim::trace::Limit;
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
        format: FORMAT,
        scenario,
        partial: false,
        missing: Vec::new(),
        runs: runs.iter().map(run).collect(),
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
        assert_eq!(flow.distance.parted, None);
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
