//! The page on NFS: its table comes from runs of scenarios/workloads/nfs.toml on genuine Linux, which take minutes and a kernel
//! (`make nfs`).

use crate::marked;
use fullpipe::analysis::{self, Made, RunMeta, document::Run};
use fullpipe::engine;
use fullpipe::scenario::{self, Plan, Scenario, Source};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;
use std::fmt::Write;
use std::path::Path;

const PAGE: &str = "docs/nfs.md";

struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

fn made(scenario: &Scenario, plan: &Plan) -> Run {
    let mut recording = Recording::default();
    let linux = engine::find("linux").expect("the engine");
    linux.ready(&plan.resolved).unwrap_or_else(|why| panic!("{why}"));
    let outcome = linux.run(&plan.resolved, &mut recording, &mut ToTheEnd);
    outcome.unwrap_or_else(|failed| panic!("{}: {failed:?}", plan.name()));
    analysis::run(&RunMeta::from_plan(scenario, plan, Made::default()), &recording)
}

fn kib(mbit: f64) -> f64 {
    mbit * 1e6 / 8.0 / 1024.0
}

/// What held the connections back for most of their time, and what share of it that was.
fn held(run: &Run) -> (String, f64) {
    let share = |limit: &String| {
        let of = run.flows.iter().map(|flow| flow.limits.get(limit).copied().unwrap_or(0.0));
        of.sum::<f64>() / run.flows.len() as f64
    };
    let names = run.flows.iter().flat_map(|flow| flow.limits.keys());
    let most = names.max_by(|a, b| share(a).total_cmp(&share(b))).expect("limits");
    (most.clone(), share(most))
}

#[test]
#[ignore = "runs the genuine kernel for minutes"]
fn record() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/workloads/nfs.toml");
    let source = Source::read(&path).unwrap_or_else(|e| panic!("{e}"));
    let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut table = String::from(
        "| variant | measured, KiB/s | fullpipe, KiB/s | difference | held back most by | a WRITE waits, ms | and is answered after, ms |\n\
         |---|--:|--:|--:|---|--:|--:|\n",
    );
    let mut wrong = Vec::new();
    for plan in scenario.plans() {
        let run = made(&scenario, plan);
        let (own, expectation) = (&run.nfs[0], &run.expectations[0]);
        let found = kib(own.mean_mbit.expect("it is done"));
        let measured = kib(expectation.expected[0]);
        let difference = (found / measured - 1.0) * 100.0;
        let (limit, share) = held(&run);
        let requests = own.requests.expect("requests");
        let row = format!(
            "| {} | {measured:.0} | {found:.0} | {difference:+.1} % | {limit}, {:.0} % | {:.1} | {:.1} |",
            plan.name(),
            share * 100.0,
            requests.mean_queue_ms,
            requests.mean_rtt_ms
        );
        println!("{row}");
        table += &format!("{row}\n");
        wrong.extend((!expectation.passed).then_some(row));
    }
    let mut told = String::new();
    write!(told, "{table}").expect("text");
    marked::rewritten(PAGE, "nfs-knobs", &told);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
