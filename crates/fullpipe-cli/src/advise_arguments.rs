//! Arguments of `fullpipe advise`.

use crate::args::{TEMPLATE, engine_names};
use crate::path_arguments::PathArguments;
use crate::quantity;
use crate::run_arguments::RunArguments;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use fullpipe::advice::Scope;
use fullpipe::advice::method::{Allowance, Goal};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const CODES: &str = "\
Exit codes: 0 fine, 1 an expectation of the scenario failed, 2 bad input, 3 the environment
cannot, 130 interrupted (the best changes so far are printed).";

/// Options of `fullpipe advise`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, after_help = CODES, before_help = "Examples:
  fullpipe advise my.toml                      what to set on the hosts of a scenario, and the proof
  fullpipe advise --rate 10Gbit --rtt 80ms     the same for a path whose hosts have Linux' defaults
  fullpipe advise my.toml --change receiver    if the receiving host is all that you administer
  fullpipe advise my.toml --goal delay         also a short queue, for at most 5 % of the rate
  fullpipe advise my.toml --goal fair          also an equal part for each flow
  fullpipe advise my.toml --explain            with every trial, other tools and other systems
  fullpipe advise my.toml --json --no-report   one JSON document, and no files\n\n")]
pub struct AdviseArguments {
    /// A scenario file, or the name of a recipe (see `fullpipe list`)
    #[arg(value_name = "SCENARIO|RECIPE")]
    pub scenario: Option<PathBuf>,
    /// Change a key of the scenario first; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Advise on this variant [default: the first]
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Whose settings may change, several with a comma between them
    /// [default: sender,receiver,application]
    #[arg(long, value_name = "WHOSE", value_enum, value_delimiter = ',')]
    pub change: Vec<Whose>,
    /// Goal of the advice: a full path, and also a short queue, or an equal part for each flow
    #[arg(long, value_name = "GOAL", value_enum, default_value = "rate")]
    pub goal: Aim,
    /// Also print every trial, files for tuned and Ansible, and what other systems call the same
    #[arg(long)]
    pub explain: bool,
    /// Print the advice as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Keep proof, report and files in this directory, which must be new or empty
    /// [default: fullpipe-results/advice-<name>-<n>]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub out: Option<PathBuf>,
    /// Print the advice only: no proof at full length, no run with a newcomer, no report and no files (of `run` this
    /// option leaves out the page only)
    #[arg(long)]
    pub no_report: bool,
    /// Write the scenario with today's and the advised settings to this new file
    #[arg(long, value_name = "FILE")]
    pub scenario_out: Option<PathBuf>,
    /// Engine of the trials
    #[arg(long, value_name = "NAME", default_value = engine_names()[0],
        value_parser = PossibleValuesParser::new(engine_names()))]
    pub engine: String,
    /// Run this kernel version on engine linux, in place of the scenario's
    #[arg(long, value_name = "VERSION")]
    pub as_kernel: Option<String>,
    /// Let the engine do a key otherwise than the scenario says; may be repeated
    #[arg(long, value_name = "KEY")]
    pub without: Vec<String>,
    /// Runs at a time [default: number of cores]
    #[arg(long, value_name = "N", value_parser = quantity::jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// Show no progress and no notes
    #[arg(long, short)]
    pub quiet: bool,
    /// Whether the run has been shown, with its notes
    #[arg(skip)]
    pub follows_run: bool,
    /// A path instead of a scenario.
    #[command(flatten)]
    pub path: PathArguments,
}

/// Goal of advice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Aim {
    /// A full path
    #[default]
    Rate,
    /// A full path with a short queue, for at most 5 % of the rate
    Delay,
    /// A full path of which each flow has its part, for at most 5 % of the rate
    Fair,
}

/// Scopes of settings that may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Whose {
    /// The hosts at the scenario's sender, whichever way its data goes
    Sender,
    /// The hosts at the scenario's receiver
    Receiver,
    /// The hosts at both ends
    Both,
    /// The program: socket options, parallel streams
    Application,
    /// The network between the hosts
    Path,
}

impl AdviseArguments {
    /// Arguments of advice on a run that has been made; its variant is the first one.
    pub fn after(run: &RunArguments) -> AdviseArguments {
        AdviseArguments {
            scenario: run.scenario.clone(),
            set: run.set.clone(),
            variant: run.variant.first().cloned(),
            change: Vec::new(),
            goal: Aim::Rate,
            explain: false,
            json: false,
            out: None,
            no_report: true,
            scenario_out: None,
            engine: run.engine.first().cloned().unwrap_or_default(),
            as_kernel: run.as_kernel.clone(),
            without: run.without.clone(),
            jobs: run.jobs,
            quiet: run.quiet,
            follows_run: true,
            path: run.path.clone(),
        }
    }

    /// Arguments of the run that is advised on.
    pub fn run(&self) -> RunArguments {
        RunArguments {
            scenario: self.scenario.clone(),
            set: self.set.clone(),
            variant: self.variant.iter().cloned().collect(),
            engine: vec![self.engine.clone()],
            as_kernel: self.as_kernel.clone(),
            without: self.without.clone(),
            path: self.path.clone(),
            ..RunArguments::plain()
        }
    }

    /// Changes that may be advised, and their aim.
    pub fn allowance(&self) -> Allowance {
        let goal = match self.goal {
            Aim::Rate => Goal::Rate,
            Aim::Delay => Goal::Delay,
            Aim::Fair => Goal::Fair,
        };
        Allowance { scopes: self.scopes(), goal }
    }

    fn scopes(&self) -> Vec<Scope> {
        if self.change.is_empty() {
            return vec![Scope::Sender, Scope::Receiver, Scope::Application];
        }
        self.change
            .iter()
            .flat_map(|whose| match whose {
                Whose::Sender => vec![Scope::Sender],
                Whose::Receiver => vec![Scope::Receiver],
                Whose::Both => vec![Scope::Sender, Scope::Receiver],
                Whose::Application => vec![Scope::Application],
                Whose::Path => vec![Scope::Path],
            })
            .collect()
    }
}
