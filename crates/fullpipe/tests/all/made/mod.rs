//! Result of a plan, simulated to its end and analysed.

use fullpipe::analysis::{self, Made, RunMeta, document::Run};
use fullpipe::engine;
use fullpipe::scenario::{self, Plan, Scenario, Source};
use fullpipe::threads;
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// Control that lets a run continue to its end.
pub struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

/// The scenario of a text.
pub fn loaded(text: &str) -> Scenario {
    let source = Source::text("scenario.toml", text);
    scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Result of a plan on the simulator, and its trace.
pub fn made(scenario: &Scenario, plan: &Plan) -> (Run, Recording) {
    made_on("sim", scenario, plan)
}

/// Whether real Linux can run a plan here. Where it cannot, the test says so; a failure where FULLPIPE_REQUIRE_KERNEL
/// is set.
pub fn has_kernel(plan: &Plan) -> bool {
    let linux = engine::find("linux").expect("the engine");
    let ready = linux.ready(&plan.resolved);
    if let Err(why) = &ready {
        assert!(std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_none(), "{why}");
        println!("skipped: {why}");
    }
    ready.is_ok()
}

/// Result of a plan on an engine, and its trace.
pub fn made_on(engine: &str, scenario: &Scenario, plan: &Plan) -> (Run, Recording) {
    let (engine, mut recording) = (engine::find(engine).expect("the engine"), Recording::default());
    engine.ready(&plan.resolved).unwrap_or_else(|why| panic!("{why}"));
    let ran = engine.run(&plan.resolved, &mut recording, &mut ToTheEnd);
    ran.unwrap_or_else(|failed| panic!("{}: {failed:?}", plan.name()));
    let meta = RunMeta::from_plan(scenario, plan, Made::default());
    (analysis::run(&meta, &recording), recording)
}

/// Results of `count` pieces of work, in order, made by two threads.
pub fn by_two<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let made = threads::each(count, 2, |at| Ok::<T, Infallible>(work(at)));
    made.unwrap_or_else(|never| match never {})
}

/// All scenario files of the repository, in order.
pub fn scenario_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let folders = std::fs::read_dir(root).expect("the scenarios").map(|entry| entry.expect("one"));
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).expect("a folder"));
    let paths = files.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    paths.sort();
    assert!(paths.len() > 20);
    paths
}
