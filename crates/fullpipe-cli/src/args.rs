//! Commands, their arguments and their help.

use crate::advise_arguments::AdviseArguments;
use crate::diagnose_arguments::DiagnoseArguments;
use crate::explain::ExplainArguments;
use crate::measure_arguments::MeasureArguments;
use crate::packets_arguments::PacketsArguments;
use crate::path_arguments::NewArguments;
use crate::plan_arguments::PlanArguments;
use crate::quantity;
use crate::relieve::RelieveArguments;
use crate::run_arguments::RunArguments;
use crate::schema::SchemaArguments;
use crate::shell::{CompletionsArguments, ManArguments};
use crate::version;
use crate::watch_arguments::WatchArguments;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use fullpipe::analysis::view::View;
use fullpipe::engine::engines;
use fullpipe::engine::linux::kernel::{Contents, Family, Hz};
use fullpipe::parity::twin;
use fullpipe::report::terminal::Detail;
use fullpipe::sweep::Shard;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Help begins with what it is and with the most common uses.
pub const TEMPLATE: &str = "{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}";

/// Exit codes of commands that run a scenario.
pub const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 an expectation failed, 2 bad input, 3 the environment cannot,
130 interrupted (results are kept and marked partial). A transfer that fails is a result, and
exits with 0: let an [[expect]] judge it.";

const MERGE_CODES: &str = "\
Exit codes: 0 fine, 1 an expectation failed, 2 bad input, 3 the environment cannot, runs failed
or are missing. Interrupted it leaves the parts as they are: the same command does all of it again.";

const PARITY_CODES: &str = "\
Exit codes: 0 all bars are met, 1 a bar is missed (of the suite also: one run misses it, or a
kept distance has changed), 2 bad input, 3 the environment cannot (no kernel), 130 interrupted
(what was compared is shown).";

const DOCTOR_CODES: &str = "Exit codes: 0 all is there, 3 something is missing.";

/// A laboratory for TCP on long fat networks: runs a scenario, shows where every packet waits or is
/// dropped, and says what limits each flow
#[derive(Debug, Parser)]
#[command(name = "fullpipe", version = version::short(), long_version = version::long(), help_template = TEMPLATE, after_help = EXIT_CODES,
    before_help = "Examples:
  fullpipe run --rate 10Gbit --rtt 80ms           what a flow does on your path
  fullpipe new my.toml --rate 10Gbit --rtt 80ms   the same as a scenario file to edit
  fullpipe run fink-2007                          replay a published experiment
  fullpipe run my.toml --set path.delay.forward=120ms
  fullpipe plan --rate 10Gbit --rtt 80ms --mtu 9000\n\n")]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario and show the result
    Run(RunArguments),
    /// Write a commented scenario file for a path
    New(NewArguments),
    /// List recipes, congestion controls, kernels, limits and metrics
    List(ListArguments),
    /// Show the result of an earlier run again
    Report(ReportArguments),
    /// Show what differs between two results: scenario and figures
    Compare(CompareArguments),
    /// Say what each relief alone would give: buffers, queues, cards, CPUs, programs
    Relieve(RelieveArguments),
    /// Run every point of a scenario's axes, repeated over seeds
    Sweep(SweepArguments),
    /// Put the parts of a sweep together
    Merge(MergeArguments),
    /// Compare simulator and real Linux on the same scenarios, and judge by bars
    Parity(ParityArguments),
    /// Compute what a path asks of its hosts: window, buffers, sysctls, tolerable loss
    Plan(PlanArguments),
    /// Find out what to set on the hosts of a scenario, and prove it by runs
    Advise(AdviseArguments),
    /// Say what limits a connection: a live one of this host, or one of a capture
    Diagnose(DiagnoseArguments),
    /// Write one connection of a capture to a file, without its payload, to share it
    Packets(PacketsArguments),
    /// Watch live connections of this host: rate, cwnd, RTT, losses, and what limits each now
    Watch(WatchArguments),
    /// Measure a transfer between two hosts, as iperf3 does and with it
    Measure(MeasureArguments),
    /// Explain a cause that findings name: how it is recognised, measured and cured
    Explain(ExplainArguments),
    /// Build, list and remove the kernels of engine linux
    Kernel(KernelArguments),
    /// Check what engine linux needs of this machine
    Doctor(DoctorArguments),
    /// Print the JSON schema, or the reference page, of results or of scenarios
    Schema(SchemaArguments),
    /// Print what a shell needs to complete commands and options
    Completions(CompletionsArguments),
    /// Write the man pages
    Man(ManArguments),
}

