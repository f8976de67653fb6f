//! `fullpipe relieve`: the gain of each relief alone.

use crate::args::{TEMPLATE, engine_names};
use crate::engine::{known_keys, named};
use crate::failure::Failure;
use crate::interrupt;
use crate::new_file;
use crate::output::{Output, note};
use crate::path_arguments::PathArguments;
use crate::progress::Progress;
use crate::quantity;
use crate::run_arguments::RunArguments;
use crate::source;
use crate::threads::jobs;
use clap::Args;
use clap::builder::PossibleValuesParser;
use fullpipe::analysis::main_datagrams;
use fullpipe::base::units::Time;
use fullpipe::experiment::{Allowed, BETWEEN, Chosen, objections};
use fullpipe::relieve::{Outcome, Relieved, Trial, Watch, answer, make, page, trials};
use fullpipe::scenario::Scenario;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Notice at the first signal.
const STOPPING: &str = "stopping; what was tried so far is shown (once more to quit at once)";

const CODES: &str = "\
Exit codes: 0 fine, 2 bad input, 3 the environment cannot, 130 interrupted (what was tried is shown).";

/// Options of `fullpipe relieve`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, after_help = CODES, before_help = "Examples:
  fullpipe relieve my.toml                       what each relief alone would give
  fullpipe relieve --rate 10Gbit --rtt 80ms      the same for a path whose hosts have Linux' defaults
  fullpipe relieve my.toml --variant reno --set path.delay.forward=120ms
  fullpipe relieve my.toml --report gains.html   with bars, for a browser
  fullpipe relieve my.toml --json > gains.json
  fullpipe relieve my.toml --engine linux --as-kernel 6.12   on the genuine kernel\n\n")]
pub struct RelieveArguments {
    /// A scenario file, or the name of a recipe (see `fullpipe list`)
    #[arg(value_name = "SCENARIO|RECIPE")]
    pub scenario: Option<PathBuf>,
    /// Change a key of the scenario, after variants and sweep points; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Take this variant only; may be repeated
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Write a page with a bar for each relief to this new file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Runs at a time [default: number of cores]
    #[arg(long, value_name = "N", value_parser = quantity::jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// Engine that runs the scenario
    #[arg(long, value_name = "NAME", default_value = engine_names()[0],
        value_parser = PossibleValuesParser::new(engine_names()))]
    pub engine: String,
    /// Run this kernel version on engine linux, in place of the scenario's
    #[arg(long, value_name = "VERSION")]
    pub as_kernel: Option<String>,
    /// Let the engine do a key otherwise than the scenario says, as far as it can; * stands for any
    /// text; may be repeated
    #[arg(long, value_name = "KEY")]
    pub without: Vec<String>,
    /// Show no progress and no notes
    #[arg(long, short)]
    pub quiet: bool,
    /// A path instead of a scenario.
    #[command(flatten)]
    pub path: PathArguments,
}

impl RelieveArguments {
    /// Arguments of the run that the reliefs start from.
    fn run(&self) -> RunArguments {
        RunArguments {
            scenario: self.scenario.clone(),
            set: self.set.clone(),
            variant: self.variant.clone(),
            path: self.path.clone(),
            ..RunArguments::plain()
        }
    }
}

/// Tries all reliefs and prints their gains.
pub fn relieve(arguments: &RelieveArguments, output: &Output) -> Result<(), Failure> {
    let scenario = source::load("relieve", &arguments.run())?;
    if let Some(own) = scenario.plans().iter().find_map(|plan| main_datagrams(&plan.resolved)) {
        return Err(Failure::Input(format!(
            "{} is about datagrams ({}): `fullpipe relieve` judges flows of TCP; `fullpipe advise` knows datagrams, too",
            scenario.name, own.name
        )));
    }
    known_keys(&arguments.without, scenario.plans().iter().map(|plan| &plan.resolved))?;
    let engine = chosen(arguments, &scenario)?;
    if !arguments.quiet {
        source::notes(&scenario);
    }

    // A file that exists is refused before the trials.
    if let Some(file) = arguments.report.as_ref().filter(|file| file.exists()) {
        return Err(new_file::taken(file));
    }

    interrupt::listen(STOPPING)?;
    let trials = trials(&scenario);
    let spans: Vec<Time> = trials.iter().map(|trial| trial.plan.resolved.duration).collect();
    let watch = Shown(Progress::new(arguments.quiet, &spans, trials.len()));
    let jobs = jobs(arguments.jobs);
    let made = make(&trials, engine.engine, allowed(arguments), jobs, &watch);
    watch.0.finish();
    let outcomes = made.map_err(Failure::Environment)?;

    // The first trial is the run as it is, to which all others are compared.
    let document = Relieved::new(&scenario, engine.engine.name(), &trials, &outcomes);
    let has_run = outcomes.first().is_some_and(|own| own.measured().is_some());
    if arguments.report.is_some() && !has_run {
        note("note: the run as it is has no rate, so there are no bars to write");
    }
    if let Some(file) = arguments.report.as_ref().filter(|_| has_run) {
        new_file::write(file, &page(&document))?;
        if !arguments.quiet {
            let part = if document.partial { ", with what was tried so far" } else { "" };
            note(&format!("bars: {}{part}", file.display()));
        }
    }

    // The answer is printed even if the trials were interrupted.
    match arguments.json {
        true => output.json(&document)?,
        false => output.print(&answer::render(&document))?,
    }
    if interrupt::stopped() { Err(Failure::Interrupted) } else { Ok(()) }
}

fn allowed(arguments: &RelieveArguments) -> Allowed<'_> {
    Allowed { as_kernel: arguments.as_kernel.as_deref(), without: &arguments.without }
}

/// The engine, which runs the scenario as it is.
fn chosen(arguments: &RelieveArguments, scenario: &Scenario) -> Result<Chosen, Failure> {
    let engine = named(&arguments.engine, arguments.as_kernel.as_deref())?;
    let found = objections(engine, scenario.plans(), allowed(arguments));
    if !found.is_empty() {
        return Err(Failure::Input(found.join(BETWEEN)));
    }
    let chosen = Chosen { engine };
    chosen.check(scenario.plans()).map_err(Failure::Input)?;
    chosen.ready(scenario.plans()).map_err(Failure::Environment)?;
    Ok(chosen)
}

/// Progress of the trials.
struct Shown(Progress);

impl Watch for Shown {
    fn advance(&self, span: Time) -> bool {
        self.0.advance(span);
        !interrupt::stopped()
    }

    fn ended(&self, trial: &Trial, outcome: &Outcome) {
        let name = trial.relief.as_ref().map_or("as it is", |relief| relief.name);
        let rate = outcome.measured().map_or("no result".into(), |own| {
            format!("{} Mb/s", fullpipe::numbers::short(own.mbit()))
        });
        self.0.ended(&format!("{name}: {rate}"));
    }
}
