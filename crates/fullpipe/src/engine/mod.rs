//! Engines: each turns a resolved scenario into a trace. A new engine is a module and one line in
//! [`engines`].
//!
//! For each scenario key an engine says whether it does exactly that, something else, or refuses.
//! Nothing right of the trace knows which engine made it.

pub mod linux;
pub mod sim;

use crate::scenario::Resolved;
use fullpipe_sim::trace::{Control, Sink};
use fullpipe_sim::units::Time;

/// What an engine does with a scenario key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// What the key says.
    Exact,
    /// Something else, for the reason given; the user must have asked for it.
    Substituted(String),
    /// Nothing, for the reason given; the run does not start.
    Refused(String),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Simulated time reached.
    pub end: Time,
    /// Whether the run went to its end (false: stopped by its control).
    pub complete: bool,
    /// Data segments sent.
    pub segments: u64,
}

/// Runs scenarios.
pub trait Engine: Sync {
    /// Name on the command line and in results.
    fn name(&self) -> &'static str;

    /// The keys of `resolved` that this engine does not do exactly.
    fn support(&self, resolved: &Resolved) -> Vec<(String, Support)>;

    /// Runs `resolved` and streams its trace into `sink`, until the end or until `control` says
    /// stop; what was told by then is whole.
    ///
    /// # Errors
    /// What this engine cannot do with the scenario, naming the key.
    fn run(
        &self,
        resolved: &Resolved,
        sink: &mut dyn Sink,
        control: &mut dyn Control,
    ) -> Result<Outcome, String>;
}

/// All engines, the default one first.
pub fn engines() -> &'static [&'static dyn Engine] {
    &[&sim::Simulator]
}

/// The engine called `name`.
pub fn find(name: &str) -> Option<&'static dyn Engine> {
    engines().iter().copied().find(|engine| engine.name() == name)
}
