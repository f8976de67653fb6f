//! Engine of a scenario, and its allowed deviations.

use crate::analysis::Made;
use crate::engine::{self, Engine, Support, without};
use crate::scenario::{self, Plan, Resolved};
use std::fmt;

/// Text between several objections, so that they are aligned behind "error: ".
pub const BETWEEN: &str = "\n       ";

/// Deviations from a scenario that a user allows the engines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed<'a> {
    /// The version that an engine with real kernels runs in place of the scenario's.
    pub as_kernel: Option<&'a str>,
    /// Patterns of other keys, see [`without`].
    pub without: &'a [String],
}

/// An engine that does every key of a scenario, exactly or as the user allows.
pub struct Chosen {
    /// The engine.
    pub engine: &'static dyn Engine,
}

/// Why no run can begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The request makes no sense.
    Input(String),
    /// This machine lacks something.
    Environment(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Unfit::Input(why) | Unfit::Environment(why)) = self;
        f.write_str(why)
    }
}

impl Chosen {
    /// Whether this machine has what it needs for these runs.
    ///
    /// # Errors
    /// The missing needs.
    pub fn ready(&self, plans: &[Plan]) -> Result<(), String> {
        plans.iter().try_for_each(|plan| self.engine.ready(&plan.resolved))
    }

    /// Whether the engine would begin each of these runs.
    ///
    /// # Errors
    /// Its reason, behind the name of the first run that it refuses.
    pub fn check(&self, plans: &[Plan]) -> Result<(), String> {
        plans
            .iter()
            .try_for_each(|plan| {
                self.engine.check(&plan.resolved).map_err(|why| (plan.name(), why))
            })
            .map_err(|(name, why)| format!("{name}: {why}"))
    }

    /// Facts on how a run of `resolved` is made; `partial`: it was cut short.
    pub fn made(&self, resolved: &Resolved, partial: bool) -> Made {
        let answers = self.engine.support(resolved).into_iter();
        let substituted =
            answers.filter_map(|(key, support)| Some(format!("{key}: {}", support.otherwise()?)));
        Made {
            engine: self.engine.name().into(),
            kernel: self.engine.kernel(resolved).map(String::from),
            substituted: substituted.collect(),
            partial,
        }
    }
}

/// The engines of these names for these runs.
///
/// # Errors
/// All objections of the engines at once; then the needs that this machine lacks.
pub fn several(names: &[&str], allowed: Allowed, plans: &[Plan]) -> Result<Vec<Chosen>, Unfit> {
    let (mut engines, mut wrong) = (Vec::new(), Vec::new());
    for name in names {
        match named(name, kernel_for(name, names, allowed.as_kernel)) {
            Ok(engine) => {
                wrong.extend(objections(engine, plans, allowed));
                engines.push(Chosen { engine });
            }
            Err(why) => wrong.push(why),
        }
    }
    if !wrong.is_empty() {
        return Err(Unfit::Input(wrong.join(BETWEEN)));
    }
    engines.iter().try_for_each(|engine| engine.ready(plans)).map_err(Unfit::Environment)?;
    Ok(engines)
}

/// The kernel that `as_kernel` means for the engine `name`: none for an engine without kernels where another engine has
/// some.
pub fn kernel_for<'a>(name: &str, names: &[&str], as_kernel: Option<&'a str>) -> Option<&'a str> {
    let real = |name: &&str| engine::find(name).is_some_and(|engine| !engine.kernels().is_empty());
    let meant_for_another = !real(&name) && names.iter().any(real);
    as_kernel.filter(|_| !meant_for_another)
}

/// The engine of this name, with this kernel where one is named.
///
/// # Errors
/// There is none, or none with this kernel.
pub fn named(name: &str, as_kernel: Option<&str>) -> Result<&'static dyn Engine, String> {
    let found = engine::find(name).ok_or_else(|| format!("there is no engine called {name}"))?;
    let Some(version) = as_kernel else { return Ok(found) };
    found.as_kernel(version).ok_or_else(|| other_kernel(found, version))
}

