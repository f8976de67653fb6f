//! The runs of a scenario, several at a time, with Python's lock released.

use crate::error;
use crate::tables::{Table, tables};
use fullpipe::analysis::document::{self, Document, Run};
use fullpipe::analysis::{self, RunMeta, phases};
use fullpipe::capture::Trains;
use fullpipe::engine::Failed;
use fullpipe::experiment::Chosen;
use fullpipe::report::{html, limits, time_sequence};
use fullpipe::scenario::{Plan, Scenario};
use fullpipe::trace::provenance::Provenance;
use fullpipe::trace::recording::Recording;
use fullpipe::trace::rundir::{Place, Writer};
use fullpipe::trace::{json, packets};
use fullpipe_sim::trace::{Control, Sink};
use fullpipe_sim::units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Between two looks whether Python has a signal for us.
const LOOK: Duration = Duration::from_millis(50);

/// Flow, limit, its label, its share, and what cut cwnd.
type Finding<'a> = (&'a str, &'a str, &'a str, f64, Option<String>);

/// What came out of a scenario's runs.
#[pyclass(frozen, module = "fullpipe._fullpipe")]
pub struct Outcome {
    document: Document,
    recordings: Vec<Recording>,
    #[pyo3(get)]
    directory: Option<PathBuf>,
}

#[pymethods]
impl Outcome {
    /// The document, as it stands in summary.json.
    fn json(&self) -> PyResult<String> {
        let mut bytes = Vec::new();
        json::write(&mut bytes, &self.document).map_err(error::environment)?;
        String::from_utf8(bytes).map_err(error::environment)
    }

    /// What held each flow of a run back, largest share first: flow, limit, label, share; and what cut cwnd, as a sentence.
    fn findings(&self, run: usize) -> PyResult<Vec<Finding<'_>>> {
        let run = self.document.runs.get(run).ok_or_else(|| no_run(run))?;
        let of = |flow| {
            let flow: &document::Flow = flow;
            let cuts = limits::cuts(run, flow);
            limits::ranked(&flow.limits).into_iter().map(move |(name, share)| {
                let cut = cuts.clone().filter(|_| name.starts_with("cwnd"));
                (flow.name.as_str(), name, limits::label(name), share, cut)
            })
        };
        Ok(run.flows.iter().flat_map(of).collect())
    }

    /// A table of a run's trace.
    fn table(&self, run: usize, name: &str) -> PyResult<Table> {
        let recording = self.recordings.get(run).ok_or_else(|| no_run(run))?;
        let flows: Vec<String> =
            self.document.runs[run].flows.iter().map(|flow| flow.name.clone()).collect();
        tables(recording, &flows, name)
    }
}

fn no_run(run: usize) -> PyErr {
    PyValueError::new_err(format!("there is no run {run}"))
}

/// Everything that the threads share.
struct Work<'a> {
    scenario: &'a Scenario,
    engines: &'a [Chosen],
    names: Vec<&'static str>,
    writer: Option<&'a Writer>,
    next: AtomicUsize,
    stop: AtomicBool,
}

type Made = Result<(Run, Recording), Failed>;

/// Makes all runs. A signal to Python ends them at their next sample, and is raised.
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    engines: &[Chosen],
    jobs: Option<usize>,
    out: Option<PathBuf>,
) -> PyResult<Outcome> {
    let (started, clock) = (SystemTime::now(), Instant::now());
    let writer = out.map(|out| Place::Exactly(out).create()).transpose();
    let writer = writer.map_err(error::environment)?;
    let names = engines.iter().map(|chosen| chosen.engine.name()).collect();
    let work = Work {
        scenario,
        engines,
        names,
        writer: writer.as_ref(),
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
    };
    let all = scenario.plans().len() * engines.len();
    let jobs = jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let made = py.detach(|| work.all(jobs.clamp(1, all.max(1)), all))?;
    let (runs, recordings) = whole(&work, made)?;
    let document = analysis::document(scenario, &work.names, runs);
    let directory = writer.map(|writer| {
        let command = vec!["fullpipe.Scenario.run".into()];
        let provenance = Provenance::here(command, started, clock.elapsed());
        writer.finish(&document, &provenance, &html::render_in_place(&document))
    });
    let directory = directory.transpose().map_err(error::environment)?;
    Ok(Outcome { document, recordings, directory })
}

/// All runs in the scenario's order, or why some failed, as the command says it.
fn whole(work: &Work, made: Vec<(usize, Made)>) -> PyResult<(Vec<Run>, Vec<Recording>)> {
    let (mut runs, mut recordings, mut wrong, mut input) = (vec![], vec![], vec![], false);
    for (index, made) in made {
        match made {
            Ok((run, recording)) => {
                runs.push(run);
                recordings.push(recording);
            }
            Err(failed) => {
                input |= wrong.is_empty() && matches!(failed, Failed::Scenario(_));
                let (Failed::Scenario(why) | Failed::Machine(why)) = failed;
                wrong.push(format!("{}: {why}", work.name(index)));
            }
        }
    }
    match (wrong.is_empty(), input) {
        (true, _) => Ok((runs, recordings)),
        (false, true) => Err(error::scenario(wrong.join("\n"))),
        (false, false) => Err(error::environment(wrong.join("\n"))),
    }
}

