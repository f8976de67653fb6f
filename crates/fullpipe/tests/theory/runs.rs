//! Runs of a scenario in scenarios/theory.

use fullpipe::analysis::{self, RunMeta, document::Run};
use fullpipe::engine;
use fullpipe::scenario::{self, Source};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;
use std::path::Path;

struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

/// A run and its trace.
pub struct Made {
    pub run: Run,
    pub trace: Recording,
}

impl Made {
    /// What entered a stage.
    pub fn entered(&self, stage: &str) -> f64 {
        let found = self.run.stages.iter().find(|s| s.name == stage);
        found.unwrap_or_else(|| panic!("no stage {stage}")).entered as f64
    }
}

/// All variants of scenarios/theory/NAME.toml.
pub fn all(name: &str) -> Vec<Made> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/theory");
    let source = Source::read(&folder.join(format!("{name}.toml"))).unwrap();
    let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let simulator = engine::find("sim").unwrap();
    let made = |plan| {
        let mut trace = Recording::default();
        simulator.run(&scenario::Plan::clone(plan).resolved, &mut trace, &mut ToTheEnd).unwrap();
        let run = analysis::run(&RunMeta::from_plan(&scenario, plan, "sim", false), &trace);
        Made { run, trace }
    };
    scenario.plans().iter().map(made).collect()
}
