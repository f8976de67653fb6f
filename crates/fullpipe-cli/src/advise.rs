//! `fullpipe advise`: settings to change, their reason and cost, and the runs that prove them.

use crate::advise_arguments::AdviseArguments;
use crate::captures::Captures;
use crate::engines;
use crate::failure::Failure;
use crate::interrupt;
use crate::kept::Kept;
use crate::new_file;
use crate::output::{Output, note};
use crate::progress::Progress;
use crate::run::{Keeping, keep, place};
use crate::source;
use crate::threads::jobs;
use fullpipe::advice::document::Advice;
use fullpipe::advice::files::File;
use fullpipe::advice::method::Goal;
use fullpipe::advice::text::{self, Extent};
use fullpipe::advice::trial::{Bench, Outcome, Stopped, Watch};
use fullpipe::advice::{self, Case, Change, SoFar, cured, newcomer, page};
use fullpipe::analysis::numbers;
use fullpipe::analysis::view::View;
use fullpipe::base::units::Time;
use fullpipe::engine::Failed;
use fullpipe::experiment::Chosen;
use fullpipe::results::rundir::Place;
use fullpipe::scenario::{self, Source};
use std::fs;
use std::path::Path;

/// Part of the promised rate that a run at full length has to have.
const PROMISED: f64 = 0.8;

/// File of results that holds the advice.
pub const ADVICE: &str = "advice.json";
/// Words of the first signal.
const STOPPING: &str = "stopping; the best changes so far are shown (once more to quit at once)";