/// How much text is printed: at most 60 lines where nothing is asked for.
#[derive(Clone, Copy, Debug, Args)]
pub struct Extent {
    /// Print intervals, the path and all drops, too; alike flows together
    #[arg(long, conflicts_with = "brief")]
    pub full: bool,
    /// Print one line a run
    #[arg(long)]
    pub brief: bool,
    /// As --full, with each flow, however many alike ones there are
    #[arg(long, conflicts_with = "brief")]
    pub every_flow: bool,
}

impl Extent {
    /// The extent of the text.
    pub fn detail(self) -> Detail {
        match self {
            Extent { brief: true, .. } => Detail::Brief,
            Extent { every_flow: true, .. } => Detail::EveryFlow,
            Extent { full: true, .. } => Detail::Full,
            _ => Detail::Short,
        }
    }
}

/// Part of a run that its headline may use.
#[derive(Clone, Copy, Debug, Args)]
pub struct Seen {
    /// What headline and findings may use: everything (model), or what one host sees of its own sockets, counters and
    /// settings (sender-sockets, receiver-sockets)
    #[arg(long = "view", value_name = "VIEW", default_value = "model", value_parser = views())]
    pub view: View,
}

/// Parser of a view's name.
fn views() -> impl TypedValueParser<Value = View> {
    let names = PossibleValuesParser::new(View::ALL.map(View::name));
    names.map(|name| View::named(&name).unwrap_or_default())
}

/// Names of all engines, the one that is used by default first.
pub fn engine_names() -> Vec<&'static str> {
    engines().iter().map(|engine| engine.name()).collect()
}

const SWEEP_CODES: &str = "\
Exit codes: 0 fine, 1 an expectation failed, 2 bad input, 3 the environment cannot or runs
failed, 130 interrupted. What is finished is kept at once; the same command goes on with the rest.";

/// Options of `fullpipe sweep`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, after_help = SWEEP_CODES, before_help = "Examples:
  fullpipe sweep my.toml                         all points of [sweep], [repeat] times
  fullpipe sweep my.toml --out surface --jobs 8
  fullpipe sweep my.toml --out surface --shard 3/16    one of 16 parts, as in a batch system's array
  fullpipe merge surface                         when all parts are done
  fullpipe sweep my.toml --engine linux --as-kernel 6.12 --points 20 --out genuine   20 points at random\n\n")]
