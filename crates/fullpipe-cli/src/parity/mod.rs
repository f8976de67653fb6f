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
use fullpipe::parity::bars;
use fullpipe::report::terminal;
use fullpipe_sim::units::Time;
use keep::Folder;
use serde_json::json;
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
    match bars::met(&bars::judge(&units)) {
        true => Ok(()),
        false => Err(Failure::Expectation),
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
    if done.units.is_empty() {
        return Ok(());
    }
    let (judged, missed) = (bars::judge(&done.units), bars::misses(&done.units));
    if arguments.json {
        let of = asked.cases.len();
        return output.json(&json!({
            "format": 1, "partial": done.finished < of, "runs": done.finished, "of": of, "units": done.units,
            "bars": judged, "met": bars::met(&judged), "misses": missed,
        }));
    }
    output.print(&terminal::parity(&done.units, &judged, &missed, output.style()))
}
