//! Runs of a scenario in scenarios/theory.

use crate::made::made;
use fullpipe::analysis::document::Run;
use fullpipe::scenario::{self, Plan, Resolved, SetOption, Source};
use fullpipe::trace::recording::Recording;
use std::path::Path;

/// A run, what was asked for, and its trace.
pub struct Made {
    pub resolved: Resolved,
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
    with(name, &[], &[])
}

/// Some variants of scenarios/theory/NAME.toml, with options.
pub fn with(name: &str, sets: &[SetOption], variants: &[String]) -> Vec<Made> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/theory");
    let source = Source::read(&folder.join(format!("{name}.toml"))).unwrap();
    let scenario = scenario::load(&source, sets, variants).unwrap_or_else(|e| panic!("{e}"));
    let made = |plan: &Plan| {
        let (run, trace) = made(&scenario, plan);
        Made { resolved: plan.resolved.clone(), run, trace }
    };
    scenario.plans().iter().map(made).collect()
}
