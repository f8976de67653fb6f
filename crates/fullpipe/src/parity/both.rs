//! A case on an engine.

use super::case::Case;
use super::table::Table;
use crate::engine::linux::Missing;
use crate::engine::{self, Engine, Failed, Support, without};
use crate::trace::recording::Recording;
use fullpipe_base::trace::Control;

/// The engine that is judged.
pub const JUDGED: &str = "sim";
/// The engine that judges.
pub const JUDGE: &str = "linux";

/// Table of a case on an engine; none: `control` has stopped the run.
///
/// # Errors
/// See [`Failed`].
pub fn run(name: &str, case: &Case, control: &mut dyn Control) -> Result<Option<Table>, Failed> {
    let engine = named(name)?;
    let mut recording = Recording::default();
    let outcome = engine.run(&case.plan.resolved, &mut recording, control)?;
    Ok(outcome.complete.then(|| Table::of(&case.plan.resolved, &recording)))
}

/// Objections to the comparison of a case: keys that one of the engines does not do exactly, unless the deviation is
/// allowed (`without`, see [`without::allows`]).
pub fn objections(case: &Case, without: &[String]) -> Vec<String> {
    let of = |name: &str| {
        answers(name, case)
            .into_iter()
            .filter_map(|(key, support)| {
                let why = objection(&key, &support, without)?;
                Some(format!("{}: engine {name} {why}{}", case.name, case.plan.places.line(&key)))
            })
            .collect::<Vec<String>>()
    };
    [of(JUDGED), of(JUDGE)].concat()
}

/// Objection to a key; nothing where the engine does it exactly, or deviates as it may.
fn objection(key: &str, support: &Support, without: &[String]) -> Option<String> {
    match support {
        Support::Exact | Support::Noted(_) => None,
        Support::Refused(why) => Some(format!("does not do {key}: {why}")),
        Support::Substituted(what) if key.ends_with(".kernel") => {
            let newest = named(JUDGE).ok()?.kernels().first().copied()?;
            Some(format!("does not do {key}: {what}; to compare on another one: --kernel {newest}"))
        }
        Support::Substituted(_) if without::allows(without, key) => None,
        Support::Substituted(what) => {
            Some(format!("does {key} otherwise: {what}; to allow it: --without {key}"))
        }
    }
}

/// Deviations of the judging engine from a case, by key.
pub fn substituted(case: &Case) -> Vec<String> {
    answers(JUDGE, case)
        .into_iter()
        .filter_map(|(key, support)| Some(format!("{key}: {}", support.otherwise()?)))
        .collect()
}

/// Answers of an engine on each key of a case.
fn answers(name: &str, case: &Case) -> Vec<(String, Support)> {
    named(name).map(|engine| engine.support(&case.plan.resolved)).unwrap_or_default()
}

/// Command that runs a case on both engines and compares them.
pub fn command(case: &Case) -> String {
    let others = answers(JUDGE, case).into_iter();
    let others = others.filter(|(_, support)| matches!(support, Support::Substituted(_)));
    let without: String = others.map(|(key, _)| format!(" --without {key}")).collect();
    format!("{} --engine sim,linux{without}", case.command)
}

/// Whether this machine can run a case on real Linux.
///
/// # Errors
/// The missing needs and their remedies, in options of `fullpipe parity`.
pub fn ready(case: &Case) -> Result<(), String> {
    let resolved = &case.plan.resolved;
    let engine = named(JUDGE).map_err(|why| match why {
        Failed::Scenario(why) | Failed::Machine(why) => why,
    })?;
    engine.ready(resolved).map_err(|why| match Missing::of(resolved) {
        Some(missing) => missing.describe(|hz| format!("--hz {hz}")),
        None => why,
    })
}

fn named(name: &str) -> Result<&'static dyn Engine, Failed> {
    engine::find(name).ok_or_else(|| Failed::Scenario(format!("there is no engine called {name}")))
}
