//! The runs of a scenario, several at a time, into one document.

use crate::captures::{Captures, Running};
use crate::failure::Failure;
use crate::interrupt;
use crate::packets::Packets;
use crate::progress::Progress;
use fullpipe::analysis::document::{Document, Run};
use fullpipe::analysis::{self, RunMeta, phases};
use fullpipe::engine::Failed;
use fullpipe::experiment::Chosen;
use fullpipe::scenario::{Plan, Scenario};
use fullpipe::trace::recording::Recording;
use fullpipe::trace::rundir::Writer;
use fullpipe_sim::trace::{Control, Sink};
use fullpipe_sim::units::Time;
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
    next: AtomicUsize,
    failed: AtomicBool,
    results: Mutex<Vec<(usize, Result<Run, Failure>)>>,
}

/// What became of an experiment.
pub struct Done {
    /// The runs that were made. It names those that failed and those that have not begun as missing.
    pub document: Document,
    /// Why runs failed, in the scenario's order.
    pub failures: Vec<Failure>,
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
) -> Done {
    let experiment = Experiment {
        scenario,
        engines,
        captures,
        writer,
        progress,
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        results: Mutex::new(Vec::new()),
    };
    thread::scope(|scope| {
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
            let (plan, engine) = (index / self.engines.len(), index % self.engines.len());
            if plan >= self.scenario.plans().len() {
                return;
            }
            if interrupt::stopped() || self.failed.load(Ordering::SeqCst) {
                return;
            }
            let result = self.one(plan, engine).map_err(|why| self.of_run(plan, engine, why));
            self.failed.fetch_or(result.is_err(), Ordering::SeqCst);
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((index, result));
        }
    }

    /// One plan on one engine, run, analysed and written.
    fn one(&self, index: usize, engine: usize) -> Result<Run, Failure> {
        let (begun, plan) = (Instant::now(), &self.scenario.plans()[index]);
        let capture = self.captures.begin(index, self.scenario)?;
        let mut packets = Packets::begin(self.writer, &plan.resolved)?;
        let (mut run, recording, end) = self.simulate(plan, engine, capture, packets.as_mut())?;
        let took = begun.elapsed().as_secs_f64();
        if !run.partial {
            self.widen_band(plan, engine, &mut run)?;
        }
        let table = packets.map(|packets| packets.finish(&mut run)).transpose()?;
        self.writer.run(&run, &plan.resolved.to_toml(), &recording)?;
        if let Some(table) = table {
            let drawn = table.draw(self.writer, &self.scenario.title, &run, self.progress);
            drawn.inspect_err(|_| self.writer.forget(&run.variant))?;
        }
        let end = end.as_secs_f64();
        self.progress.ended(&format!("{}: {end:.1} s simulated in {took:.1} s", run.variant));
        Ok(run)
    }

    /// What a plan gives, its trace, and the moment up to which it was run.
    fn simulate(
        &self,
        plan: &Plan,
        engine: usize,
        capture: Option<Running>,
        packets: Option<&mut Packets>,
    ) -> Result<(Run, Recording, Time), Failure> {
        let chosen = &self.engines[engine];
        let mut recording = Recording::default();
        let mut watch = Watch { progress: self.progress, seen: Time::ZERO, hopeless: Vec::new() };
        watch.hopeless.extend(packets.as_ref().map(|packets| packets.failed()));
        let mut run = |sink: &mut dyn Sink, hopeless| {
            watch.hopeless.extend(hopeless);
            let outcome = chosen.engine.run(&plan.resolved, sink, &mut watch);
            outcome.map_err(failure)
        };
        let captured = |sink: &mut dyn Sink| match capture {
            None => run(sink, None),
            Some(capture) => capture.during(sink, self.progress, run),
        };
        let outcome = match packets {
            None => captured(&mut recording)?,
            Some(packets) => captured(&mut packets.before(&mut recording))?,
        };
        let made = chosen.made(&plan.resolved, !outcome.complete);
        let variant = self.name(plan, engine);
        let meta = RunMeta { variant, ..RunMeta::from_plan(self.scenario, plan, made) };
        Ok((analysis::run(&meta, &recording), recording, outcome.end))
    }

    /// Repeats the run at the other phases of its path's timers, for the band of the comparison.
    fn widen_band(&self, plan: &Plan, engine: usize, run: &mut Run) -> Result<(), Failure> {
        let Some(published) = &mut run.published else { return Ok(()) };
        let alternatives = phases::alternatives(plan);
        let all = alternatives.len();
        for (n, resolved) in alternatives.into_iter().enumerate() {
            let (number, name) = (n + 1, &run.variant);
            self.progress.doing(&format!("{name}: run {number} of {all} for the band"));
            let other = self.simulate(&Plan { resolved, ..plan.clone() }, engine, None, None);
            self.progress.doing("");
            let (other, ..) = other?;
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

    /// The same, with the run's name.
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
        results.sort_by_key(|(index, _)| *index);
        let (mut runs, mut failures) = (Vec::new(), Vec::new());
        for (_, result) in results {
            match result {
                Ok(run) => runs.push(run),
                Err(why) => failures.push(why),
            }
        }
        Done { document: analysis::document(self.scenario, &names(self.engines), runs), failures }
    }
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
    /// Become true when it is no use to go on.
    hopeless: Vec<Arc<AtomicBool>>,
}

impl Control for Watch<'_> {
    fn go_on(&mut self, now: Time) -> bool {
        self.progress.advance(now.saturating_sub(self.seen));
        self.seen = now;
        !interrupt::stopped() && !self.hopeless.iter().any(|h| h.load(Ordering::SeqCst))
    }
}
