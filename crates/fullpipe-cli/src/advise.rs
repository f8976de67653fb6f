//! `fullpipe advise`: what to set, why, what it costs, and the runs that prove it.

use crate::advise_arguments::AdviseArguments;
use crate::args::RunArguments;
use crate::captures::Captures;
use crate::engines;
use crate::experiment;
use crate::failure::Failure;
use crate::interrupt::{self, Temporary};
use crate::new_file;
use crate::output::{Output, note};
use crate::progress::Progress;
use crate::run::RESULTS;
use crate::source;
use fullpipe::advice::document::Advice;
use fullpipe::advice::files::File;
use fullpipe::advice::method::Allowance;
use fullpipe::advice::text::{self, Extent};
use fullpipe::advice::trial::{Bench, Stopped, Watch};
use fullpipe::advice::{self, Case, cured};
use fullpipe::analysis::view::View;
use fullpipe::base::units::Time;
use fullpipe::engine::Failed;
use fullpipe::experiment::Chosen;
use fullpipe::report::html;
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::Place;
use fullpipe::scenario::{self, Scenario, Source};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::{Instant, SystemTime};

/// Words of the first signal.
const STOPPING: &str = "stopping; there is no advice without its proof (once more to quit at once)";

/// Finds advice, proves it, keeps the proof and shows the advice.
pub fn advise(arguments: &AdviseArguments, output: &Output) -> Result<(), Failure> {
    let run = arguments.run();
    let scenario = source::load(&run)?;
    let plan = scenario.plans().first().ok_or_else(|| Failure::Input("no run".into()))?;
    let Some(case) = Case::new(&scenario, plan) else {
        return Err(Failure::Input(format!(
            "{} has no TCP flow that sends data; `fullpipe run` says what becomes of datagrams",
            scenario.name
        )));
    };
    let one = scenario.plans().len();
    if one > 1 && !arguments.quiet {
        let name = plan.name();
        note(&format!(
            "note: advice is for `{name}`, the first of {one} runs; --variant names another"
        ));
    }
    let engines = engines::chosen(&run, &scenario)?;
    let engine = &engines[0];
    if let Some(file) = &arguments.scenario_out
        && file.exists()
    {
        return Err(new_file::taken(file));
    }
    if !arguments.no_report {
        place(&scenario, arguments).check()?;
    }

    interrupt::listen(STOPPING)?;
    let advice = found(&case, engine, arguments)?;
    let text = cured_text(&case, &advice)?;
    if let Some(file) = &arguments.scenario_out {
        new_file::write(file, &text)?;
    }
    let directory = match arguments.no_report || advice.changes.is_empty() {
        true => None,
        false => Some(prove(&scenario, &text, &advice, &run, arguments)?),
    };

    match arguments.json {
        true => output.json(&advice)?,
        false => {
            let extent = Extent { width: output.style().width, explain: arguments.explain };
            output.print(&text::render(&advice, extent))?;
        }
    }
    if let Some(directory) = directory.filter(|_| !arguments.quiet) {
        note(&format!("results: {}", directory.display()));
        note(&format!("report before and after: {}", directory.join("report.html").display()));
    }
    if interrupt::stopped() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Advice by trials on the engine.
fn found(case: &Case, engine: &Chosen, arguments: &AdviseArguments) -> Result<Advice, Failure> {
    let allowance = Allowance { scopes: arguments.scopes() };
    let steps = Steps {
        progress: Progress::new(arguments.quiet, &[], 0),
        lasts: case.least(),
        quiet: arguments.quiet,
    };
    let jobs = jobs(arguments);
    let bench = Bench { engine: engine.engine, jobs, watch: &steps };
    let advice = advice::advise(case, &allowance, &bench).map_err(failure);
    steps.progress.finish();
    advice
}

fn jobs(arguments: &AdviseArguments) -> usize {
    arguments.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

/// The scenario with today's and the advised settings.
fn cured_text(case: &Case, advice: &Advice) -> Result<String, Failure> {
    let edits: Vec<_> = advice.changes.iter().flat_map(|own| &own.change.edits).collect();
    cured::scenario(case, &edits).map_err(Failure::Input)
}

/// Runs both variants at full length into a new directory, with the files of the advice.
fn prove(
    asked: &Scenario,
    text: &str,
    advice: &Advice,
    run: &RunArguments,
    arguments: &AdviseArguments,
) -> Result<PathBuf, Failure> {
    let (started, clock) = (SystemTime::now(), Instant::now());
    let source = Source::text(&format!("advice-{}.toml", asked.name), text);
    let scenario = scenario::load(&source, &[], &[]);
    let scenario = scenario.map_err(|wrong| Failure::Input(wrong.to_string()))?;
    let engines = engines::chosen(run, &scenario)?;
    let captures = Captures::new(run, &scenario)?;
    let writer = place(asked, arguments).create()?;
    let _removed_by_signal = Temporary::new(writer.directory());
    let total: Vec<Time> = scenario.plans().iter().map(|plan| plan.resolved.duration).collect();
    if !arguments.quiet {
        note("proving at full length, before and after");
    }
    let progress = Progress::new(arguments.quiet, &total, total.len());
    let done = experiment::run(
        &scenario,
        &engines,
        &captures,
        jobs(arguments),
        &writer,
        &progress,
        View::Model,
    );
    progress.finish();
    if done.document.runs.is_empty() || interrupt::stopped() {
        return Err(match done.failures.is_empty() {
            true => Failure::Interrupted,
            false => Failure::Runs { failures: done.failures, others: None },
        });
    }

    let kept = writer.directory();
    keep(kept, "advised.toml", text)?;
    let json = serde_json::to_string_pretty(advice)
        .map_err(|why| Failure::environment("cannot write advice.json", why))?;
    keep(kept, "advice.json", &format!("{json}\n"))?;
    for file in advice.files.enough.iter().chain(&advice.files.instead) {
        keep(kept, &inside(file), &file.text)?;
    }
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let provenance = Provenance::here(command, started, clock.elapsed());
    let report = html::render_in_place(&done.document);
    Ok(writer.finish(&done.document, &provenance, &report)?)
}

/// Place of a host's file below the results.
fn inside(file: &File) -> String {
    format!("files/{}/{}", file.host, file.path.trim_start_matches('/'))
}

fn keep(directory: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = directory.join(name);
    let failed = |why| Failure::environment(format!("cannot write {}", path.display()), why);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(&path, text).map_err(failed)
}

fn place(scenario: &Scenario, arguments: &AdviseArguments) -> Place {
    match &arguments.out {
        Some(directory) => Place::Exactly(directory.clone()),
        None => Place::Under { root: RESULTS.into(), name: format!("advice-{}", scenario.name) },
    }
}

/// Shows the steps of the method.
struct Steps {
    progress: Progress,
    /// Simulated time of a trial, about.
    lasts: Time,
    quiet: bool,
}

impl Watch for Steps {
    fn step(&self, what: &str, runs: usize) {
        if !self.quiet {
            self.progress.more(self.lasts, runs);
            self.progress.say(&format!("trying: {what}"));
        }
    }

    fn advance(&self, span: Time) -> bool {
        self.progress.advance(span);
        !interrupt::stopped()
    }
}

fn failure(stopped: Stopped) -> Failure {
    match stopped {
        Stopped::Interrupted => Failure::Interrupted,
        Stopped::Failed(Failed::Scenario(why)) => Failure::Input(why),
        Stopped::Failed(Failed::Machine(why)) => Failure::Environment(why),
    }
}
