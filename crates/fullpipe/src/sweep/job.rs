//! One run of a sweep, from its number to its record.

use super::record::{Facts, Record};
use crate::analysis::theory::{self, Expected};
use crate::analysis::{self, Made, RunMeta};
use crate::engine::{Engine, Failed, Support, without};
use crate::scenario::{Plan, Point, Space};
use crate::trace::recording::Recording;
use fullpipe_sim::trace::Control;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// What rules say of the flows of a point, by its variant and its place on the axes.
type Laws = BTreeMap<(usize, Vec<usize>), Vec<Option<Expected>>>;

/// How the runs of a sweep are made.
pub struct Job {
    /// The scenario with its variants, axes and repetitions.
    pub space: Space,
    /// What makes the runs.
    pub engine: &'static dyn Engine,
    /// Whether its kernel may stand for the scenario's.
    pub any_kernel: bool,
    /// Other keys that it may do otherwise, see [`without::allows`].
    pub without: Vec<String>,
    laws: Mutex<Laws>,
}

impl Job {
    /// The runs of a space on an engine.
    pub fn new(
        space: Space,
        engine: &'static dyn Engine,
        any_kernel: bool,
        without: Vec<String>,
    ) -> Job {
        Job { space, engine, any_kernel, without, laws: Mutex::default() }
    }

    /// What rules say of the flows of a point, which its repetitions share.
    fn laws(&self, point: &Point) -> Vec<Option<Expected>> {
        let key = (point.variant, point.at.clone());
        let known = || self.laws.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(laws) = known().get(&key) {
            return laws.clone();
        }
        // Of the point itself, whichever of its repetitions comes first.
        let run = self.space.unshifted(point).map(|plan| plan.resolved);
        let laws = run.iter().flat_map(|run| {
            run.flow.iter().map(|flow| theory::expected(run, flow)).collect::<Vec<_>>()
        });
        let laws: Vec<_> = laws.collect();
        known().insert(key, laws.clone());
        laws
    }

    /// As [`Job::run`]; a bug in it is a failure of this run alone.
    pub fn record(&self, number: u64, control: &mut dyn Control) -> Option<Record> {
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

    /// Makes the run of that number; none where `control` has stopped it. What is wrong with it stands in the record.
    pub fn run(&self, number: u64, control: &mut dyn Control) -> Option<Record> {
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
    pub fn broken(&self, number: u64, why: String) -> Record {
        let point = self.space.point(number);
        let variant = self.space.variants().nth(point.variant).unwrap_or_default();
        Record::without_plan(number, (variant, &point), self.space.coordinates(&point), why)
    }

    /// What comes out of a plan; none where it was stopped.
    fn facts(
        &self,
        point: &Point,
        plan: &Plan,
        control: &mut dyn Control,
    ) -> Result<Option<Facts>, String> {
        if let Some(objection) = self.objections(plan).into_iter().next() {
            return Err(objection);
        }
        let mut recording = Recording::default();
        let outcome = self.engine.run(&plan.resolved, &mut recording, control);
        let outcome = outcome.map_err(|failed| match failed {
            Failed::Scenario(why) | Failed::Machine(why) => why,
        })?;
        if !outcome.complete {
            return Ok(None);
        }
        let made = Made {
            engine: self.engine.name().into(),
            kernel: self.engine.kernel(&plan.resolved).map(String::from),
            ..Made::default()
        };
        let scenario = self.space.scenario(Vec::new());
        let meta = RunMeta::from_plan(&scenario, plan, made);
        Ok(Some(Facts::of(&analysis::run(&meta, &recording), plan, &self.laws(point))))
    }

    /// What keeps the engine from making a run: keys that it refuses, or does otherwise without being allowed to.
    pub fn objections(&self, plan: &Plan) -> Vec<String> {
        let name = self.engine.name();
        let objection = |(key, support): (String, Support)| {
            let allowed =
                key.ends_with(".kernel") && self.any_kernel || without::allows(&self.without, &key);
            let why = match support {
                Support::Exact | Support::Told(_) => return None,
                Support::Refused(why) => format!("engine {name} cannot do {key}: {why}"),
                Support::Substituted(_) if allowed => return None,
                Support::Substituted(what) => {
                    let how = match key.ends_with(".kernel") {
                        true => format!("--as-kernel {}", self.engine.kernels().join(" or ")),
                        false => format!("--without {key}"),
                    };
                    format!("engine {name} does {key} otherwise: {what}; to allow it: {how}")
                }
            };
            Some(why + &plan.places.line(&key))
        };
        self.engine.support(&plan.resolved).into_iter().filter_map(objection).collect()
    }
}
