//! `fullpipe run`: scenario, engine, trace, analysis, report.

use crate::advise;
use crate::advise_arguments::AdviseArguments;
use crate::captures::Captures;
use crate::dry_run::dry_run;
use crate::engine::known_keys;
use crate::engines;
use crate::experiment::{self, Done};
use crate::failure::Failure;
use crate::interrupt::{self, Temporary};
use crate::kept::Kept;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::run_arguments::RunArguments;
use crate::source;
use crate::threads::jobs;
use fullpipe::analysis::document::{Grade, Run};
use fullpipe::analysis::phases;
use fullpipe::analysis::rules::{DROPS, HEALTHY};
use fullpipe::analysis::view::View;
use fullpipe::base::units::Time;
use fullpipe::experiment::Chosen;
use fullpipe::report::html;
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::Place;
use fullpipe::scenario::Scenario;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

/// Directory of results where none is named.
pub const RESULTS: &str = "fullpipe-results";
/// Text that the first signal prints.
const STOPPING: &str = "stopping; what was simulated so far is kept (once more to quit at once)";

/// Runs the scenario, keeps the results, and shows them.
pub fn run(arguments: &RunArguments, output: &Output) -> Result<(), Failure> {
    let scenario = source::load("run", arguments)?;
    known_keys(&arguments.without, scenario.plans().iter().map(|plan| &plan.resolved))?;
    let captures = Captures::new(arguments, &scenario)?;
    if !arguments.quiet {
        source::announce(arguments)?;
        source::notes(&scenario);
    }
    // A dry run refuses whatever a run would refuse, in the same order.
    let engines = engines::chosen(arguments, &scenario)?;
    captures.check()?;
    let place = place(arguments.out.as_ref(), &scenario.name);
    if arguments.dry_run {
        place.check()?;
        return dry_run(&scenario, &engines, arguments.json, output);
    }
    interrupt::listen(STOPPING)?;
    let keeping = Keeping {
        place,
        engines: &engines,
        captures: &captures,
        jobs: jobs(arguments.jobs),
        quiet: arguments.quiet,
        view: arguments.view.view,
        has_report: !arguments.no_report,
    };
    let mut kept = keep(&scenario, keeping, |_| Ok(String::new()))?;

    // A closed pipe must not lose results: the failure is printed at the end.
    match show(&kept, arguments, &captures, output) {
        Ok(()) => kept.shown = true,
        Err(why) => kept.unkept.push(why),
    }
    if !arguments.quiet {
        kept.places().iter().for_each(|place| output::note(place));
        explained_by(&kept).iter().for_each(|text| output::note(text));
    }
    if arguments.advise && interrupt::stopped() {
        output::note("note: stopped, so there is no advice");
    }

    // Advice follows the results, and its failure ends the call.
    if arguments.advise && !interrupt::stopped() {
        output.print("\n")?;
        advise::advise(&AdviseArguments::after(arguments), output)?;
        if !arguments.quiet {
            output::note(
                "note: `fullpipe advise` also keeps files, undo and a proof at full length",
            );
        }
    }
    kept.judge()
}

/// The command that explains the first cause of a run; none where nothing is wrong.
fn explained_by(kept: &Kept) -> Option<String> {
    let mut codes = kept.document.runs.iter().filter_map(first_code);
    let code = codes.find(|code| *code != HEALTHY)?;
    Some(format!("note: `fullpipe explain {code}` says how to recognise, measure and cure it"))
}

/// Code of the first cause of a run: of datagrams that are dropped where the flows have all that they ask for.
fn first_code(run: &Run) -> Option<&str> {
    let headline = run.headline.as_ref()?;
    let dropped = run.findings.iter().find(|own| own.rule == DROPS);
    let dropped = dropped.filter(|_| headline.grade == Grade::AsAsked);
    dropped.map(|own| own.code.as_str()).or(headline.code.as_deref())
}

/// Shows the result, on standard error where a capture has taken standard output. As JSON it is the summary, from the
/// file where there is one.
fn show(
    kept: &Kept,
    arguments: &RunArguments,
    captures: &Captures,
    out: &Output,
) -> Result<(), Failure> {
    let text = |output: &Output| output.document(&kept.document, arguments.extent.detail());
    match (&kept.directory, arguments.json) {
        _ if captures.take_stdout() => text(&Output::on_stderr()),
        (_, false) => text(out),
        (Some(directory), true) => out.copy(&directory.join("summary.json")),
        (None, true) => out.json(&kept.document),
    }
}

/// Place and manner of keeping the runs of a scenario.
pub struct Keeping<'a> {
    /// Where they are kept.
    pub place: Place,
    /// Engines, each of which makes all runs.
    pub engines: &'a [Chosen],
    /// Captures of the runs.
    pub captures: &'a Captures,
    /// Runs at a time.
    pub jobs: usize,
    /// Whether no progress is shown.
    pub quiet: bool,
    /// Part of a run that verdicts may use.
    pub view: View,
    /// Whether the results have a page, report.html.
    pub has_report: bool,
}

/// Runs everything into a new directory, which exists under its name only when all is written. Where no run finished
/// there is none. `also` writes further files there, and returns the text above the verdict in the report.
pub fn keep(
    scenario: &Scenario,
    keeping: Keeping,
    also: impl FnOnce(&Path) -> Result<String, Failure>,
) -> Result<Kept, Failure> {
    let (started, clock) = (SystemTime::now(), Instant::now());
    let Keeping { place, engines, captures, jobs, quiet, view, has_report } = keeping;
    let writer = place.create()?;

    // The guard removes the unfinished directory if a signal ends the process.
    let _removed_by_signal = Temporary::new(writer.directory());
    let total = scenario.plans().iter().flat_map(|plan| {
        let runs = engines.len() * (1 + phases::alternatives(plan).len());
        std::iter::repeat_n(plan.resolved.duration, runs)
    });
    let total: Vec<Time> = total.collect();
    let shown = scenario.plans().len() * engines.len();
    let progress = Progress::new(quiet, &total, shown);
    let Done { document, failures, mut unkept } =
        experiment::run(scenario, engines, captures, jobs, &writer, &progress, view);
    progress.finish();

    // Without any run there is nothing to keep.
    if document.runs.is_empty() && !failures.is_empty() {
        return Err(Failure::Runs { failures, others: None });
    }

    // `also` may fail, so it comes before the final name.
    let above = also(writer.directory())?;
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let provenance = Provenance::here(command, started, clock.elapsed());
    let report = has_report.then(|| html::render_in_place(&document, &above));
    let finished = writer.finish(&document, &provenance, report.as_deref());
    let directory = finished.map_err(|why| unkept.push(why.into())).ok();
    Ok(Kept { document, failures, unkept, shown: false, directory })
}

/// The directory that was asked for, else a new one with this name among the results.
pub fn place(asked: Option<&PathBuf>, name: &str) -> Place {
    match asked {
        Some(directory) => Place::Exactly(directory.clone()),
        None => Place::Under { root: RESULTS.into(), name: name.into() },
    }
}
