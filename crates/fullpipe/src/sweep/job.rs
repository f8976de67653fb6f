//! A run of a sweep, from its number to its record.

use super::record::{Facts, Place, Record};
use crate::analysis::theory::{self, Expected};
use crate::analysis::{self, RunMeta};
use crate::engine::{Engine, Failed};
use crate::experiment::{Allowed, Chosen, objections};
use crate::scenario::{Plan, Point, Space};
use crate::steady;
use crate::trace::recording::Recording;
use fullpipe_base::trace::Control;
use fullpipe_base::units::Time;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Predictions of rules for the flows of a point, by its variant and its place on the axes.
type Laws = BTreeMap<(usize, Vec<usize>), Vec<Option<Expected>>>;

/// Maker of a sweep's runs.
pub struct Job {
    /// The scenario with its variants, axes and repetitions.
    pub space: Space,
    /// Engine of the runs.
    pub engine: &'static dyn Engine,
    /// The version that its kernel may be in place of the scenario's.
    as_kernel: Option<String>,
    /// Other keys that it may do otherwise, see [`Allowed::without`].
    without: Vec<String>,
    laws: Mutex<Laws>,
}

impl Job {
    /// The runs of a space on an engine.
    pub fn new(space: Space, engine: &'static dyn Engine, allowed: Allowed) -> Job {
        let as_kernel = allowed.as_kernel.map(String::from);
        Job { space, engine, as_kernel, without: allowed.without.to_vec(), laws: Mutex::default() }
    }

    /// Makes the runs that `next` has not given to others yet, one after the other, until `stopped` or `keep` says that
    /// it is enough. A run that is stopped leaves nothing.
    pub(super) fn work(
        &self,
        runs: &[u64],
        next: &AtomicUsize,
        stopped: &dyn Fn() -> bool,
        keep: &dyn Fn(&Record) -> bool,
    ) {
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::SeqCst)) {
            if stopped() {
                return;
            }
            match self.record(*run, &mut Until(stopped)) {
                Some(record) if keep(&record) => {}
                _ => return,
            }
        }
    }

    /// Predictions of rules for the flows of a point, which its repetitions share.
    fn laws(&self, point: &Point) -> Vec<Option<Expected>> {
        let key = (point.variant, point.at.clone());
        let known = || self.laws.lock().unwrap_or_else(PoisonError::into_inner);

        // The lock is not held while the law is computed: others may work meanwhile.
        if let Some(laws) = known().get(&key) {
            return laws.clone();
        }
        // Laws of the point itself, whichever of its repetitions is first.
        let run = self.space.unshifted(point).map(|plan| plan.resolved);
        let laws = run.iter().flat_map(|run| {
            run.flow.iter().map(|flow| theory::expected(run, flow)).collect::<Vec<_>>()
        });
        let laws: Vec<_> = laws.collect();
        known().insert(key, laws.clone());
        laws
    }

    /// Record of a run, as [`Job::run`] makes it; a panic in it is a failure of this run alone.
    fn record(&self, number: u64, control: &mut dyn Control) -> Option<Record> {
        match catch_unwind(AssertUnwindSafe(|| self.run(number, control))) {
            Ok(record) => record,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text =
                    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic");
                Some(self.broken(number, format!("a bug of fullpipe: {text}")))
            }
        }
    }

    /// Makes the run of that number; none where `control` has stopped it. The record has its error.
    fn run(&self, number: u64, control: &mut dyn Control) -> Option<Record> {
        let point = self.space.point(number);
        let plan = match self.space.plan(&point) {
            Ok(plan) => plan,
            Err(problems) => return Some(self.broken(number, problems.to_string())),
        };
        let record = Record::new(number, &point, &plan, self.engine.name());
        match self.facts(&point, &plan, control) {
            Ok(None) => None,
            Ok(facts) => Some(Record { facts, ..record }),
            Err(why) => Some(Record { failed: Some(why), ..record }),
        }
    }

    /// The record of a run that failed for this reason.
    fn broken(&self, number: u64, why: String) -> Record {
        let point = self.space.point(number);
        let variant = self.space.variants().nth(point.variant).unwrap_or_default();
        let place = Place { at: self.space.coordinates(&point), seed: self.space.seed(&point) };
        Record::without_plan(number, variant, &point, place, why)
    }

    /// Results of a plan; none where it was stopped.
    fn facts(
        &self,
        point: &Point,
        plan: &Plan,
        control: &mut dyn Control,
    ) -> Result<Option<Facts>, String> {
        let allowed = Allowed { as_kernel: self.as_kernel.as_deref(), without: &self.without };

        // A point may meet an objection that the points tried before did not.
        let wrong = objections(self.engine, std::slice::from_ref(plan), allowed);
        if let Some(objection) = wrong.into_iter().next() {
            return Err(objection);
        }
        let mut recording = Recording::default();
        let outcome = steady::run(self.engine, &plan.resolved, &mut recording, control);
        let outcome = outcome.map_err(|failed| match failed {
            Failed::Scenario(why) | Failed::Machine(why) => why,
        })?;

        // A stopped run leaves no record.
        if !outcome.complete {
            return Ok(None);
        }
        let made = Chosen { engine: self.engine }.made(&plan.resolved, false);
        let scenario = self.space.scenario(Vec::new());
        let meta = RunMeta::from_plan(&scenario, plan, made);
        Ok(Some(Facts::of(&analysis::run(&meta, &recording), plan, &self.laws(point))))
    }
}

/// Control that continues until it is stopped.
struct Until<'a>(&'a dyn Fn() -> bool);

impl Control for Until<'_> {
    fn go_on(&mut self, _now: Time) -> bool {
        !(self.0)()
    }
}