fn other_kernel(engine: &dyn Engine, version: &str) -> String {
    let name = engine.name();
    match engine.kernels().join(", ") {
        none if none.is_empty() => {
            format!("engine {name} runs no genuine kernel, so --as-kernel means nothing to it")
        }
        known => {
            format!("engine {name} runs Linux {known}, not {version}, which --as-kernel names")
        }
    }
}

/// All keys of these runs that the engine does not do exactly, each answer once.
pub fn answers(engine: &dyn Engine, plans: &[Plan]) -> Vec<(String, Support)> {
    let mut all: Vec<(String, Support)> = Vec::new();
    for answer in plans.iter().flat_map(|plan| engine.support(&plan.resolved)) {
        if !all.contains(&answer) {
            all.push(answer);
        }
    }
    all
}

/// All keys that the engine refuses, or deviates from without permission; and the needs that this machine lacks.
pub fn objections(engine: &dyn Engine, plans: &[Plan], allowed: Allowed) -> Vec<String> {
    let answers = answers(engine, plans).into_iter();
    let mut found: Vec<String> = answers
        .filter_map(|(key, support)| objection(engine, plans, allowed, &key, &support))
        .collect();
    if !found.is_empty() {
        found.extend(plans.iter().find_map(|plan| engine.ready(&plan.resolved).err()));
    }
    found
}

fn objection(
    engine: &dyn Engine,
    plans: &[Plan],
    allowed: Allowed,
    key: &str,
    support: &Support,
) -> Option<String> {
    let name = engine.name();
    let place = || place(engine, plans, key, support);
    match support {
        Support::Exact | Support::Noted(_) => None,
        Support::Refused(why) => Some(format!("engine {name} cannot do {key}: {why}{}", place())),
        Support::Substituted(what) => {
            let allowed = key.ends_with(".kernel") && allowed.as_kernel.is_some()
                || without::allows(allowed.without, key);
            let how = permission(engine, key);
            let otherwise =
                format!("engine {name} does {key} otherwise: {what}; to allow it: {how}");
            (!allowed).then(|| otherwise + &place())
        }
    }
}

/// Place of the key that an engine's answer is about, as the end of a message.
fn place(engine: &dyn Engine, plans: &[Plan], key: &str, support: &Support) -> String {
    let gives_it = |plan: &&Plan| {
        let mut answers = engine.support(&plan.resolved).into_iter();
        answers.any(|(own, given)| own == key && given == *support)
    };
    plans.iter().find(gives_it).map_or_else(String::new, |plan| plan.places.line(key))
}

/// The option that allows an engine to do a key otherwise.
pub fn permission(engine: &dyn Engine, key: &str) -> String {
    let version = engine.kernels().first().copied().filter(|_| key.ends_with(".kernel"));
    version.map_or(format!("--without {key}"), |version| format!("--as-kernel {version}"))
}

/// Checks that each key of `--without` exists in some run.
///
/// # Errors
/// A key that no run has.
pub fn known_keys<'a>(
    without: &[String],
    runs: impl Iterator<Item = &'a Resolved>,
) -> Result<(), String> {
    let mut unknown: Vec<&String> = without.iter().collect();
    let mut first = None;
    for run in runs {
        if unknown.is_empty() {
            return Ok(());
        }
        let keys = scenario::keys(run);
        unknown.retain(|pattern| !keys.iter().any(|key| without::matches(pattern, key)));
        first.get_or_insert(keys);
    }
    let keys = first.unwrap_or_default();
    let wrong = unknown.iter().map(|pattern| {
        let near = scenario::near_keys(pattern, &keys).join(", ");
        let near = if near.is_empty() { near } else { format!("; did you mean: {near}") };
        format!("--without {pattern}: the scenario has no such key{near}")
    });
    match wrong.collect::<Vec<_>>().join(BETWEEN) {
        none if none.is_empty() => Ok(()),
        wrong => Err(wrong),
    }
}
