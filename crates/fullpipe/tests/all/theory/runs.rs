//! Runs of a scenario in scenarios/theory.

use crate::made::made;
use fullpipe::analysis::document::Run;
use fullpipe::scenario::{self, Plan, Resolved, Scenario, SetOption, Source};
use fullpipe::trace::recording::Recording;
use std::path::Path;

/// A run, its scenario, and its trace.
pub struct Made {
    pub resolved: Resolved,
    pub run: Run,
    pub trace: Recording,
}

impl Made {
    /// Units that entered a stage.
    pub fn entered(&self, stage: &str) -> f64 {
        let found = self.run.stages.iter().find(|s| s.name == stage);
        found.unwrap_or_else(|| panic!("no stage {stage}")).entered as f64
    }

    /// The laws are about windows that nothing but loss bounds. So the largest cwnd must be at most half of what the
    /// receiver ever offered and of what the send buffer holds. A packet takes at most twice its payload there.
    pub fn has_room(&self) {
        let flows = &self.trace.flows;
        let cwnd = flows.iter().map(|sample| u64::from(sample.cwnd)).max().expect("samples");
        let offered = flows.iter().map(|sample| sample.snd_wnd).max().expect("samples") / MSS;
        let buffer = self.run.stages.iter().find(|stage| stage.kind == "send_buffer");
        let buffer = buffer.and_then(|stage| stage.capacity).expect("a fixed buffer") / (2 * MSS);
        let (name, allowed) = (&self.run.variant, offered.min(buffer));
        assert!(2 * cwnd <= allowed, "{name}: cwnd {cwnd}, while buffers allow {allowed}");
    }
}

/// Payload of a full segment without timestamps, bytes.
pub const MSS: u64 = 1460;

/// All variants of scenarios/theory/NAME.toml.
pub fn all(name: &str) -> Vec<Made> {
    with(name, &[], &[])
}

/// Names of all variants of scenarios/theory/NAME.toml.
pub fn variants(name: &str) -> Vec<String> {
    scenario(name, &[], &[]).plans().iter().map(|plan| plan.variant.clone()).collect()
}

/// Some variants of scenarios/theory/NAME.toml, with options.
pub fn with(name: &str, sets: &[SetOption], variants: &[String]) -> Vec<Made> {
    let scenario = scenario(name, sets, variants);
    let made = |plan: &Plan| {
        let (run, trace) = made(&scenario, plan);
        Made { resolved: plan.resolved.clone(), run, trace }
    };
    scenario.plans().iter().map(made).collect()
}

fn scenario(name: &str, sets: &[SetOption], variants: &[String]) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/theory");
    let source = Source::read(&folder.join(format!("{name}.toml"))).unwrap();
    scenario::load(&source, sets, variants).unwrap_or_else(|e| panic!("{e}"))
}
