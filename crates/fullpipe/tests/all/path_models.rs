//! The examples of path elements, scenarios/path/*.toml: their expectations hold, and each shows the effect of its
//! element.

use crate::made::made;
use fullpipe::analysis::document::Run;
use fullpipe::engine::Engine;
use fullpipe::engine::sim::Simulator;
use fullpipe::scenario::{self, Resolved, SetOption, Source};
use fullpipe::trace::recording::Recording;
use fullpipe::trace::schema::LINK_STAGES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/path")
}

fn load(name: &str, sets: &[&str]) -> scenario::Scenario {
    let source = Source::read(&folder().join(name)).unwrap_or_else(|e| panic!("{e}"));
    let sets: Vec<SetOption> = sets.iter().map(|set| SetOption(set.to_string())).collect();
    scenario::load(&source, &sets, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// An example with keys set: the resolved scenario and its results, with all of its expectations held.
fn run(name: &str, sets: &[&str]) -> (Resolved, Run, Recording) {
    let scenario = load(name, sets);
    let [plan] = scenario.plans() else { panic!("{name} has variants") };
    let (run, recording) = made(&scenario, plan);
    for expectation in &run.expectations {
        assert!(expectation.passed, "{name}: {expectation:?}");
    }
    (plan.resolved.clone(), run, recording)
}

/// The last counters of a stage: entered, left, dropped.
fn counters(recording: &Recording, name: &str) -> (u64, u64, u64) {
    let stage = recording.stages.iter().find(|stage| stage.name == name).expect("a stage");
    let sample = recording.stage_samples.iter().rfind(|s| s.stage == stage.index).expect("samples");
    (sample.entered, sample.left, sample.dropped)
}

fn close(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found}, not {expected}");
}

#[test]
fn every_element_has_an_example_that_means_the_same_when_written_out() {
    let mut kinds = BTreeSet::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let resolved = load(&name, &[]).plans()[0].resolved.clone();
        let again = scenario::load(&Source::text("again.toml", &resolved.to_toml()), &[], &[]);
        let again = again.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.plans()[0].resolved, resolved, "{name}");
        let elements = resolved.path.forward.iter().chain(&resolved.path.back);
        for element in elements.map(|element| serde_json::to_value(element).unwrap()) {
            kinds.insert(element["kind"].as_str().unwrap().to_string());
        }
    }
    let known: BTreeSet<String> =
        fullpipe_sim::config::KINDS.iter().map(|kind| kind.to_string()).collect();
    assert_eq!(kinds, known);
}

#[test]
fn the_trace_knows_every_kind_of_element() {
    let [mut of_trace, mut of_simulator] =
        [LINK_STAGES.to_vec(), fullpipe_sim::config::KINDS.to_vec()];
    of_trace.sort();
    of_simulator.sort();

    assert_eq!(of_trace, of_simulator);
}

/// Ten segments of the first window are lost, and one for each timeout; SYN and ACK are small. As small as the tunnel takes, all
/// pass.
#[test]
fn a_smaller_mtu_passes_the_handshake_alone() {
    let (_, run, recording) = run("mtu.toml", &[]);
    let (_, left, dropped) = counters(&recording, "tunnel");
    assert!(left <= 3 && dropped > 10, "{left} packets pass, {dropped} do not");
    assert_eq!(run.flows[0].bytes, 0);

    let (_, run, recording) = self::run("mtu.toml", &["path.mtu=1400"]);
    let (_, _, dropped) = counters(&recording, "tunnel");
    assert_eq!(dropped, 0);
    assert!(run.flows[0].mean_mbit > 80.0, "{} Mb/s", run.flows[0].mean_mbit);
}

/// Mean number of segments that a stage drops in a millisecond, over the milliseconds with drops.
fn dropped_at_once(recording: &Recording, name: &str) -> f64 {
    let stage = recording.stages.iter().find(|stage| stage.name == name).expect("a stage");
    let samples = recording.stage_samples.iter().filter(|sample| sample.stage == stage.index);
    let dropped: Vec<u64> = samples.map(|sample| sample.dropped).collect();
    let times = dropped.windows(2).filter(|pair| pair[1] > pair[0]).count();
    dropped[dropped.len() - 1] as f64 / times as f64
}