impl Work<'_> {
    /// Runs with so many threads, while this one looks for signals.
    fn all(&self, jobs: usize, all: usize) -> PyResult<Vec<(usize, Made)>> {
        let results = Mutex::new(Vec::new());
        let looked = thread::scope(|scope| {
            let (done, ended) = mpsc::channel::<()>();
            for _ in 0..jobs {
                let (done, results) = (done.clone(), &results);
                scope.spawn(move || {
                    self.some(all, results);
                    drop(done);
                });
            }
            drop(done);
            until(&ended, &self.stop)
        });
        looked?;
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        Ok(results)
    }

    /// Takes runs until there are none left, or a reason to stop.
    fn some(&self, all: usize, results: &Mutex<Vec<(usize, Made)>>) {
        loop {
            let index = self.next.fetch_add(1, Ordering::SeqCst);
            if index >= all || self.stop.load(Ordering::SeqCst) {
                return;
            }
            let made = self.one(index);
            self.stop.fetch_or(made.is_err(), Ordering::SeqCst);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, made));
        }
    }

    fn of(&self, index: usize) -> (&Plan, &Chosen) {
        let engines = self.engines.len();
        (&self.scenario.plans()[index / engines], &self.engines[index % engines])
    }

    fn name(&self, index: usize) -> String {
        analysis::run_names(self.of(index).0, &self.names)[index % self.engines.len()].clone()
    }

    /// One plan on one engine, run, analysed and, where that is asked, written.
    fn one(&self, index: usize) -> Made {
        let (plan, _) = self.of(index);
        let (kept, table) = Growing::begin(self.writer, plan)?;
        let (mut run, recording) = self.simulate(index, plan, kept)?;
        if let (Some(table), Some(packets)) = (&table, &mut run.packets) {
            packets.at.clone_from(&table.at);
        }
        self.widen_band(index, plan, &mut run)?;
        if let Some(writer) = self.writer {
            writer.run(&run, &plan.resolved.to_toml(), &recording).map_err(machine)?;
            if let Some(table) = table {
                let taken = writer.take(&run.variant, &table.path, packets::FILE);
                let folder = taken.map_err(machine)?;
                time_sequence::write(&folder, &self.scenario.title, &run).map_err(machine)?;
            }
        }
        Ok((run, recording))
    }

    fn simulate(
        &self,
        index: usize,
        plan: &Plan,
        kept: Option<Trains>,
    ) -> Result<(Run, Recording), Failed> {
        let (_, chosen) = self.of(index);
        let mut recording = Recording::default();
        let mut until = Until(&self.stop);
        let mut run = |sink: &mut dyn Sink| chosen.engine.run(&plan.resolved, sink, &mut until);
        let (outcome, kept) = match kept {
            None => (run(&mut recording)?, None),
            Some(mut trains) => {
                let outcome = run(&mut trains.before(&mut recording))?;
                (outcome, Some(trains.finish().map_err(machine)?))
            }
        };
        let made = chosen.made(&plan.resolved, !outcome.complete);
        let variant = self.name(index);
        let meta = RunMeta { variant, ..RunMeta::from_plan(self.scenario, plan, made) };
        let mut run = analysis::run(&meta, &recording);
        run.packets = kept.map(|kept| document::Packets {
            at: String::new(),
            packets: kept.packets,
            segments: kept.segments,
            trains: kept.trains,
        });
        Ok((run, recording))
    }

    /// Repeats the run at the other phases of its path's timers, for the band of the comparison.
    fn widen_band(&self, index: usize, plan: &Plan, run: &mut Run) -> Result<(), Failed> {
        let Some(published) = &mut run.published else { return Ok(()) };
        for resolved in phases::alternatives(plan) {
            let (other, _) = self.simulate(index, &Plan { resolved, ..plan.clone() }, None)?;
            if let Some(other) = other.published {
                phases::widen(published, &other);
            }
        }
        Ok(())
    }
}

/// Where a table of packets grows, which `report.packets` asks for. What is not taken goes.
struct Growing {
    path: PathBuf,
    at: String,
}

impl Growing {
    fn begin(
        writer: Option<&Writer>,
        plan: &Plan,
    ) -> Result<(Option<Trains>, Option<Growing>), Failed> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let Some(asked) = &plan.resolved.report.packets else { return Ok((None, None)) };
        let temporary = || {
            let count = COUNT.fetch_add(1, Ordering::SeqCst);
            let name = format!("fullpipe-packets-{}-{count}", std::process::id());
            std::env::temp_dir().join(name)
        };
        let path = writer.map_or_else(temporary, Writer::growing);
        let growing = Growing { path, at: asked.at.clone() };
        let trains = Trains::create(&growing.path, &plan.resolved).map_err(machine)?;
        Ok((trains, Some(growing)))
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        let path: &Path = &self.path;
        // Most often it was taken; else there is nobody to tell.
        let _ = std::fs::remove_file(path);
    }
}

fn machine(error: fullpipe::trace::Error) -> Failed {
    Failed::Machine(error.to_string())
}

/// Goes on until it is to stop.
struct Until<'a>(&'a AtomicBool);

impl Control for Until<'_> {
    fn go_on(&mut self, _now: Time) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Waits until all senders of `ended` are gone, with Python's lock released. A signal that raises has `stop` set, and is
/// returned when they are.
pub fn until(ended: &mpsc::Receiver<()>, stop: &AtomicBool) -> PyResult<()> {
    let mut raised = Ok(());
    loop {
        match ended.recv_timeout(LOOK) {
            Err(mpsc::RecvTimeoutError::Timeout) if raised.is_ok() => {
                raised = Python::attach(|py| py.check_signals());
                stop.fetch_or(raised.is_err(), Ordering::SeqCst);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return raised,
            Err(mpsc::RecvTimeoutError::Timeout) | Ok(()) => {}
        }
    }
}
