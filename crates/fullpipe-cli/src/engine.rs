//! Which engine runs a scenario, and what it may do otherwise than the scenario says.

use crate::args::RunArguments;
use crate::failure::Failure;
use fullpipe::analysis::Made;
use fullpipe::engine::{self, Engine, Support, without};
use fullpipe::scenario::{self, Plan, Resolved, Scenario};

/// An engine that does every key of a scenario, exactly or as the user allows.
pub struct Chosen {
    /// The engine.
    pub engine: &'static dyn Engine,
}

impl Chosen {
    /// The engine of this name, with this kernel where one is named.
    ///
    /// # Errors
    /// A key that it refuses, or does otherwise without having been allowed to.
    pub fn new(
        name: &str,
        as_kernel: Option<&str>,
        arguments: &RunArguments,
        scenario: &Scenario,
    ) -> Result<Chosen, Failure> {
        let engine = named(name, as_kernel)?;
        if arguments.pcap.is_some() && !engine.tells_packets() {
            return Err(Failure::Input(format!(
                "engine {name} tells no single packets, so no --pcap"
            )));
        }
        let datagrams = |plan: &Plan| !plan.resolved.datagrams.is_empty();
        if arguments.pcap.is_some() && scenario.plans().iter().any(datagrams) {
            return Err(Failure::Input(
                "no --pcap yet of packets that are no TCP segments (`[[datagrams]]`)".into(),
            ));
        }
        let answers = |plan: &Plan| plan.resolved.flow.iter().any(|flow| flow.answers.is_some());
        if arguments.pcap.is_some() && scenario.plans().iter().any(answers) {
            return Err(Failure::Input(
                "no --pcap yet of connections with data both ways (`answers`)".into(),
            ));
        }
        objections(arguments, engine, scenario)?;
        Ok(Chosen { engine })
    }

    /// Whether this machine has what it needs for a scenario.
    ///
    /// # Errors
    /// What is missing.
    pub fn ready(&self, scenario: &Scenario) -> Result<(), Failure> {
        let mut plans = scenario.plans().iter();
        plans.try_for_each(|plan| self.engine.ready(&plan.resolved)).map_err(Failure::Environment)
    }

    /// How a run of `resolved` is made; `partial`: it was cut short.
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

/// The engine of this name, with this kernel where one is named.
///
/// # Errors
/// There is none, or none with this kernel.
pub fn named(name: &str, as_kernel: Option<&str>) -> Result<&'static dyn Engine, Failure> {
    let none = || Failure::Input(format!("there is no engine called {name}"));
    let found = engine::find(name).ok_or_else(none)?;
    let Some(version) = as_kernel else { return Ok(found) };
    found.as_kernel(version).ok_or_else(|| other_kernel(found, version))
}

fn other_kernel(engine: &dyn Engine, version: &str) -> Failure {
    let name = engine.name();
    Failure::Input(match engine.kernels().join(", ") {
        none if none.is_empty() => {
            format!("engine {name} runs no genuine kernel, so --as-kernel means nothing to it")
        }
        known => {
            format!("engine {name} runs Linux {known}, not {version}, which --as-kernel names")
        }
    })
}

/// All keys of a scenario that the engine does not do exactly, each answer once.
pub fn answers(engine: &dyn Engine, scenario: &Scenario) -> Vec<(String, Support)> {
    let mut all: Vec<(String, Support)> = Vec::new();
    for answer in scenario.plans().iter().flat_map(|plan| engine.support(&plan.resolved)) {
        if !all.contains(&answer) {
            all.push(answer);
        }
    }
    all
}

/// All keys that the engine refuses, or does otherwise without having been allowed to.
fn objections(run: &RunArguments, engine: &dyn Engine, scenario: &Scenario) -> Result<(), Failure> {
    let answers = answers(engine, scenario).into_iter();
    let mut found: Vec<String> =
        answers.filter_map(|answer| objection(run, engine, scenario, &answer)).collect();
    if found.is_empty() {
        return Ok(());
    }
    // What is missing besides is told at once.
    found.extend(scenario.plans().iter().find_map(|plan| engine.ready(&plan.resolved).err()));
    Err(Failure::Input(found.join("\n       ")))
}

fn objection(
    run: &RunArguments,
    engine: &dyn Engine,
    scenario: &Scenario,
    answer: &(String, Support),
) -> Option<String> {
    let (name, (key, support)) = (engine.name(), answer);
    let place = || place(engine, scenario, answer);
    match support {
        Support::Exact | Support::Told(_) => None,
        Support::Refused(why) => Some(format!("engine {name} cannot do {key}: {why}{}", place())),
        Support::Substituted(what) => {
            let allowed = key.ends_with(".kernel") && run.as_kernel.is_some()
                || without::allows(&run.without, key);
            let how = permission(engine, key);
            let otherwise =
                format!("engine {name} does {key} otherwise: {what}; to allow it: {how}");
            (!allowed).then(|| otherwise + &place())
        }
    }
}

/// Where the key stands of which the engine says that, as the end of a message.
fn place(engine: &dyn Engine, scenario: &Scenario, answer: &(String, Support)) -> String {
    let says = |plan: &&Plan| engine.support(&plan.resolved).contains(answer);
    let plan = scenario.plans().iter().find(says);
    plan.map_or_else(String::new, |plan| plan.places.line(&answer.0))
}

/// Whether each key that `--without` names is one of some run.
///
/// # Errors
/// One that no run has.
pub fn known_keys<'a>(
    without: &[String],
    runs: impl Iterator<Item = &'a Resolved>,
) -> Result<(), Failure> {
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
    match wrong.collect::<Vec<_>>().join("\n       ") {
        none if none.is_empty() => Ok(()),
        wrong => Err(Failure::Input(wrong)),
    }
}

/// The option that allows an engine to do a key otherwise.
pub fn permission(engine: &dyn Engine, key: &str) -> String {
    let version = engine.kernels().first().copied().filter(|_| key.ends_with(".kernel"));
    version.map_or(format!("--without {key}"), |version| format!("--as-kernel {version}"))
}
