//! The engines of a call: `--engine sim,linux` runs a scenario on each of them.

use crate::engine::choose;
use crate::failure::Failure;
use crate::run_arguments::RunArguments;
use fullpipe::experiment::{Chosen, kernel_for};
use fullpipe::scenario::Scenario;

/// The engines that the arguments name, in their order.
///
/// # Errors
/// An engine is named twice; all objections of the engines at once; then the needs that this machine lacks.
pub fn chosen(arguments: &RunArguments, scenario: &Scenario) -> Result<Vec<Chosen>, Failure> {
    let names = names(arguments)?;
    let (mut engines, mut objections) = (Vec::new(), Vec::new());
    for name in &names {
        match choose(name, kernel(name, &names, arguments), arguments, scenario) {
            // Objections add up; a failure of the machine ends the search.
            Ok(engine) => engines.push(engine),
            Err(Failure::Input(why)) => objections.push(why),
            Err(other) => return Err(other),
        }
    }

    // The scenario's faults come before the machine's: they need no installation.
    if !objections.is_empty() {
        return Err(refused(arguments, objections.join("\n       ")));
    }
    let accepted = engines.iter().try_for_each(|engine| engine.check(scenario.plans()));
    accepted.map_err(|why| refused(arguments, why))?;

    let ready = engines.iter().try_for_each(|engine| engine.ready(scenario.plans()));
    ready.map_err(Failure::Environment)?;
    Ok(engines)
}

/// An engine's objection, which names a line. Options of a path have no file: the message says how to get it.
fn refused(arguments: &RunArguments, why: String) -> Failure {
    let is_made = arguments.scenario.is_none() && why.contains("-->");
    let hint = if is_made {
        "\n       that file is what `fullpipe new` writes with these options"
    } else {
        ""
    };
    Failure::Input(why + hint)
}

/// The names of the arguments, in their order.
fn names(arguments: &RunArguments) -> Result<Vec<&str>, Failure> {
    let mut names: Vec<&str> = Vec::new();
    for name in &arguments.engine {
        if names.contains(&name.as_str()) {
            let why = "a scenario runs once on each engine";
            return Err(Failure::Input(format!("--engine names {name} twice; {why}")));
        }
        names.push(name);
    }
    Ok(names)
}

/// The kernel that `--as-kernel` names. None for an engine without kernels where another engine has some.
fn kernel<'a>(name: &str, names: &[&str], arguments: &'a RunArguments) -> Option<&'a str> {
    kernel_for(name, names, arguments.as_kernel.as_deref())
}
