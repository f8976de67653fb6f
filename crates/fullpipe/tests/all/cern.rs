//! The page on CERN's buffers: its table is made from runs of the recipes (`UPDATE_EXPECT=1` rewrites it).

use crate::made::made;
use crate::marked;
use fullpipe::scenario::{self, Plan, SetOption};
use std::fmt::Write;

const PAGE: &str = "docs/cern-buffers.md";
const RTT_S: f64 = 0.025;

/// Largest window that the receiver can offer, bytes: three quarters of the largest buffer, or half of it from Linux
/// 3.4 on.
fn window(plan: &Plan) -> f64 {
    let sysctl = &plan.resolved.hosts.receiver.config.sysctl;
    let buffer = sysctl.tcp_rmem[2] as f64;
    buffer - buffer / f64::from(1 << sysctl.tcp_adv_win_scale)
}

/// Runs of the page: name, recipe, variant, changes, published rate.
const RUNS: [(&str, &str, &str, &[&str], &str); 6] = [
    ("default, window 3/4", DEFAULT, "default, window 3/4", &[], "1.0"),
    ("default, window 1/2", DEFAULT, "default, window 1/2", &[], "1.0"),
    ("tuned, window 3/4", TUNED, "tuned", &[], "10"),
    ("tuned, window 1/2", TUNED, "tuned, window 1/2", &[], "10"),
    ("default, window 3/4, copies take no time", DEFAULT, "default, window 3/4", &NO_COPY, "1.0"),
    ("tuned, window 1/2, an interrupt per packet, 20 s", TUNED, "tuned, window 1/2", &EACH, "10"),
];
/// The runs that a test makes, one of each recipe; `make studies` makes all.
const SAMPLE: [usize; 2] = [1, 3];
const DEFAULT: &str = "cern-default-buffers";
const TUNED: &str = "cern-tuned-buffers";
const NO_COPY: [&str; 2] = ["hosts.sender.cpu.copy=0ns/byte", "hosts.receiver.cpu.copy=0ns/byte"];
const EACH: [&str; 4] = [
    "hosts.sender.coalesce=0s",
    "hosts.receiver.coalesce=0s",
    "duration=20s",
    "flow.iperf3.duration=20s",
];

#[test]
#[ignore = "a study: make studies"]
fn study_buffers_decide_the_rate() {
    let mut table = String::from(
        "| run | published, Gb/s | window / 25 ms, Gb/s | simulated, Gb/s | to 90 % of it, s | ACKs dropped | held back by |\n",
    ) + "|---|--:|--:|--:|--:|--:|---|\n";
    for (name, recipe, variant, set, published) in marked::rows(&RUNS, &SAMPLE) {
        let source = scenario::recipe(recipe).expect("the recipe").source();
        let sets: Vec<_> = set.iter().map(|set| SetOption((*set).into())).collect();
        let scenario = scenario::load(&source, &sets, &[variant.into()]);
        let scenario = scenario.unwrap_or_else(|e| panic!("{e}"));
        let plan = &scenario.plans()[0];
        let (run, _) = made(&scenario, plan);
        let passed = run.expectations.iter().map(|expectation| expectation.passed);
        assert!(passed.eq([set.is_empty()]), "{name}");
        let flow = &run.flows[0];
        let by_window = window(plan) * 8.0 / RTT_S / 1e9;
        let [plateau, begins] =
            [flow.plateau_mbit, flow.time_to_plateau_s].map(|figure| figure.expect("a plateau"));
        let most = flow.limits.iter().max_by(|a, b| a.1.total_cmp(b.1)).expect("limits").0;
        let acks = run.stages.iter().find(|stage| stage.name == "receiver.qdisc");
        let acks = acks.expect("a qdisc").dropped;
        writeln!(
            table,
            "| {name} | {published} | {by_window:.2} | {:.2} | {begins:.0} | {acks} | {most} |",
            plateau / 1e3
        )
        .expect("text");
    }
    marked::sampled(PAGE, "cern", &table);
}
