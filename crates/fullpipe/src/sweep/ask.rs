//! From a scenario and a request to a sweep.

use super::job::Job;
use super::manifest::Manifest;
use super::sample::Sample;
use super::store::{Shard, Store};
use crate::experiment::{Allowed, BETWEEN, Unfit, known_keys, named, objections};
use crate::scenario::{SetOption, Source, Space};

/// Request of a sweep: a scenario with options.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Changes of all runs, as after `--set`.
    pub sets: &'a [SetOption],
    /// Variants; none: all.
    pub variants: &'a [String],
    /// Name of the engine.
    pub engine: &'a str,
    /// Deviations that are allowed.
    pub allowed: Allowed<'a>,
}

/// Job and manifest of the sweep.
///
/// # Errors
/// Everything that can be found wrong before a run.
pub fn ask(source: &Source, ask: &Ask) -> Result<(Job, Manifest), Unfit> {
    let Allowed { as_kernel, without } = ask.allowed;
    let (space, crosses) = Space::open(source, ask.sets, ask.variants)
        .map_err(|problems| Unfit::Input(problems.to_string()))?;
    let engine = named(ask.engine, as_kernel).map_err(Unfit::Input)?;

    // Unknown keys are refused before they hide an objection.
    known_keys(without, crosses.iter().map(|plan| &plan.resolved)).map_err(Unfit::Input)?;
    let name = as_kernel
        .map_or_else(|| ask.engine.to_string(), |version| format!("{} {version}", ask.engine));
    let title = crosses.first().map_or("", |plan| plan.resolved.title.as_str());
    let manifest = Manifest::new(&space, source, title, ask.sets, &name, without);
    let objections = objections(engine, &crosses, ask.allowed);
    if !objections.is_empty() {
        return Err(Unfit::Input(objections.join(BETWEEN)));
    }

    // The machine's needs come last: they take longest to check.
    let ready = crosses.iter().try_for_each(|plan| engine.ready(&plan.resolved));
    ready.map_err(Unfit::Environment)?;
    Ok((Job::new(space, engine, ask.allowed), manifest))
}

/// Share of a sweep that a process makes.
#[derive(Clone, Copy, Debug)]
pub struct Share<'a> {
    /// Its part.
    pub shard: Shard,
    /// Points to which it keeps; none: all.
    pub sample: Option<&'a Sample>,
    /// Whether it makes failed runs again.
    pub retry: bool,
}

impl Share<'_> {
    /// Runs of the share, among all.
    pub fn runs(&self, all: u64) -> impl Iterator<Item = u64> {
        (0..all).filter(|run| self.shard.has(*run) && self.sample.is_none_or(|own| own.has(*run)))
    }

    /// Runs of the share that are still to be made.
    pub fn rest(&self, store: &Store, all: u64) -> Vec<u64> {
        let failed = |run: &u64| store.failed().contains(run);
        self.runs(all)
            .filter(|run| !store.done().contains(run) && (self.retry || !failed(run)))
            .collect()
    }
}
