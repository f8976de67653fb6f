//! Rates, queues and drops over time, from runs of the simulator: their bins add up to the run's counts.

use crate::made::made;
use fullpipe::analysis::document::{Bins, Rates, Run};
use fullpipe::scenario::{self, SetOption, Source};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::units::Time;
use std::path::Path;

fn run(file: &str, set: &[&str]) -> (Run, Recording) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
    let source = Source::read(&path).unwrap_or_else(|e| panic!("{e}"));
    let set: Vec<_> = set.iter().map(|set| SetOption((*set).into())).collect();
    let scenario = scenario::load(&source, &set, &[]).unwrap_or_else(|e| panic!("{e}"));
    made(&scenario, &scenario.plans()[0])
}

fn sum(column: &[u64]) -> u64 {
    column.iter().sum()
}

fn columns(rates: &Rates) -> [&Vec<u64>; 4] {
    [&rates.sent_bytes, &rates.retransmitted_bytes, &rates.acked_bytes, &rates.delivered_bytes]
}

/// The line of all flows is the sum of the flows' lines, in each bin.
fn flows_add_up(bins: &Bins) {
    for bin in 0..bins.end_s.len() {
        for what in 0..4 {
            let flows = bins.flows.iter().map(|flow| columns(flow)[what][bin]);
            assert_eq!(columns(&bins.sum)[what][bin], flows.sum::<u64>(), "bin {bin}");
        }
        let mbit = bins.flows.iter().map(|flow| flow.sent_mbit[bin]).sum::<f64>();
        assert!((bins.sum.sent_mbit[bin] - mbit).abs() < 1e-6, "bin {bin}");
    }
}

fn stages_add_up(run: &Run) {
    for stage in &run.stages {
        let place = run.bins.places.iter().find(|place| place.stage == stage.name);
        let holds = !["application", "cpu", "send_buffer"].contains(&&stage.kind[..]);
        let used = holds && (stage.peak > 0 || stage.dropped > 0);
        assert_eq!(place.is_some(), used, "{}", stage.name);
        let Some(place) = place else { continue };
        assert_eq!(sum(&place.dropped), stage.dropped, "{}", stage.name);
        assert_eq!(place.peak.iter().max(), Some(&stage.peak), "{}", stage.name);
    }
}

#[test]
fn bins_of_three_flows_of_several_hosts_add_up() {
    let (run, trace) = run("path/dumbbell.toml", &[]);
    let bins = &run.bins;
    assert_eq!(bins.bin_s, 0.25);
    assert_eq!(bins.end_s[..4], [0.25, 0.5, 0.75, 1.0]);
    flows_add_up(bins);
    stages_add_up(&run);
    let dropped = |bins: &Bins| bins.places.iter().map(|place| sum(&place.dropped)).sum::<u64>();
    assert!(dropped(bins) > 0 && bins.places.len() >= 5, "{}", bins.places.len());
    for (index, (flow, rates)) in run.flows.iter().zip(&bins.flows).enumerate() {
        let last = trace.flows.iter().rfind(|sample| usize::from(sample.flow) == index);
        let last = last.expect("samples");
        assert_eq!(sum(&rates.delivered_bytes), flow.bytes, "{}", flow.name);
        assert_eq!(sum(&rates.acked_bytes), last.bytes_acked, "{}", flow.name);
        // All segments are full, but for the application's last one.
        let full = last.segments_sent * 1448;
        assert!((full - 1448..=full).contains(&sum(&rates.sent_bytes)), "{}", flow.name);
        let full = last.segments_retransmitted * 1448;
        assert!((full.saturating_sub(1448)..=full).contains(&sum(&rates.retransmitted_bytes)));
        let under_way = u64::from(last.in_flight + 1) * 1448;
        let first = sum(&rates.sent_bytes) - sum(&rates.retransmitted_bytes);
        assert!((last.bytes_acked..=last.bytes_acked + under_way).contains(&first), "{first}");
    }
    // The second flow begins after a second, the third after two.
    let begins = |flow: usize| bins.flows[flow].sent_bytes.iter().position(|bytes| *bytes > 0);
    assert_eq!([0, 1, 2].map(begins), [Some(0), Some(4), Some(8)]);
}

/// 20 Mb/s with a write of 64 KiB at most: 625,000 bytes in a quarter of a second, and half as many in half the time.
#[test]
fn a_constant_rate_is_the_rate_of_each_bin() {
    for (set, bin_s) in [(&[][..], 0.25), (&["report.bin=125ms"][..], 0.125)] {
        let (run, _) = run("workloads/rate.toml", set);
        let bins = &run.bins;
        assert_eq!(bins.bin_s, bin_s);
        let steady = (2..(5.0 / bin_s) as usize - 1).map(|bin| bins.flows[0].delivered_bytes[bin]);
        for bytes in steady {
            let apart = bytes as f64 - 20e6 / 8.0 * bin_s;
            assert!(apart.abs() <= 65_536.0, "{bytes} in {bin_s} s");
        }
        assert!((bins.sum.delivered_mbit[4] - 20.0).abs() < 20.0 * 65_536.0 / (2.5e6 * bin_s));
        assert!(bins.places.iter().all(|place| sum(&place.dropped) == 0));
    }
}

/// Samples of 100 ms: bins of 0.25 s have two or three of them, and their rates are over the time that they cover.
#[test]
fn bins_between_samples_end_with_the_last_one() {
    let (run, _) = run("workloads/rate.toml", &["report.sample=100ms"]);
    assert_eq!(run.bins.end_s[..4], [0.2, 0.5, 0.7, 1.0]);
    assert!(run.bins.sum.sent_mbit[2..18].iter().all(|mbit| (mbit - 20.0).abs() < 3.0));
    assert_eq!(sum(&run.bins.sum.delivered_bytes), run.flows[0].bytes);
}

/// The default length: 0.25 s, more where the run is long, and no less than a sample.
#[test]
fn the_usual_length_follows_the_run_and_its_samples() {
    let bin = |set: &[&str]| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/workloads/rate.toml");
        let source = Source::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let set: Vec<_> = set.iter().map(|set| SetOption((*set).into())).collect();
        let scenario = scenario::load(&source, &set, &[]).unwrap_or_else(|e| panic!("{e}"));
        scenario.plans()[0].resolved.bin()
    };
    assert_eq!(bin(&[]), Time::ms(250));
    assert_eq!(bin(&["duration=1000s"]), Time::ms(250));
    assert_eq!(bin(&["duration=1001s"]), Time::ms(500));
    assert_eq!(bin(&["report.sample=400ms"]), Time::ms(400));
    assert_eq!(bin(&["report.bin=2s"]), Time::secs(2));
}
