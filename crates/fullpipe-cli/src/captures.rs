//! `--pcap`: a capture per run.

use crate::failure::Failure;
use crate::interrupt::Temporary;
use crate::progress::Progress;
use crate::run_arguments::RunArguments;
use fullpipe::base::trace::{Point, Sink};
use fullpipe::capture::{self, About, At, Capture, Taken};
use fullpipe::engine::Outcome;
use fullpipe::scenario::{Plan, Scenario};
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Captures of the runs of a scenario.
pub struct Captures {
    /// A file for each run; none if nothing is captured.
    paths: Vec<PathBuf>,
    at: At,
    snap: u32,
    json: bool,
}

/// The name that means standard output.
const STDOUT: &str = "-";

/// A capture of a run that is about to begin.
pub struct Running {
    capture: Capture,
    path: PathBuf,
    _removed_by_signal: Option<Temporary>,
}

impl Captures {
    /// Captures that the arguments ask for.
    ///
    /// # Errors
    /// A run has no such point.
    pub fn new(arguments: &RunArguments, scenario: &Scenario) -> Result<Captures, Failure> {
        let (at, snap, json) = (arguments.at.clone(), arguments.snap, arguments.json);
        let Some(file) = &arguments.pcap else {
            return Ok(Captures { paths: Vec::new(), at, snap, json });
        };

        // Each run must have that point, since each gets a file.
        for plan in scenario.plans() {
            let point = at.point(&plan.resolved);
            let point =
                point.map_err(|why| Failure::Input(format!("--at: {}: {why}", plan.name())))?;
            one_point(plan, &at, point)?;
        }

        // Standard output has one name for all runs.
        let paths = match file.as_os_str() == STDOUT {
            true => vec![file.clone(); scenario.plans().len()],
            false => capture::paths(file, scenario),
        };
        Ok(Captures { paths, at, snap, json })
    }

    /// Whether a capture takes standard output.
    pub fn take_stdout(&self) -> bool {
        self.paths.first().is_some_and(|path| is_stdout(path))
    }

    /// Whether all files can be written, before anything runs.
    ///
    /// # Errors
    /// One is there already, or cannot be made; standard output cannot take a capture.
    pub fn check(&self) -> Result<(), Failure> {
        if self.take_stdout() {
            return self.check_stdout();
        }
        self.paths.iter().try_for_each(|path| capture::check(path)).map_err(Failure::from)
    }

    fn check_stdout(&self) -> Result<(), Failure> {
        let why = match self.paths.len() {
            1 if self.json => "--json needs standard output too; name a file",
            1 if stdout().is_terminal() => {
                "standard output is a terminal; name a file, or a program after |"
            }
            1 => return Ok(()),
            _ => "standard output takes one run; choose it with --variant, or name a file",
        };
        Err(Failure::Input(format!("--pcap {STDOUT}: {why}")))
    }

    /// Begins the capture of run number `index`, if there is to be one.
    ///
    /// # Errors
    /// Its file cannot be made.
    pub fn begin(&self, index: usize, scenario: &Scenario) -> Result<Option<Running>, Failure> {
        let Some(path) = self.paths.get(index) else { return Ok(None) };
        let plan = &scenario.plans()[index];
        let about = About { scenario, plan, at: &self.at, snap: self.snap };
        let capture = match is_stdout(path) {
            true => Capture::stream(Box::new(stdout()), &about),
            false => Capture::create(path, &about),
        };
        let capture = capture?;
        let _removed_by_signal = capture.hidden().map(Temporary::new);
        Ok(Some(Running { capture, path: path.clone(), _removed_by_signal }))
    }
}

/// Refuses a capture at another point than that at which packets are kept.
fn one_point(plan: &Plan, at: &At, point: Point) -> Result<(), Failure> {
    let Some(kept) = &plan.resolved.report.packets else { return Ok(()) };
    match At::named(&kept.at).point(&plan.resolved) {
        Ok(other) if other != point => Err(Failure::Input(format!(
            "--at: {}: packets are seen at one point of a run, and report.packets keeps them at {}; expected --at {}, not {}",
            plan.name(),
            kept.at,
            kept.at,
            at.name()
        ))),
        _ => Ok(()),
    }
}

impl Running {
    /// Captures while `run` runs into its sink; the second argument becomes true when the file cannot be written.
    /// Returns the outcome, and the reason why the capture has not got its name.
    ///
    /// # Errors
    /// Those of `run`, and of the file where they have cut the run short.
    pub fn during(
        mut self,
        sink: &mut dyn Sink,
        progress: &Progress,
        run: impl FnOnce(&mut dyn Sink, Option<Arc<AtomicBool>>) -> Result<Outcome, Failure>,
    ) -> Result<(Outcome, Option<Failure>), Failure> {
        let failed = self.capture.failed();
        let outcome = run(&mut self.capture.before(sink), Some(failed.clone()))?;
        let cut_short = failed.load(Ordering::SeqCst) && !outcome.complete;

        // A file that failed while the run still went on is the run's failure.
        let taken = match self.capture.finish(outcome.end, outcome.complete) {
            Ok(taken) => taken,
            Err(why) if cut_short => return Err(why.into()),
            // The run is whole: its results stay, and the file is reported.
            Err(why) => return Ok((outcome, Some(why.into()))),
        };
        let name = match is_stdout(&self.path) {
            true => Path::new("standard output").display(),
            false => self.path.display(),
        };
        progress.say(&match taken {
            Taken::Whole(packets) => format!("capture: {name} ({packets} packets)"),
            Taken::ReaderLeft => format!("capture: the reader of {name} closed it before the end"),
        });
        Ok((outcome, None))
    }
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == STDOUT
}