pub struct SweepArguments {
    /// A scenario file, or the name of a recipe (see `fullpipe list`)
    #[arg(value_name = "SCENARIO|RECIPE")]
    pub scenario: PathBuf,
    /// Change a key of all runs, after variants and axes; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Run this variant only; may be repeated
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,
    /// Directory of the results. Where it has those of the same sweep, only the rest is run
    /// [default: fullpipe-results/<name>-sweep-<digest>]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run the I-th of N parts only, from 1: every N-th run. Parts may share a directory
    #[arg(long, value_name = "I/N", value_parser = quantity::shard)]
    pub shard: Option<Shard>,
    /// Make runs at so many points of each variant only, drawn at random: the same points each time and on each engine; a
    /// larger number later makes the rest
    #[arg(long, value_name = "N", value_parser = quantity::points)]
    pub points: Option<u64>,
    /// Run those again that have failed
    #[arg(long)]
    pub retry: bool,
    /// Print the cells of the sweep as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Say how many runs there are and where they go, and run nothing
    #[arg(long)]
    pub dry_run: bool,
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
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Options of `fullpipe merge`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, after_help = MERGE_CODES, before_help = "Examples:
  fullpipe merge surface                         parts that share a directory
  fullpipe merge part-1 part-2 part-3 --out all  parts that do not\n\n")]
pub struct MergeArguments {
    /// Directories of parts of one sweep
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Write what was put together to this directory, which must be new
    /// [default: the directory itself, where there is one]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The parts were made with --points N: what is at no point drawn is not missing
    #[arg(long, value_name = "N", value_parser = quantity::points)]
    pub points: Option<u64>,
    /// Print the cells of the sweep as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Options of `fullpipe list`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe list                        recipes, and the names of everything else
  fullpipe list limits                 what each limit means; also recipes, congestion,
                                       slow-starts, kernels, metrics
  fullpipe list fink                   what has a word in its name or title\n\n")]
pub struct ListArguments {
    /// recipes, congestion, slow-starts, kernels, limits or metrics; or a part of a name or title
    #[arg(value_name = "WHAT")]
    pub what: Option<String>,
    /// Print one JSON document with everything that is known of each name
    #[arg(long)]
    pub json: bool,
}

/// Options of `fullpipe report`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe report fullpipe-results/latest
  fullpipe report results/reno --out reno.html
  fullpipe report results/reno --view sender-sockets   the verdict from one end alone
  fullpipe report results/surface                      a sweep: its page\n\n")]
pub struct ReportArguments {
    /// Directory of a result, or of a sweep; its page alone is written again
    pub dir: PathBuf,
    /// Write the HTML report to this file [default: report.html in the directory]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How much of the text is printed
    #[command(flatten)]
    pub extent: Extent,
    /// Judge the result again: by everything (model), or by what one host sees (sender-sockets, receiver-sockets)
    /// [default: as it was judged]
    #[arg(long, value_name = "VIEW", value_parser = views())]
    pub view: Option<View>,
}

/// Options of `fullpipe compare`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe compare results/before results/after
  fullpipe compare results/before results/after --out difference.html
  fullpipe compare results/before results/after --json
  fullpipe compare 'results/fink#reno' 'results/fink#bic'    two variants of one run
  fullpipe compare sweep-cubic sweep-bic               two sweeps, point by point\n\n")]
pub struct CompareArguments {
    /// Directory of a result or of a sweep; DIR#VARIANT names one run of a result
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// Another one, named likewise
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// Print all that differs, however long it is
    #[arg(long)]
    pub full: bool,
    /// Write an HTML report to this file, with the curves of both in its figures
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Help template with two lines of usage: drawn scenarios and named ones exclude each other.
const PARITY_TEMPLATE: &str = "{about-with-newline}
{before-help}{usage-heading} fullpipe parity [OPTIONS] [SCENARIO|RECIPE]...
       fullpipe parity [OPTIONS] --random <COUNT>

{all-args}{after-help}";

/// Options of `fullpipe parity`.
#[derive(Debug, Args)]
#[command(help_template = PARITY_TEMPLATE, after_help = PARITY_CODES, before_help = "Examples:
  fullpipe parity --random 40 --seed 7        draw scenarios and run them on both engines
  fullpipe parity --random 40 --seed 7 --keep drawn    and keep them, with what came out
  fullpipe parity --random 40 --seed 7 --twins 20      and tell chance from error in what misses
  fullpipe parity my.toml                     your own scenario, all its variants
  fullpipe parity card.toml --without hosts.sender.tx_ring   where Linux may do a key otherwise
  fullpipe parity lossy.toml --seeds 20       where chance decides: distributions over seeds
  fullpipe parity                             the suite, with kept tables of Linux: no kernel\n\n")]
pub struct ParityArguments {
    /// Scenario files, or names of recipes; without any, and without --random, the suite
    #[arg(value_name = "SCENARIO|RECIPE")]
    pub scenarios: Vec<PathBuf>,
    /// Draw so many scenarios
    #[arg(long, value_name = "COUNT", conflicts_with = "scenarios", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub random: Option<u64>,
    /// Seed of the draw: equal seeds give equal scenarios [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Run each scenario with the seeds 1 to N, and compare how results are distributed
    #[arg(long, value_name = "N", requires = "scenarios", conflicts_with = "random",
        allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(2..=1_000))]
    pub seeds: Option<u64>,
    /// Tell chance from error: repeat each run that misses a bar N times on both engines. Each time the way
    /// forward is 100 ns (20 m of fibre) longer. The table shows how far Linux is from itself
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds", "suite"],
        allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(twin::FEWEST..=1_000))]
    pub twins: Option<u32>,
    /// Number of the first scenario that is drawn [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..1 << 62))]
    pub first: Option<u64>,
    /// Series of Linux that both engines run, 6.12 or 6.1 [default: 6.12; of a scenario its own]
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<Family>,
    /// Timer interrupts per second: 100, 250, 300 or 1000 [default: 1000; of a scenario its own]
    #[arg(long)]
    pub hz: Option<Hz>,
    /// Let engine linux do a key otherwise than the scenario says, as far as it can; * stands for
    /// any text; may be repeated
    #[arg(long, value_name = "KEY", requires = "scenarios")]
    pub without: Vec<String>,
    /// Keep scenarios and tables of both engines in this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Folder of the suite [default: scenarios/parity]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["random", "scenarios", "kernel", "hz"])]
    pub suite: Option<PathBuf>,
    /// Runs at a time [default: number of cores]
    #[arg(long, value_name = "N", value_parser = quantity::jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Options of `fullpipe kernel`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe kernel build                    Linux 6.12, HZ 1000, once
  fullpipe kernel build --version 6.1 --hz 250
  fullpipe kernel list
  fullpipe kernel remove all\n\n")]