/// Segments are lost one by one. Of skbs all segments are lost: two where an ACK of two segments releases them, and up
/// to 44 in 64 KB. 21 retransmissions are single segments; one seed in 50 loses one of them. The share is the same.
#[test]
fn skbs_are_lost_whole() {
    let (_, _, whole) = run("loss_per_skb.toml", &[]);
    let (_, _, single) = run("loss_per_skb.toml", &["path.forward.loss.unit=segment"]);
    let share = |recording: &Recording| {
        let (entered, _, dropped) = counters(recording, "loss");
        dropped as f64 / (entered + dropped) as f64
    };
    assert!(counters(&whole, "loss").2 > 0 && counters(&single, "loss").2 > 0);
    assert!(share(&whole) < 0.01 && share(&single) < 0.01);
    let [of_skbs, of_segments] = [&whole, &single].map(|run| dropped_at_once(run, "loss"));
    assert!(of_segments < 1.2, "{of_segments} segments at once");
    assert!((2.0..=44.0).contains(&of_skbs), "{of_skbs} segments at once");
}

#[test]
fn losses_come_in_bursts() {
    let (_, _, recording) = run("gilbert_elliott.toml", &[]);
    let (entered, left, dropped) = counters(&recording, "bursts");
    assert_eq!(entered, left);
    // p / (p + r) x 0.8 is 0.2 %; a run of few bursts lies about it.
    close(dropped as f64 / (entered + dropped) as f64, 0.002, 0.6);
}

/// Segments that were marked with these levels of net.ipv4.tcp_ecn at sender and receiver; 9: unset.
fn marked(levels: [u32; 2]) -> u64 {
    let keys = ["sender", "receiver"].into_iter().zip(levels);
    let set = |(host, level)| format!("hosts.{host}.sysctl.net.ipv4.tcp_ecn={level}");
    let sets: Vec<_> = keys.filter(|(_, level)| *level != 9).map(set).collect();
    let scenario = load("mark.toml", &sets.iter().map(String::as_str).collect::<Vec<_>>());
    let (_, recording) = made(&scenario, &scenario.plans()[0]);
    let stage = recording.stages.iter().find(|stage| stage.name == "mark").expect("a stage");
    recording.stage_samples.iter().rfind(|s| s.stage == stage.index).expect("samples").marked
}

#[test]
fn segments_are_marked_where_the_sender_asks_and_the_receiver_agrees() {
    assert_eq!([[1, 9], [1, 2], [1, 1]].map(marked), [3; 3]);
    assert_eq!([[1, 0], [0, 1], [2, 1], [2, 2]].map(marked), [0; 4]);
}

