//! The contract of an engine: it turns a resolved scenario into a trace.
//!
//! For each scenario key an engine says whether it does exactly that, something else, or refuses.

use crate::Resolved;
use fullpipe_base::trace::{Control, Sink};
use fullpipe_base::units::Time;

/// Support of a scenario key by an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// The key's exact meaning.
    Exact,
    /// Something else, for the reason given; the user must have asked for it.
    Substituted(String),
    /// Something else where the scenario asks for nothing: the user reads it, and need not have asked for it.
    Noted(String),
    /// Nothing, for the reason given; the run does not start.
    Refused(String),
}

impl Support {
    /// The deviation from the key, where there is one.
    pub fn otherwise(self) -> Option<String> {
        match self {
            Support::Substituted(what) | Support::Noted(what) => Some(what),
            Support::Exact | Support::Refused(_) => None,
        }
    }
}

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Simulated time reached.
    pub end: Time,
    /// Whether the run went to its end (false: stopped by its control).
    pub complete: bool,
    /// Data segments sent.
    pub segments: u64,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The scenario has a key that the engine cannot do; the text names it.
    Scenario(String),
    /// The machine, or a program on it, failed.
    Machine(String),
}

/// Runs scenarios.
pub trait Engine: Sync {
    /// Name on the command line and in results.
    fn name(&self) -> &'static str;

    /// Versions of real kernels that it runs, the one for scenarios of other kernels first.
    fn kernels(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The real kernel on which it runs `resolved`, where it has one.
    fn kernel(&self, _resolved: &Resolved) -> Option<&'static str> {
        None
    }

    /// The engine with this kernel, whatever the scenario says; none: it has no such kernel.
    fn as_kernel(&self, _version: &str) -> Option<&'static dyn Engine> {
        None
    }

    /// Data segments that it does per second of one core at least, on a machine of today: for estimates.
    fn pace(&self) -> f64;

    /// Whether it records single packets ([`Sink::point`]).
    fn records_packets(&self) -> bool {
        false
    }

    /// The keys of `resolved` that this engine does not do exactly.
    fn support(&self, resolved: &Resolved) -> Vec<(String, Support)>;

    /// Whether this machine has what the engine needs for `resolved`.
    ///
    /// # Errors
    /// The missing needs, and their remedies.
    fn ready(&self, _resolved: &Resolved) -> Result<(), String> {
        Ok(())
    }

    /// Whether the engine would begin a run of `resolved`, of which [`Engine::support`] refuses nothing.
    ///
    /// # Errors
    /// The reason that [`Engine::run`] would give.
    fn check(&self, _resolved: &Resolved) -> Result<(), String> {
        Ok(())
    }

    /// Runs `resolved` and streams its trace into `sink`, until the end or until `control` says stop; what was recorded
    /// by then is whole.
    ///
    /// # Errors
    /// See [`Failed`].
    fn run(
        &self,
        resolved: &Resolved,
        sink: &mut dyn Sink,
        control: &mut dyn Control,
    ) -> Result<Outcome, Failed>;
}