/// Finds advice, proves it, keeps the proof and shows the advice.
pub fn advise(arguments: &AdviseArguments, output: &Output) -> Result<(), Failure> {
    let run = arguments.run();
    let scenario = source::load("advise", &run)?;
    let plan = scenario.plans().first().ok_or_else(|| Failure::Input("no run".into()))?;

    // Refusals come first: trials take minutes.
    let Some(case) = Case::new(&scenario, plan) else {
        return Err(Failure::Input(format!(
            "{} has no flow and no UDP datagrams: nothing sends data, so there is nothing to advise on",
            scenario.name
        )));
    };
    if case.datagrams.is_some() && arguments.allowance().goal != Goal::Rate {
        return Err(Failure::Input(format!(
            "--goal: {} is about datagrams of UDP, of which fullpipe judges the rate alone; leave --goal out",
            scenario.name
        )));
    }

    // Several runs may need different advice, so only one gets it.
    let runs = scenario.plans().len();
    if runs > 1 && !arguments.quiet {
        let name = plan.name();
        note(&format!(
            "note: advice is for `{name}`, the first of {runs} runs; --variant names another"
        ));
    }
    if !arguments.quiet && !arguments.follows_run {
        source::notes(&scenario);
    }
    let engines = engines::chosen(&run, &scenario)?;
    let engine = &engines[0];

    // Files that exist are refused before the trials, not after them.
    if let Some(file) = &arguments.scenario_out
        && file.exists()
    {
        return Err(new_file::taken(file));
    }
    let name = format!("advice-{}", scenario.name);
    let place = place(arguments.out.as_ref(), &name);
    if !arguments.no_report {
        place.check()?;
    }

    interrupt::listen(STOPPING)?;
    let advice = match found(&case, engine, arguments)? {
        Ok(advice) => advice,
        // Without an end of the search no changes are proved, so that the answer alone is shown.
        Err(so_far) => {
            let document = so_far.document(&case);
            match arguments.json {
                true => output.json(&document)?,
                false => output.print(&format!("{}\n", document.answer))?,
            }
            return Err(Failure::Interrupted);
        }
    };
    let text = cured_text(&case, &advice)?;

    // Without a change there is nothing to compare.
    let kept = match arguments.no_report || advice.changes.is_empty() {
        true => Ok(None),
        false => prove(place, &name, &text, &advice, arguments).map(Some),
    };
    // A proof that was stopped leaves the advice of the trials.
    let kept = match kept {
        Err(Failure::Interrupted) => None,
        kept => kept?,
    };
    if let Some(file) = &arguments.scenario_out {
        new_file::write(file, &text)?;
    }

    // The proof ran without output, so the advice comes first.
    match arguments.json {
        true => output.json(&advice)?,
        false => {
            let extent = Extent { width: output.style().width, explain: arguments.explain };
            output.print(&text::render(&advice, extent))?;
        }
    }
    if advice.changes.is_empty() && !arguments.no_report && !arguments.quiet {
        note("nothing is to be set, so there is nothing to prove: no results are kept");
    }
    if let Some(kept) = kept {
        if !arguments.json {
            output.print(&at_full_length(&kept, &advice))?;
        }

        // The results were shown above; `judge` gives the exit code.
        let kept = Kept { shown: true, ..kept };
        if !arguments.quiet {
            kept.places().iter().for_each(|place| note(place));
        }
        kept.judge()?;
    }
    if interrupt::stopped() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Advice by trials on the engine; where the user stops them, what they have shown so far.
fn found(
    case: &Case,
    engine: &Chosen,
    arguments: &AdviseArguments,
) -> Result<Result<Advice, Box<SoFar>>, Failure> {
    let allowance = arguments.allowance();
    let steps = Steps::new(arguments.quiet);
    let bench = Bench { engine: engine.engine, jobs: jobs(arguments.jobs), watch: &steps };
    let advice = advice::advise(case, &allowance, &bench).and_then(|own| {
        // A newcomer tests advice that changes something for flows.
        if arguments.no_report || own.changes.is_empty() || own.flows == 0 {
            return Ok(own);
        }
        match newcomer::newcomer(case, &own.edits(), &bench) {
            Err(Stopped::Interrupted) => Ok(own),
            newcomer => Ok(Advice { newcomer: newcomer?, ..own }),
        }
    });
    steps.finish();
    match advice {
        Err(Stopped::Interrupted) => Ok(Err(Box::new(steps.so_far))),
        advice => advice.map(Ok).map_err(failure),
    }
}

/// The scenario with today's and the advised settings.
fn cured_text(case: &Case, advice: &Advice) -> Result<String, Failure> {
    cured::scenario(case, &advice.edits()).map_err(Failure::Input)
}

/// Runs both variants at full length into a new directory, with the files of the advice.
fn prove(
    place: Place,
    name: &str,
    text: &str,
    advice: &Advice,
    arguments: &AdviseArguments,
) -> Result<Kept, Failure> {
    let run = arguments.run();
    let source = Source::text(&format!("{name}.toml"), text);
    let scenario = scenario::load(&source, &[], &[]);
    let scenario = scenario.map_err(|wrong| Failure::Input(wrong.to_string()))?;
    if !arguments.quiet {
        note("proving at full length, before and after");
    }
    let keeping = Keeping {
        place,
        engines: &engines::chosen(&run, &scenario)?,
        captures: &Captures::new(&run, &scenario)?,
        jobs: jobs(arguments.jobs),
        quiet: arguments.quiet,
        view: View::Model,
        has_report: true,
    };

    // `keep` leaves nothing under the final name after an interrupt.
    keep(&scenario, keeping, |directory| {
        if interrupt::stopped() {
            return Err(Failure::Interrupted);
        }
        write_all(directory, text, advice)?;
        Ok(page::section(advice))
    })
}

/// Rates of both runs at full length, and a warning where they differ from the promise of the trials.
fn at_full_length(kept: &Kept, advice: &Advice) -> String {
    let rate = |name: &str| {
        let run = kept.document.runs.iter().find(|run| run.variant == name)?;

        // Advice for datagrams beside flows is judged by the datagrams.
        let is_changed = |name: &str| advice.changes.iter().any(|own| own.change.whose == name);
        let own = run.datagrams.iter().find(|own| advice.flows == 0 && is_changed(&own.name));
        if let Some(own) = own {
            return own.mean_mbit;
        }
        run.headline.as_ref()?.rate_mbit
    };

    // An interrupted proof has no rates to compare.
    let [Some(today), Some(advised)] = [cured::TODAY, cured::ADVISED].map(rate) else {
        return String::new();
    };
    let [before, after] = [today, advised].map(numbers::rate);
    let text = format!("\nAt full length, with the start: {before} today, {after} as advised\n");

    // Trials measure flows that have grown; the full run includes their start.
    let is_less = advised < PROMISED * advice.advised.mbit;
    match is_less {
        true => {
            let promised = numbers::rate(advice.advised.mbit);
            text + &format!("  warning: the trials promise {promised} once the flows have grown\n")
        }
        false => text,
    }
}

/// Writes the scenario, the advice and its files.
fn write_all(directory: &Path, text: &str, advice: &Advice) -> Result<(), Failure> {
    write(directory, "advised.toml", text)?;
    let json = serde_json::to_string_pretty(advice)
        .map_err(|why| Failure::environment("cannot write advice.json", why))?;
    write(directory, ADVICE, &format!("{json}\n"))?;
    let files = advice.files.enough.iter().chain(&advice.files.instead);
    files.into_iter().try_for_each(|file| write(directory, &inside(file), &file.text))
}

/// Place of a host's file below the results.
fn inside(file: &File) -> String {
    format!("files/{}/{}", file.host, file.path.trim_start_matches('/'))
}

/// Writes a file below a directory of results.
pub fn write(directory: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = directory.join(name);
    let failed = |why| Failure::environment(format!("cannot write {}", path.display()), why);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(&path, text).map_err(failed)
}

/// Shows the steps of the method.
pub struct Steps {
    progress: Progress,
    quiet: bool,
    so_far: SoFar,
}

impl Steps {
    /// Steps on standard error, or in silence.
    pub fn new(quiet: bool) -> Steps {
        Steps { progress: Progress::new(quiet, &[], 0), quiet, so_far: SoFar::default() }
    }

    /// The last step is over.
    pub fn finish(&self) {
        self.progress.finish();
    }
}

impl Watch for Steps {
    fn step(&self, what: &str, runs: usize, lasts: Time) {
        if !self.quiet {
            self.progress.more(lasts, runs);
            self.progress.say(&format!("trying: {what}"));
        }
    }

    fn advance(&self, span: Time) -> bool {
        self.progress.advance(span);
        !interrupt::stopped()
    }

    fn tried(&self, changes: &[Change], outcome: &Outcome) {
        self.so_far.tried(changes, outcome);
    }
}

/// Failure of a command whose trials have stopped.
pub fn failure(stopped: Stopped) -> Failure {
    match stopped {
        Stopped::Interrupted => Failure::Interrupted,
        Stopped::Failed(Failed::Scenario(why)) => Failure::Input(why),
        Stopped::Failed(Failed::Machine(why)) => Failure::Environment(why),
    }
}
