//! The runs of a scenario, several at a time, into one document.

use crate::captures::{Captures, Running};
use crate::failure::Failure;
use crate::interrupt;
use crate::packets::{self, Packets, Table};
use crate::progress::Progress;
use fullpipe::analysis::document::{Document, Run};
use fullpipe::analysis::view::View;
use fullpipe::analysis::{self, RunMeta, phases};
use fullpipe::base::trace::{Control, Sink};
use fullpipe::base::units::Time;
use fullpipe::engine::Failed;
use fullpipe::experiment::Chosen;
use fullpipe::results::rundir::Writer;
use fullpipe::scenario::{Plan, Scenario};
use fullpipe::steady;
use fullpipe::trace::recording::Recording;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Everything that the threads share.
struct Experiment<'a> {
    scenario: &'a Scenario,
    engines: &'a [Chosen],
    captures: &'a Captures,
    writer: &'a Writer,
    progress: &'a Progress,
    view: View,
    next: AtomicUsize,
    failed: AtomicBool,
    results: Mutex<Vec<(usize, Result<Finished, Failure>)>>,
}

/// A run that was simulated and analysed.
struct Finished {
    run: Run,
    /// Reasons why files of it are missing.
    unkept: Vec<Failure>,
}

/// Results of an experiment.
pub struct Done {
    /// The finished runs. The document names failed runs and runs that have not begun as missing.
    pub document: Document,
    /// Why runs failed, in the scenario's order.
    pub failures: Vec<Failure>,
    /// Reasons for missing files of runs in the document.
    pub unkept: Vec<Failure>,
}

/// Runs everything on each engine with `jobs` threads. Traces are written as runs end; a signal ends them at their
/// next sample. After it, or a failure, no more runs begin, and these are left out.
pub fn run(
    scenario: &Scenario,
    engines: &[Chosen],
    captures: &Captures,
    jobs: usize,
    writer: &Writer,
    progress: &Progress,
    view: View,
) -> Done {
    let experiment = Experiment {
        scenario,
        engines,
        captures,
        writer,
        progress,
        view,
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        results: Mutex::new(Vec::new()),
    };
    thread::scope(|scope| {
        // More threads than runs would idle.
        for _ in 0..jobs.min(scenario.plans().len() * engines.len()) {
            scope.spawn(|| experiment.work());
        }
    });
    experiment.done()
}

