//! The runs of a scenario, several at a time, with Python's lock released.

use crate::error;
use crate::packets::{Growing, Kept, machine};
use crate::tables::{self, Table};
use fullpipe::analysis::document::{self, Document, Run};
use fullpipe::analysis::{self, RunMeta, phases};
use fullpipe::base::trace::{Control, Sink};
use fullpipe::base::units::Time;
use fullpipe::capture::Trains;
use fullpipe::engine::Failed;
use fullpipe::experiment::Chosen;
use fullpipe::limits::{self, Group};
use fullpipe::report::{html, shares};
use fullpipe::results::json;
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::{self, Place, Writer};
use fullpipe::scenario::{Plan, Scenario};
use fullpipe::steady;
use fullpipe::trace::recording::Recording;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Between two looks whether Python has a signal for us.
const LOOK: Duration = Duration::from_millis(50);

/// Flow, limit, its label, its share, and the cause of cwnd's cuts.
type Finding<'a> = (&'a str, &'a str, &'a str, f64, Option<String>);

/// Results of a scenario's runs.
#[pyclass(frozen, module = "fullpipe._fullpipe")]
pub struct Outcome {
    document: Document,
    recordings: Vec<Recording>,
    /// Folder of each run's table of packets; none where there is none.
    folders: Vec<Option<PathBuf>>,
    #[pyo3(get)]
    directory: Option<PathBuf>,
}

#[pymethods]
impl Outcome {
    /// The document, as in summary.json.
    fn json(&self) -> PyResult<String> {
        let mut bytes = Vec::new();
        json::write(&mut bytes, &self.document).map_err(error::environment)?;
        String::from_utf8(bytes).map_err(error::environment)
    }

    /// Limits of each flow of a run, largest share first: flow, limit, label, share; and the cause of cwnd's cuts, as a
    /// sentence.
    fn findings(&self, run: usize) -> PyResult<Vec<Finding<'_>>> {
        let run = self.document.runs.get(run).ok_or_else(|| no_run(run))?;
        let of = |flow| {
            let flow: &document::Flow = flow;
            let reductions = shares::reductions(run, flow);
            shares::ranked(&flow.limits).into_iter().map(move |(name, share)| {
                let cut = reductions.clone().filter(|_| limits::group(name) == Some(Group::Cwnd));
                (flow.name.as_str(), name, limits::label(name), share, cut)
            })
        };
        Ok(run.flows.iter().flat_map(of).collect())
    }

    /// A table of a run's trace.
    fn table(&self, py: Python<'_>, run: usize, name: &str) -> PyResult<Table> {
        let recording = self.recordings.get(run).ok_or_else(|| no_run(run))?;
        let flows: Vec<String> =
            self.document.runs[run].flows.iter().map(|flow| flow.name.clone()).collect();
        match name {
            tables::PACKETS => {
                let folder = self.folders[run].as_ref().ok_or_else(|| self.no_packets(run))?;
                py.detach(|| tables::packets(folder, &flows))
            }
            name => tables::table_of(recording, &flows, name),
        }
    }

    /// The tables that a run has.
    fn tables(&self, run: usize) -> PyResult<Vec<&'static str>> {
        let folder = self.folders.get(run).ok_or_else(|| no_run(run))?;
        let packets = folder.as_ref().map(|_| tables::PACKETS);
        Ok(tables::NAMES.into_iter().chain(packets).collect())
    }
}

impl Outcome {
    fn no_packets(&self, run: usize) -> PyErr {
        error::scenario(format!(
            "{} kept no packets, as the scenario has no `report.packets`: \
             set={{\"report.packets.at\": \"sender\"}} keeps those that pass the sender",
            self.document.runs[run].variant
        ))
    }
}

fn no_run(run: usize) -> PyErr {
    PyValueError::new_err(format!("there is no run {run}"))
}

/// Everything that the threads share.
struct Shared<'a> {
    scenario: &'a Scenario,
    engines: &'a [Chosen],
    names: Vec<&'static str>,
    writer: Option<&'a Writer>,
    /// Where tables of packets are kept; nowhere: they are not made.
    packets: Option<Kept<'a>>,
    next: AtomicUsize,
    stop: AtomicBool,
}

type Made = Result<(Run, Recording), Failed>;

/// Destination of the results of runs.
pub struct Keeping {
    /// The new directory that has them all; none: they are not kept.
    pub out: Option<PathBuf>,
    /// Folder of tables of packets without `out`.
    pub packets: Option<PathBuf>,
}

