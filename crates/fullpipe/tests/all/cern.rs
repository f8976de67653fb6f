//! The page on CERN's buffers: its table comes from runs of the recipes (`FULLPIPE_BLESS=1` rewrites it).

use crate::made::made;
use crate::marked;
use fullpipe::scenario::{self, Plan};
use std::fmt::Write;

const PAGE: &str = "docs/cern-buffers.md";
const RTT_S: f64 = 0.025;

/// What the receiver can offer at most, bytes: of the largest buffer three quarters, or half of it from Linux 3.4 on.
fn window(plan: &Plan) -> f64 {
    let sysctl = &plan.resolved.hosts.receiver.sysctl.modelled;
    let buffer = sysctl.tcp_rmem[2] as f64;
    buffer - buffer / f64::from(1 << sysctl.tcp_adv_win_scale)
}

#[test]
fn buffers_decide_the_rate() {
    let mut table = String::from(
        "| run | published, Gb/s | window / 25 ms, Gb/s | simulated, Gb/s | held back by |\n|---|--:|--:|--:|---|\n",
    );
    for (recipe, published) in [("cern-default-buffers", "1.0"), ("cern-tuned-buffers", "10")] {
        let source = scenario::recipe(recipe).expect("the recipe").source();
        let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scenario.plans().len(), 2);
        for plan in scenario.plans() {
            let (run, _) = made(&scenario, plan);
            assert!(
                run.expectations.iter().all(|expectation| expectation.passed),
                "{}",
                plan.variant
            );
            assert_eq!(run.expectations.len(), 1, "{}", plan.variant);
            let flow = &run.flows[0];
            let published = if plan.variant.ends_with("1/2") { "–" } else { published };
            let by_window = window(plan) * 8.0 / RTT_S / 1e9;
            let plateau = flow.plateau_mbit.expect("a plateau") / 1e3;
            let most = flow.limits.iter().max_by(|a, b| a.1.total_cmp(b.1)).expect("limits").0;
            let name = &plan.variant;
            writeln!(table, "| {name} | {published} | {by_window:.2} | {plateau:.2} | {most} |")
                .expect("text");
        }
    }
    marked::committed(PAGE, "cern", &table);
}