pub struct KernelArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: KernelCommand,
}

/// The subcommands of `fullpipe kernel`.
#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Build a kernel from the distribution's source package and keep it in the cache
    Build(KernelBuildArguments),
    /// List the kernels in the cache
    List(KernelListArguments),
    /// Remove kernels from the cache
    Remove(KernelRemoveArguments),
}

/// Options of `fullpipe kernel build`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, after_help = EXIT_CODES, before_help = "Examples:
  fullpipe kernel build
  fullpipe kernel build --version 6.1 --hz 250
  fullpipe kernel build --config nfs       with the NFS client and server
  fullpipe kernel build --force            build it again\n\n")]
pub struct KernelBuildArguments {
    /// Series of versions: 6.12 or 6.1
    #[arg(long = "version", value_name = "VERSION", default_value_t = Family::default())]
    pub family: Family,
    /// Timer interrupts per second, the grain of TCP's timers: 100, 250, 300 or 1000
    #[arg(long, default_value_t = Hz::default())]
    pub hz: Hz,
    /// What it has: "tcp", or "nfs" for the NFS client and server besides
    #[arg(long = "config", value_name = "CONFIG", default_value_t = Contents::default())]
    pub contents: Contents,
    /// Build it again though it is there
    #[arg(long)]
    pub force: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Options of `fullpipe kernel list`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe kernel list
  fullpipe kernel list --json\n\n")]
pub struct KernelListArguments {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Options of `fullpipe kernel remove`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe kernel remove 6.12 --hz 250
  fullpipe kernel remove all\n\n")]
pub struct KernelRemoveArguments {
    /// Series of versions, 6.12 or 6.1, or all of them
    #[arg(value_name = "VERSION|all", value_parser = which)]
    pub which: Which,
    /// Only those with this HZ
    #[arg(long)]
    pub hz: Option<Hz>,
    /// Only those with this configuration, "tcp" or "nfs"
    #[arg(long = "config", value_name = "CONFIG")]
    pub contents: Option<Contents>,
    /// Say nothing of what was removed
    #[arg(long, short)]
    pub quiet: bool,
}

/// Some kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Kernels of one series.
    One(Family),
    /// All of them.
    All,
}

fn which(text: &str) -> Result<Which, String> {
    match text {
        "all" => Ok(Which::All),
        text => text.parse().map(Which::One),
    }
}

/// Options of `fullpipe doctor`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, after_help = DOCTOR_CODES, before_help = "Examples:
  fullpipe doctor
  fullpipe doctor --json\n\n")]
pub struct DoctorArguments {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }
}
