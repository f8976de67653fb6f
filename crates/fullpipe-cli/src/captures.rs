//! `--pcap`: a capture per run.

use crate::args::RunArguments;
use crate::failure::Failure;
use crate::interrupt::Temporary;
use crate::progress::Progress;
use fullpipe::capture::{self, About, At, Capture};
use fullpipe::engine::Outcome;
use fullpipe::scenario::Scenario;
use fullpipe::trace::Error;
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Sink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What is to be captured of the runs of a scenario.
pub struct Captures {
    /// A file for each run; none if nothing is captured.
    paths: Vec<PathBuf>,
    at: At,
    snap: u32,
}

/// A capture of a run that is about to begin.
pub struct Running {
    capture: Capture,
    path: PathBuf,
    _removed_by_signal: Temporary,
}

impl Captures {
    /// What the arguments ask for.
    ///
    /// # Errors
    /// A run has no such point.
    pub fn new(arguments: &RunArguments, scenario: &Scenario) -> Result<Captures, Failure> {
        let (at, snap) = (arguments.at.clone(), arguments.snap);
        let Some(file) = &arguments.pcap else {
            return Ok(Captures { paths: Vec::new(), at, snap });
        };
        for plan in scenario.plans() {
            let point = at.point(&plan.resolved);
            point.map_err(|why| Failure::Input(format!("--at: {}: {why}", plan.name())))?;
        }
        Ok(Captures { paths: capture::paths(file, scenario), at, snap })
    }

    /// Whether all files can be written, before anything runs.
    ///
    /// # Errors
    /// One is there already, or cannot be made.
    pub fn check(&self) -> Result<(), Failure> {
        self.paths.iter().try_for_each(|path| capture::check(path)).map_err(environment)
    }

    /// Begins the capture of run number `index`, if there is to be one.
    ///
    /// # Errors
    /// Its file cannot be made.
    pub fn begin(&self, index: usize, scenario: &Scenario) -> Result<Option<Running>, Failure> {
        let Some(path) = self.paths.get(index) else { return Ok(None) };
        let plan = &scenario.plans()[index];
        let about = About { scenario, plan, at: &self.at, snap: self.snap };
        let capture = Capture::create(path, &about).map_err(environment)?;
        let _removed_by_signal = Temporary::new(capture.hidden());
        Ok(Some(Running { capture, path: path.clone(), _removed_by_signal }))
    }
}

impl Running {
    /// Captures while `run` runs into the sink that it is given; the second argument becomes true
    /// when the file cannot be written.
    ///
    /// # Errors
    /// Those of `run`, and of the file.
    pub fn during(
        mut self,
        recording: &mut Recording,
        progress: &Progress,
        run: impl FnOnce(&mut dyn Sink, Option<Arc<AtomicBool>>) -> Result<Outcome, Failure>,
    ) -> Result<Outcome, Failure> {
        let failed = self.capture.failed();
        let outcome = run(&mut self.capture.before(recording), Some(failed))?;
        let packets = self.capture.finish(outcome.end, outcome.complete).map_err(environment)?;
        progress.say(&format!("capture: {} ({packets} packets)", self.path.display()));
        Ok(outcome)
    }
}

fn environment(error: Error) -> Failure {
    Failure::Environment(error.to_string())
}