impl Experiment<'_> {
    /// Takes runs until there are none left, or a reason to stop.
    fn work(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::SeqCst);

            // Engines alternate, so runs of one plan end at about one time.
            let (plan, engine) = (index / self.engines.len(), index % self.engines.len());
            if plan >= self.scenario.plans().len() {
                return;
            }

            // A failed run stops the others: the results would have a hole.
            if interrupt::stopped() || self.failed.load(Ordering::SeqCst) {
                return;
            }
            let result = self.one(plan, engine).map_err(|why| self.of_run(plan, engine, why));

            // A run whose files are missing counts as failed here, although its result is kept.
            let whole = result.as_ref().is_ok_and(|finished| finished.unkept.is_empty());
            self.failed.fetch_or(!whole, Ordering::SeqCst);
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((index, result));
        }
    }

    /// Runs one plan on one engine, analyses and writes it. Simulated results are never lost: a file that cannot be
    /// written is missing, and the run still counts.
    fn one(&self, index: usize, engine: usize) -> Result<Finished, Failure> {
        let (begun, plan) = (Instant::now(), &self.scenario.plans()[index]);
        let capture = self.captures.begin(index, self.scenario)?;
        let mut packets = Packets::begin(self.writer, &plan.resolved)?;
        let Simulated { mut run, recording, end, mut unkept } =
            self.simulate(plan, engine, capture, packets.as_mut())?;
        let took = begun.elapsed().as_secs_f64();

        // A run that was cut short has no band to compare with.
        if !run.partial {
            self.widen_band(plan, engine, &mut run)?;
        }

        let failed = packets.as_ref().is_some_and(|own| own.failed().load(Ordering::SeqCst));
        let table = match packets.map(|packets| packets.finish(&mut run)).transpose() {
            Ok(table) => table,
            // A table that cannot grow ends its run at once.
            Err(why) if failed && run.partial => return Err(why),
            Err(why) => {
                unkept.push(why);
                None
            }
        };
        unkept.extend(self.write(plan, &mut run, &recording, table).err());

        // Files are written by now: the line means that the run is safe.
        let end = end.as_secs_f64();
        self.progress.ended(&format!("{}: {end:.1} s simulated in {took:.1} s", run.variant));
        let unkept = unkept.into_iter().map(|why| self.of_run(index, engine, why)).collect();
        Ok(Finished { run, unkept })
    }

    /// Writes the tables of a run. Where they cannot be written, no folder stays.
    fn write(
        &self,
        plan: &Plan,
        run: &mut Run,
        recording: &Recording,
        table: Option<Table>,
    ) -> Result<(), Failure> {
        let tables = self.writer.run(run, Some(&plan.resolved.to_toml()), recording);
        let taken = tables.map_err(Failure::from).and_then(|()| match table {
            None => Ok(None),
            Some(table) => table.take(self.writer, run).map(Some),
        });
        match taken.inspect_err(|_| run.packets = None)? {
            None => Ok(()),
            Some(folder) => packets::draw(&folder, &self.scenario.title, run, self.progress),
        }
    }

    /// Runs a plan on an engine, and analyses its trace.
    fn simulate(
        &self,
        plan: &Plan,
        engine: usize,
        capture: Option<Running>,
        packets: Option<&mut Packets>,
    ) -> Result<Simulated, Failure> {
        let chosen = &self.engines[engine];
        let mut recording = Recording::default();
        let mut watch = Watch { progress: self.progress, seen: Time::ZERO, hopeless: Vec::new() };

        // A capture or table that fails makes the run hopeless: the watch ends it.
        watch.hopeless.extend(packets.as_ref().map(|packets| packets.failed()));
        let mut run = |sink: &mut dyn Sink, hopeless| {
            watch.hopeless.extend(hopeless);
            let outcome = steady::run(chosen.engine, &plan.resolved, sink, &mut watch);
            outcome.map_err(failure)
        };
        let captured = |sink: &mut dyn Sink| match capture {
            None => run(sink, None).map(|outcome| (outcome, None)),
            Some(capture) => capture.during(sink, self.progress, run),
        };

        // Sinks nest: the capture sees the trace first, then the table of packets.
        let (outcome, uncaptured) = match packets {
            None => captured(&mut recording)?,
            Some(packets) => captured(&mut packets.before(&mut recording))?,
        };
        let made = chosen.made(&plan.resolved, !outcome.complete);

        // The variant's name includes the engine where there are several.
        let variant = self.name(plan, engine);
        let meta = RunMeta { variant, ..RunMeta::from_plan(self.scenario, plan, made) };
        Ok(Simulated {
            run: analysis::run_in(self.view, &meta, &recording),
            recording,
            end: outcome.end,
            unkept: uncaptured.into_iter().collect(),
        })
    }

    /// Repeats the run at the other phases of its path's timers, for the band of the comparison.
    fn widen_band(&self, plan: &Plan, engine: usize, run: &mut Run) -> Result<(), Failure> {
        // Only runs with published figures have a band.
        let Some(published) = &mut run.published else { return Ok(()) };
        let alternatives = phases::alternatives(plan);
        let all = alternatives.len();
        for (n, resolved) in alternatives.into_iter().enumerate() {
            let (number, name) = (n + 1, &run.variant);
            self.progress.doing(&format!("{name}: run {number} of {all} for the band"));
            let other = self.simulate(&Plan { resolved, ..plan.clone() }, engine, None, None);
            self.progress.doing("");
            let Simulated { run: other, .. } = other?;

            // A band that lacks a phase would be too narrow.
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

    fn name(&self, plan: &Plan, engine: usize) -> String {
        analysis::run_names(plan, &names(self.engines))[engine].clone()
    }

    /// Adds the run's name to a failure.
    fn of_run(&self, plan: usize, engine: usize, why: Failure) -> Failure {
        let name = self.name(&self.scenario.plans()[plan], engine);
        match why {
            Failure::Input(why) => Failure::Input(format!("{name}: {why}")),
            Failure::Environment(why) => Failure::Environment(format!("{name}: {why}")),
            other => other,
        }
    }

    /// The runs in the scenario's order, and why others failed.
    fn done(self) -> Done {
        let mut results = self.results.into_inner().unwrap_or_else(PoisonError::into_inner);

        // Threads finish in any order.
        results.sort_by_key(|(index, _)| *index);
        let (mut runs, mut failures, mut unkept) = (Vec::new(), Vec::new(), Vec::new());
        for (_, result) in results {
            match result {
                Ok(finished) => {
                    runs.push(finished.run);
                    unkept.extend(finished.unkept);
                }
                Err(why) => failures.push(why),
            }
        }

        // The document lists missing runs by itself.
        let document = analysis::document(self.scenario, &names(self.engines), runs);
        Done { document, failures, unkept }
    }
}

/// Results of a run from its engine.
struct Simulated {
    run: Run,
    recording: Recording,
    /// The moment up to which it was run.
    end: Time,
    /// Reasons why files of it are missing.
    unkept: Vec<Failure>,
}

fn names(engines: &[Chosen]) -> Vec<&'static str> {
    engines.iter().map(|chosen| chosen.engine.name()).collect()
}

fn failure(failed: Failed) -> Failure {
    match failed {
        Failed::Scenario(why) => Failure::Input(why),
        Failed::Machine(why) => Failure::Environment(why),
    }
}

/// Reports progress to the terminal and signals to the run.
struct Watch<'a> {
    progress: &'a Progress,
    seen: Time,
    /// Flags that become true when further work is useless.
    hopeless: Vec<Arc<AtomicBool>>,
}

impl Control for Watch<'_> {
    fn go_on(&mut self, now: Time) -> bool {
        self.progress.advance(now.saturating_sub(self.seen));
        self.seen = now;
        !interrupt::stopped() && !self.hopeless.iter().any(|h| h.load(Ordering::SeqCst))
    }
}