/// Kernels before 6.1 have ECN by other rules; where it is not used, nothing is refused.
#[test]
fn ecn_of_earlier_kernels_is_refused() {
    let refused = |sets: &[&str]| {
        let run = load("mark.toml", sets).plans()[0].resolved.clone();
        Simulator.support(&run).into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    let key = "hosts.sender.sysctl.net.ipv4.tcp_ecn".to_string();
    assert_eq!(refused(&["hosts.receiver.kernel=3.14"]), std::slice::from_ref(&key));
    assert_eq!(refused(&["hosts.sender.kernel=2.6.32"]), [key]);
    let none: [&[&str]; 4] = [
        &[],
        &["hosts.receiver.kernel=6.1"],
        &["hosts.receiver.kernel=2.6.20"],
        &["hosts.receiver.kernel=3.14", "hosts.receiver.sysctl.net.ipv4.tcp_ecn=0"],
    ];
    assert!(none.iter().all(|sets| refused(sets).is_empty()));
}

#[test]
fn chosen_segments_are_lost_and_sent_again_once() {
    let (_, run, recording) = run("drop.toml", &[]);
    assert_eq!(counters(&recording, "drop").2, 4);
    assert_eq!(run.expectations.len(), 3);
}

#[test]
fn packets_that_go_ahead_look_like_losses() {
    let (_, run_out, recording) = run("reorder.toml", &[]);
    let (entered, _, dropped) = counters(&recording, "reorder");
    assert!(entered > 1000 && dropped == 0 && run_out.flows[0].retransmitted_segments > 10);
    let (_, in_order, _) = run("reorder.toml", &["path.forward.reorder.probability=0"]);
    // Each false loss costs a reduction until the sender has learnt how far packets overtake.
    assert!(in_order.flows[0].mean_mbit > 1.05 * run_out.flows[0].mean_mbit);
}

#[test]
fn packets_that_come_late_look_like_losses() {
    let (_, run, _) = run("late.toml", &[]);
    assert!(run.flows[0].retransmitted_segments > 10);
}

#[test]
fn copies_cost_capacity_and_nothing_else() {
    let (_, copied, recording) = run("duplicate.toml", &[]);
    let (entered, left, _) = counters(&recording, "copies");
    close((left - entered) as f64 / entered as f64, 0.01, 0.2);
    // A packet in a hundred passes the full link twice. Nothing is sent again for it, as the scenario expects.
    let (_, plain, _) = run("duplicate.toml", &["path.forward.copies.probability=0"]);
    let share = copied.flows[0].mean_mbit / plain.flows[0].mean_mbit;
    assert!((0.985..0.995).contains(&share), "{share} of the rate");
}

#[test]
fn jitter_without_reordering_loses_nothing() {
    let (_, kept, _) = run("jitter.toml", &[]);
    assert_eq!(kept.flows[0].retransmitted_segments, 0);
}

#[test]
fn a_flow_has_its_own_round_trip() {
    let (_, run, recording) = run("flow_delay.toml", &[]);
    for (flow, ms) in run.flows.iter().zip([10.0, 90.0]) {
        // The last ACK, of a FIN alone, is delayed.
        let srtt = flow.intervals.iter().filter_map(|interval| interval.srtt_us).min();
        let srtt = f64::from(srtt.expect("measured")) / 1e3;
        // TCP measures in ticks of 1 ms.
        assert!((ms..ms + 2.1).contains(&srtt), "{}: {srtt} ms, not {ms}", flow.name);
    }
    let (entered, left, _) = counters(&recording, "far");
    assert_eq!(entered, left);
    assert_eq!(entered, counters(&recording, "link").0);
}

#[test]
fn a_policer_lets_no_more_than_its_rate_pass() {
    let (resolved, run, recording) = run("policer.toml", &[]);
    let (_, left, dropped) = counters(&recording, "police");
    let most = 100e6 / 8.0 * resolved.duration.as_secs_f64() + 65536.0;
    assert!(left as f64 * 60.0 < most && dropped > 10);
    assert!(
        run.flows[0].mean_mbit < 100.0 && run.flows[0].mean_mbit > 10.0,
        "{}",
        run.flows[0].mean_mbit
    );
}

#[test]
fn a_shaper_lets_its_burst_pass_at_once_and_drops_what_its_queue_does_not_hold() {
    let (_, run, recording) = run("shaper.toml", &[]);
    let (_, left, dropped) = counters(&recording, "shaper");
    // Packets arrive for 5 s, and the rest leaves in 20 ms.
    let [least, most] = [5.0, 5.02].map(|seconds| (100e6 / 8.0 * seconds + 65536.0) / 1514.0);
    assert!((0.97 * least..=most).contains(&(left as f64)) && dropped > 10, "{left}, {dropped}");
    close(run.flows[0].mean_mbit, 100.0 * 1448.0 / 1514.0, 0.03);
}

/// Delivered megabits per second of each report interval.
fn rates(run: &Run) -> Vec<f64> {
    run.flows[0].intervals.iter().map(|interval| interval.throughput_mbit).collect()
}

#[test]
fn the_rate_follows_the_steps() {
    let (_, run, _) = run("varying_link.toml", &[]);
    let rates = rates(&run);
    // 1448 of 1538 bytes on the wire are payload.
    close(rates[3], 50.0 * 1448.0 / 1538.0, 0.03);
    assert!(rates[1] > 150.0, "{rates:?}");
}

#[test]
fn the_rate_follows_the_recording() {
    let (resolved, run, _) = run("varying_link_recorded.toml", &[]);
    let scenario::Element::VaryingLink(link) = &resolved.path.forward[0] else { panic!() };
    assert_eq!(link.steps.len(), 7);
    let rates = rates(&run);
    assert!(rates[3] < 21.0 && rates[0] > 100.0, "{rates:?}");
}

#[test]
fn a_cellular_link_delivers_its_opportunities() {
    let (_, run, _) = run("trace_link.toml", &[]);
    let rates = rates(&run);
    close(rates[4], 12.0 * 1448.0 / 1500.0, 0.05);
}

#[test]
fn what_several_hosts_send_meets_at_the_bottleneck() {
    let (_, run, recording) = run("dumbbell.toml", &[]);
    let sent =
        ["sender", "second", "old"].map(|host| counters(&recording, &format!("{host}.tx_ring")).1);
    assert!(sent.iter().all(|sent| *sent > 20_000), "{sent:?}");
    // Packets between card and queue as the run ends: 10 ms, and 30 ms more.
    let (_, passed, dropped) = counters(&recording, "bottleneck");
    let missing = sent.iter().sum::<u64>() - passed - dropped;
    assert!(dropped > 100 && missing < 100, "{sent:?}: {missing}");
    let kept = ["receiver", "sink"].map(|host| counters(&recording, &format!("{host}.rx_ring")).0);
    assert!(kept[1] > 20_000 && kept.iter().sum::<u64>() <= passed, "{kept:?} of {passed}");
    let rates: Vec<f64> = run.flows.iter().map(|flow| flow.mean_mbit).collect();
    assert!(rates[2] < 100.0, "{rates:?}");
    assert_eq!(run.flows[2].kernel, "3.14");
}
