//! `fullpipe parity`: simulator and genuine Linux on the same scenarios, and how far they are apart.

mod cases;
mod keep;
mod work;

use crate::args::ParityArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, note};
use crate::progress::Progress;
use cases::Asked;
use fullpipe::parity::distance::Unit;
use fullpipe::parity::{bars, spread};
use fullpipe::report::terminal;
use fullpipe_sim::units::Time;
use keep::Folder;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use work::Done;

/// What the first signal says.
const STOPPING: &str = "stopping; what was compared so far is shown (once more to quit at once)";

/// Runs, compares, and judges by the bars.
pub fn parity(arguments: &ParityArguments, output: &Output) -> Result<(), Failure> {
    let asked = cases::asked(arguments)?;
    let folder = arguments.keep.as_deref().map(Folder::new).transpose()?;
    interrupt::listen(STOPPING)?;
    let progress = Progress::new(arguments.quiet, &spans(&asked));
    let jobs = arguments.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let done = work::run(&asked, folder.as_ref(), jobs, &progress);
    progress.finish();
    show(&asked, &done, arguments, output)?;
    let Done { units, failures, finished } = done;
    if interrupt::stopped() && failures.is_empty() && finished < asked.cases.len() {
        note(&format!("interrupted: {finished} of {} runs were compared", asked.cases.len()));
        return Err(Failure::Interrupted);
    }
    if !failures.is_empty() {
        let others = format!("{finished} of {} runs were compared", asked.cases.len());
        return Err(Failure::Runs { failures, others: Some(others) });
    }
    match met(&units, arguments) {
        true => Ok(()),
        false => Err(Failure::Expectation),
    }
}

/// Whether bars are met, or distributions alike.
fn met(units: &[Unit], arguments: &ParityArguments) -> bool {
    match arguments.seeds {
        Some(_) => spread::spreads(units).iter().all(|spread| spread.met),
        None => bars::met(&bars::judge(units)),
    }
}

/// The simulated time of each run on each engine that it is run on.
fn spans(asked: &Asked) -> Vec<Time> {
    let engines = if asked.kept.is_some() { 1 } else { 2 };
    let spans = asked.cases.iter().map(|case| case.plan.resolved.duration);
    spans.flat_map(|span| std::iter::repeat_n(span, engines)).collect()
}

fn show(
    asked: &Asked,
    done: &Done,
    arguments: &ParityArguments,
    output: &Output,
) -> Result<(), Failure> {
    let Done { units, finished, .. } = done;
    if units.is_empty() {
        return Ok(());
    }
    let met = met(units, arguments);
    let (runs, of, partial) = (finished, asked.cases.len(), *finished < asked.cases.len());
    let head = json!({ "format": 1, "partial": partial, "runs": runs, "of": of, "met": met, "units": units });
    if arguments.seeds.is_some() {
        let spreads = spread::spreads(units);
        return match arguments.json {
            true => output.json(&with(head, json!({ "spreads": spreads }))),
            false => output.print(&terminal::spreads(&spreads, output.style())),
        };
    }
    let (judged, missed) = (bars::judge(units), bars::misses(units));
    match arguments.json {
        true => output.json(&with(head, json!({ "bars": judged, "misses": missed }))),
        false => output.print(&terminal::parity(units, &judged, &missed, output.style())),
    }
}

/// One document of both.
fn with(mut head: Value, more: Value) -> Value {
    if let (Value::Object(head), Value::Object(more)) = (&mut head, more) {
        head.extend(more);
    }
    head
}
