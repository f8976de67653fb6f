//! `fullpipe run`: scenario, engine, trace, analysis, report.

use crate::args::RunArguments;
use crate::captures::Captures;
use crate::dry_run::dry_run;
use crate::engine::known_keys;
use crate::engines;
use crate::experiment::{self, Done};
use crate::failure::Failure;
use crate::interrupt::{self, Temporary};
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::source;
use fullpipe::analysis::document::Document;
use fullpipe::analysis::phases;
use fullpipe::experiment::Chosen;
use fullpipe::report::html;
use fullpipe::report::terminal::Detail;
use fullpipe::scenario::{self, Scenario};
use fullpipe::trace::provenance::Provenance;
use fullpipe::trace::rundir::Place;
use fullpipe_sim::units::Time;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::{Instant, SystemTime};

/// Directory of results where none is named.
pub const RESULTS: &str = "fullpipe-results";
/// What the first signal says.
const STOPPING: &str = "stopping; what was simulated so far is kept (once more to quit at once)";

/// Runs the scenario, keeps the results, and shows them.
pub fn run(arguments: &RunArguments, output: &Output) -> Result<(), Failure> {
    let scenario = source::load(arguments)?;
    known_keys(&arguments.without, scenario.plans().iter().map(|plan| &plan.resolved))?;
    let captures = Captures::new(arguments, &scenario)?;
    if !arguments.quiet {
        source::announce(arguments)?;
        scenario::notes(&scenario).iter().for_each(|note| output::note(&format!("note: {note}")));
    }
    if arguments.dry_run {
        return dry_run(&scenario, arguments, output);
    }
    let engines = engines::chosen(arguments, &scenario)?;
    interrupt::listen(STOPPING)?;
    captures.check()?;
    let Kept { document, failures, directory } = keep(&scenario, &engines, &captures, arguments)?;
    let summary = arguments.json.then(|| directory.join("summary.json"));
    let detail = arguments.extent.detail();
    if let Err(why) = show((&document, detail), summary.as_deref(), &captures, output) {
        return Err(with(failures, why));
    }
    if !arguments.quiet {
        let report = directory.join("report.html");
        output::note(&format!("results: {}\nreport: {}", directory.display(), report.display()));
    }
    judge(&document, failures, &directory)
}

/// Shows the result, on standard error where a capture has taken standard output; as JSON it is what stands in
/// `summary` already.
fn show(
    (document, detail): (&Document, Detail),
    summary: Option<&Path>,
    captures: &Captures,
    out: &Output,
) -> Result<(), Failure> {
    let text = |output: &Output| output.document(document, detail);
    match (captures.take_stdout(), summary) {
        (true, _) => text(&Output::on_stderr()),
        (false, Some(summary)) => out.copy(summary),
        (false, None) => text(out),
    }
}

/// What there is after the runs.
struct Kept {
    document: Document,
    failures: Vec<Failure>,
    directory: PathBuf,
}

/// Runs everything into a new directory, which exists under its name only when all is written. Where no run came
/// to its end there is none.
fn keep(
    scenario: &Scenario,
    engines: &[Chosen],
    captures: &Captures,
    arguments: &RunArguments,
) -> Result<Kept, Failure> {
    let (started, clock) = (SystemTime::now(), Instant::now());
    let place = place(scenario, arguments);
    let writer = place.create()?;
    let _removed_by_signal = Temporary::new(writer.directory());
    let total = scenario.plans().iter().flat_map(|plan| {
        let runs = engines.len() * (1 + phases::alternatives(plan).len());
        std::iter::repeat_n(plan.resolved.duration, runs)
    });
    let total: Vec<Time> = total.collect();
    let shown = scenario.plans().len() * engines.len();
    let progress = Progress::new(arguments.quiet, &total, shown);
    let jobs = arguments.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let Done { document, failures } =
        experiment::run(scenario, engines, captures, jobs, &writer, &progress);
    progress.finish();
    if document.runs.is_empty() && !failures.is_empty() {
        return Err(Failure::Runs { failures, others: None });
    }
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let provenance = Provenance::here(command, started, clock.elapsed());
    let report = html::render_in_place(&document);
    match writer.finish(&document, &provenance, &report) {
        Ok(directory) => Ok(Kept { document, failures, directory }),
        Err(why) => Err(with(failures, why.into())),
    }
}

/// What came after failures of runs, with these.
fn with(mut failures: Vec<Failure>, why: Failure) -> Failure {
    if failures.is_empty() {
        return why;
    }
    failures.push(why);
    Failure::Runs { failures, others: None }
}

fn place(scenario: &Scenario, arguments: &RunArguments) -> Place {
    match &arguments.out {
        Some(directory) => Place::Exactly(directory.clone()),
        None => Place::Under { root: RESULTS.into(), name: scenario.name.clone() },
    }
}

/// What is not whole is not judged.
fn judge(document: &Document, failures: Vec<Failure>, kept: &Path) -> Result<(), Failure> {
    if !failures.is_empty() {
        let (failed, all) = (failures.len(), document.runs.len() + document.missing.len());
        let not_begun = document.missing.len() - failed;
        let others = format!(
            "{failed} of {all} runs failed, {not_begun} were not begun; what was done is kept: {}",
            kept.display()
        );
        return Err(Failure::Runs { failures, others: Some(others) });
    }
    if document.partial {
        return Err(Failure::Interrupted);
    }
    let mut expectations = document.runs.iter().flat_map(|run| &run.expectations);
    match expectations.all(|expectation| expectation.passed) {
        true => Ok(()),
        false => Err(Failure::Expectation),
    }
}