/// Makes all runs. A signal to Python ends them at their next sample, and is raised when `out` has the results so far.
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    engines: &[Chosen],
    jobs: Option<usize>,
    keeping: Keeping,
) -> PyResult<Outcome> {
    let (started, clock) = (SystemTime::now(), Instant::now());
    let Keeping { out, packets } = keeping;
    let writer = out.map(|out| Place::Exactly(out).create()).transpose();
    let writer = writer.map_err(error::results)?;
    let work = Shared {
        scenario,
        engines,
        names: engines.iter().map(|chosen| chosen.engine.name()).collect(),
        writer: writer.as_ref(),
        packets: writer.as_ref().map(Kept::With).or(packets.as_ref().map(Kept::In)),
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
    };
    let all = scenario.plans().len() * engines.len();
    let jobs = jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let (made, stopped) = py.detach(|| work.all(jobs.clamp(1, all.max(1)), all));
    let (indices, runs, recordings, failed) = sort(&work, made);
    let document = analysis::document(scenario, &work.names, runs);
    let kept = writer.filter(|_| !document.runs.is_empty()).map(|writer| {
        let command = vec!["fullpipe.Scenario.run".into()];
        let provenance = Provenance::here(command, started, clock.elapsed());
        writer.finish(&document, &provenance, Some(&html::render_in_place(&document, "")))
    });
    stopped?;
    failed.map_or(Ok(()), Err)?;
    let directory = kept.transpose().map_err(error::environment)?;
    let folders = folders(&document, directory.as_ref(), packets.as_ref(), &indices)?;
    Ok(Outcome { document, recordings, folders, directory })
}

/// Folders of the tables of packets.
fn folders(
    document: &Document,
    directory: Option<&PathBuf>,
    packets: Option<&PathBuf>,
    indices: &[usize],
) -> PyResult<Vec<Option<PathBuf>>> {
    let kept = directory.map(|directory| rundir::open(directory)).transpose();
    let kept = kept.map_err(error::environment)?;
    let folder = |(n, run): (usize, &Run)| {
        run.packets.as_ref()?;
        match &kept {
            Some(kept) => kept.folder(n),
            None => Some(packets?.join(indices[n].to_string())),
        }
    };
    Ok(document.runs.iter().enumerate().map(folder).collect())
}

/// The numbers of the runs that finished, these in the scenario's order, and why others failed, as the command says it.
type Sorted = (Vec<usize>, Vec<Run>, Vec<Recording>, Option<PyErr>);

fn sort(work: &Shared, made: Vec<(usize, Made)>) -> Sorted {
    let (mut indices, mut runs, mut recordings) = (vec![], vec![], vec![]);
    let (mut wrong, mut input) = (vec![], false);
    for (index, made) in made {
        match made {
            Ok((run, recording)) => {
                indices.push(index);
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
    let failed = match (wrong.is_empty(), input) {
        (true, _) => None,
        (false, true) => Some(error::scenario(wrong.join("\n"))),
        (false, false) => Some(error::environment(wrong.join("\n"))),
    };
    (indices, runs, recordings, failed)
}

impl Shared<'_> {
    /// Runs with so many threads, while this one looks for signals. Returns the results, and the error that a signal
    /// raised.
    fn all(&self, jobs: usize, all: usize) -> (Vec<(usize, Made)>, PyResult<()>) {
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
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        (results, looked)
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

    /// Runs one plan on one engine, analyses it and, on request, writes it.
    fn one(&self, index: usize) -> Made {
        let (plan, _) = self.of(index);
        let (kept, table) = Growing::begin(self.packets, index, plan)?.unzip();
        let (mut run, recording) = self.simulate(index, plan, kept)?;
        if let (Some(table), Some(packets)) = (&table, &mut run.packets) {
            packets.at.clone_from(&table.at);
        }
        if !run.partial {
            self.widen_band(index, plan, &mut run)?;
        }
        if let Some(writer) = self.writer {
            writer.run(&run, Some(&plan.resolved.to_toml()), &recording).map_err(machine)?;
        }
        if let (Some(table), Some(kept)) = (table, self.packets) {
            table.keep(kept, &self.scenario.title, &run)?;
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
        let mut run =
            |sink: &mut dyn Sink| steady::run(chosen.engine, &plan.resolved, sink, &mut until);
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
            if other.partial {
                published.band_whole = false;
                return Ok(());
            }
            if let Some(other) = other.published {
                phases::widen(published, &other);
            }
        }
        Ok(())
    }
}

/// Control that goes on until it is to stop.
struct Until<'a>(&'a AtomicBool);

impl Control for Until<'_> {
    fn go_on(&mut self, _now: Time) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Waits until all senders of `ended` are gone, with Python's lock released. A signal that raises an error sets `stop`;
/// the error is returned when the senders are gone.
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
