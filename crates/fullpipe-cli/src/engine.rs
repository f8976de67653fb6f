//! Engine of a scenario, and its allowed deviations: the library's choice with the arguments of the command.

use crate::failure::Failure;
use crate::run_arguments::RunArguments;
use fullpipe::engine::Engine;
use fullpipe::experiment::{self, Allowed, Chosen};
use fullpipe::scenario::{Plan, Resolved, Scenario};

/// Permissions that the arguments give.
pub fn allowed(arguments: &RunArguments) -> Allowed<'_> {
    Allowed { as_kernel: arguments.as_kernel.as_deref(), without: &arguments.without }
}

/// The engine of this name, with this kernel where one is named.
///
/// # Errors
/// A key that it refuses, or does otherwise without having been allowed to.
pub fn choose(
    name: &str,
    as_kernel: Option<&str>,
    arguments: &RunArguments,
    scenario: &Scenario,
) -> Result<Chosen, Failure> {
    let engine = named(name, as_kernel)?;

    // Captures have limits that no scenario key shows, so they are checked apart.
    if arguments.pcap.is_some() && !engine.records_packets() {
        return Err(Failure::Input(format!("engine {name} tells no single packets, so no --pcap")));
    }
    let datagrams = |plan: &Plan| !plan.resolved.datagrams.is_empty();
    if arguments.pcap.is_some() && scenario.plans().iter().any(datagrams) {
        return Err(Failure::Input(
            "no --pcap yet of packets that are no TCP segments (`[[datagrams]]`)".into(),
        ));
    }
    let answers = scenario.plans().iter().any(|Plan { resolved, .. }| {
        resolved.flow.iter().any(|flow| flow.reply_to.is_some()) || !resolved.nfs.is_empty()
    });
    if arguments.pcap.is_some() && answers {
        return Err(Failure::Input(
            "no --pcap yet of connections with data both ways (`reply_to`, `nfs`)".into(),
        ));
    }

    // All objections at once, so that a user mends them in one go.
    let found = experiment::objections(engine, scenario.plans(), allowed(arguments));
    match found.is_empty() {
        true => Ok(Chosen { engine }),
        false => Err(Failure::Input(found.join("\n       "))),
    }
}

/// The engine of this name, with this kernel where one is named.
///
/// # Errors
/// There is none, or none with this kernel.
pub fn named(name: &str, as_kernel: Option<&str>) -> Result<&'static dyn Engine, Failure> {
    experiment::named(name, as_kernel).map_err(Failure::Input)
}

/// Checks that each key of `--without` exists in some run.
///
/// # Errors
/// A key that no run has.
pub fn known_keys<'a>(
    without: &[String],
    runs: impl Iterator<Item = &'a Resolved>,
) -> Result<(), Failure> {
    experiment::known_keys(without, runs).map_err(Failure::Input)
}
