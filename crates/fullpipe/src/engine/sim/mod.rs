//! The simulator as an engine: a pure mapping from the resolved scenario to its configuration.
//!
//! It does every key of the scenario exactly as the scenario's reference describes it, but for keys of real kernels
//! alone.

mod config;
pub mod mounting;
mod mounts;
mod support;

pub use config::config;

use super::{Engine, Failed, Outcome, Support};
use crate::scenario::Resolved;
use fullpipe_base::trace::{Control, Sink};

/// The engine `sim`: runs scenarios on the simulator.
pub struct Simulator;

impl Engine for Simulator {
    fn name(&self) -> &'static str {
        "sim"
    }

    /// The least that the speed bench accepts.
    fn pace(&self) -> f64 {
        1e6
    }

    fn records_packets(&self) -> bool {
        true
    }

    fn support(&self, resolved: &Resolved) -> Vec<(String, Support)> {
        support::support(resolved)
    }

    fn check(&self, resolved: &Resolved) -> Result<(), String> {
        fullpipe_sim::sim::check(&config(resolved))
    }

    fn run(
        &self,
        resolved: &Resolved,
        sink: &mut dyn Sink,
        control: &mut dyn Control,
    ) -> Result<Outcome, Failed> {
        let config = config(resolved);
        let outcome = match mounts::MountRecorder::new(resolved, sink) {
            Ok(mut recorder) => fullpipe_sim::sim::run(&config, &mut recorder, control),
            Err(sink) => fullpipe_sim::sim::run(&config, sink, control),
        };
        let outcome = outcome.map_err(Failed::Scenario)?;
        let fullpipe_sim::sim::Outcome { end, complete, segments, .. } = outcome;
        Ok(Outcome { end, complete, segments })
    }
}
