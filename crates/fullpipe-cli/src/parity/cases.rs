//! Which runs are compared.

use crate::args::ParityArguments;
use crate::engine::known_keys;
use crate::failure::Failure;
use crate::source::source;
use fullpipe::parity::case::{self, Case, quoted};
use fullpipe::parity::random::{self, Hosts};
use fullpipe::parity::{both, table};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where the suite is, seen from the repository's root.
const SUITE: &str = "scenarios/parity";

/// Cases that the arguments ask for.
pub struct Asked {
    /// The runs, at least one.
    pub cases: Vec<Case>,
    /// The folder of a suite, if its tables replace runs of the real kernel.
    pub kept: Option<PathBuf>,
}

impl Asked {
    /// The kept table of a case.
    pub fn table(&self, case: &Case, folder: &Path) -> Result<table::Table, Failure> {
        let path = case::kept(folder, case);
        let wrong = |why: String| Failure::Input(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|e| wrong(e.to_string()))?;
        let table = table::read(&text).map_err(&wrong)?;
        if table.origin.scenario != case.hash() {
            return Err(wrong("it is of another scenario; `make parity-record` records it".into()));
        }
        Ok(table)
    }
}

/// Draw of random scenarios.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Draw {
    /// Number of scenarios.
    pub count: u64,
    /// Seed of the draw.
    pub seed: u64,
    /// Number of the first one.
    pub first: u64,
}

impl Draw {
    /// Draw of `count` scenarios, as the arguments say.
    pub fn of(arguments: &ParityArguments, count: u64) -> Draw {
        let (seed, first) = (arguments.seed.unwrap_or(1), arguments.first.unwrap_or(0));
        Draw { count, seed, first }
    }
}

/// The runs, all of which both engines can do, and a kernel for them where they need one.
///
/// # Errors
/// A scenario is wrong, or has a key that an engine cannot do; there is no kernel.
pub fn asked(arguments: &ParityArguments) -> Result<Asked, Failure> {
    no_draw(arguments)?;

    // Without scenarios the suite's kept tables are compared, which no option changes.
    if arguments.random.is_none() && arguments.scenarios.is_empty() {
        if arguments.kernel.is_some() || arguments.hz.is_some() || arguments.twins.is_some() {
            let why = "--kernel, --hz and --twins are for scenarios and --random, which a kernel runs; the suite \
                has kept tables";
            return Err(Failure::Input(why.into()));
        }
        return suite(arguments.suite.as_deref());
    }
    let cases = match arguments.random {
        Some(count) => random(arguments, count),
        None => of_files(arguments)?,
    };

    // Unknown keys of --without are refused before objections use them.
    known_keys(&arguments.without, cases.iter().map(|case| &case.plan.resolved))?;
    let objections = cases.iter().flat_map(|case| both::objections(case, &arguments.without));
    let objections: Vec<String> = objections.collect();
    if !objections.is_empty() {
        return Err(Failure::Input(objections.join("\n       ")));
    }

    // Kernel and machine come last: they take the longest to check.
    cases.iter().try_for_each(both::ready).map_err(Failure::Environment)?;
    Ok(Asked { cases, kept: None })
}

/// Refuses options for random scenarios where none are drawn.
fn no_draw(arguments: &ParityArguments) -> Result<(), Failure> {
    let named = [("--seed", arguments.seed), ("--first", arguments.first)];
    let named = named.into_iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name);
    let named: Vec<&str> = named.collect();
    if named.is_empty() || arguments.random.is_some() {
        return Ok(());
    }
    let (named, are) = (named.join(" and "), if named.len() > 1 { "are" } else { "is" });
    let why = "for --random, which draws scenarios; a scenario has its own `seed`, and --seeds N runs it with each from \
        1 to N";
    Err(Failure::Input(format!("{named} {are} {why}")))
}

fn suite(folder: Option<&Path>) -> Result<Asked, Failure> {
    let folder = folder.unwrap_or(Path::new(SUITE));
    let cases = case::suite(folder, &folder.display().to_string()).map_err(|why| {
        let hint = format!("--suite names a folder like {SUITE} of the repository");
        Failure::Input(format!("{why}; {hint}"))
    })?;
    Ok(Asked { cases, kept: Some(folder.into()) })
}

fn of_files(arguments: &ParityArguments) -> Result<Vec<Case>, Failure> {
    let mut sets = Vec::new();

    // --kernel and --hz stand for settings of both hosts.
    for host in ["sender", "receiver"] {
        let kernel = arguments.kernel.map(|kernel| format!("hosts.{host}.kernel={kernel}"));
        sets.extend(
            kernel.into_iter().chain(arguments.hz.map(|hz| format!("hosts.{host}.hz={hz}"))),
        );
    }
    let mut cases: Vec<Case> = Vec::new();
    for path in &arguments.scenarios {
        let (source, shown) = (source(path)?, path.display().to_string());
        let found = match arguments.seeds {
            Some(seeds) => case::seeded(&source, &shown, &sets, seeds),
            None => case::of_source(&source, &shown, &sets),
        };
        for case in found.map_err(Failure::Input)? {
            // Names are folders of --keep, so two runs cannot share one.
            if cases.iter().any(|other| other.name == case.name) {
                return Err(Failure::Input(format!("two runs are called {}", case.name)));
            }
            cases.push(case);
        }
    }
    Ok(cases)
}

fn random(arguments: &ParityArguments, count: u64) -> Vec<Case> {
    let otherwise = Hosts::default();
    let hosts = Hosts {
        kernel: arguments.kernel.map_or(otherwise.kernel, |kernel| kernel.to_string()),
        hz: arguments.hz.map_or(otherwise.hz, |hz| hz.to_string().parse().unwrap_or(otherwise.hz)),
    };
    let Draw { seed, first, .. } = Draw::of(arguments, count);
    (first..first.saturating_add(count))
        .map(|number| Case {
            command: run_command(arguments, seed, number),
            ..random::case(seed, number, &hosts)
        })
        .collect()
}

/// The command that runs a random case, from the kept file or after it was kept.
fn run_command(arguments: &ParityArguments, seed: u64, number: u64) -> String {
    let name = random::file(seed, number);
    let file = format!("{name}.toml");
    match &arguments.keep {
        Some(folder) => {
            format!("fullpipe run {}", quoted(&folder.join(file).display().to_string()))
        }
        None => {
            let again = again(arguments, seed, number);
            format!("{again} --keep {name}; fullpipe run {name}/{file}")
        }
    }
}

/// Command that draws this scenario alone.
fn again(arguments: &ParityArguments, seed: u64, number: u64) -> String {
    let kernel = arguments.kernel.map(|kernel| format!(" --kernel {kernel}"));
    let hz = arguments.hz.map(|hz| format!(" --hz {hz}"));
    let (kernel, hz) = (kernel.unwrap_or_default(), hz.unwrap_or_default());
    format!("fullpipe parity --random 1 --seed {seed} --first {number}{kernel}{hz}")
}
