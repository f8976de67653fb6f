//! `fullpipe parity`: runs the same scenarios on the simulator and on a real kernel, and measures their distance.

mod cases;
mod head;
mod keep;
mod work;

use crate::args::ParityArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, note};
use crate::progress::Progress;
use crate::threads::jobs;
use cases::Asked;
use fullpipe::base::units::Time;
use fullpipe::parity::bars::{self, Judged, Miss};
use fullpipe::parity::distance::Unit;
use fullpipe::parity::draws::draws;
use fullpipe::parity::rows::{self, Changed};
use fullpipe::parity::spread::{self, Spread};
use fullpipe::parity::terminal;
use fullpipe::parity::twin::FEWEST;
use head::Head;
use keep::Folder;
use serde_json::{Value, json};
use std::path::Path;
use work::Done;

/// Text that the first signal prints.
const STOPPING: &str = "stopping; what was compared so far is shown (once more to quit at once)";

/// Runs, compares, and judges by the bars.
pub fn parity(arguments: &ParityArguments, output: &Output) -> Result<(), Failure> {
    let asked = cases::asked(arguments)?;

    // The folder is made before the runs: a wrong path must not cost them.
    let folder = arguments.keep.as_deref().map(Folder::new).transpose()?;
    interrupt::listen(STOPPING)?;
    let progress = Progress::new(arguments.quiet, &spans(&asked), 0);
    let jobs = jobs(arguments.jobs);
    let twins = arguments.twins.unwrap_or(0);
    let done = work::run(&asked, folder.as_ref(), twins, jobs, &progress);
    progress.finish();
    let verdict = Verdict::of(&done.units, arguments, asked.kept.as_deref())?;
    let head = Head::of(arguments, &asked, &done);

    // Results are shown before failures are returned.
    show(&head, asked.cases.len(), &done, &verdict, arguments.json, output)?;
    hint(arguments, &asked, &verdict);
    let is_whole = done.is_whole(asked.cases.len());
    let Done { failures, finished, untwinned, .. } = done;

    // An interrupt counts only where it left something out.
    if interrupt::stopped() && failures.is_empty() && !is_whole {
        let twins = match untwinned {
            0 => String::new(),
            some => format!(", {some} of them without all of its twins"),
        };
        let of = asked.cases.len();
        note(&format!("interrupted: {finished} of {of} runs were compared{twins}"));
        return Err(Failure::Interrupted);
    }
    if !failures.is_empty() {
        let others = format!("{finished} of {} runs were compared", asked.cases.len());
        return Err(Failure::Runs { failures, others: Some(others) });
    }
    match verdict.met() {
        true => Ok(()),
        false => Err(Failure::Expectation),
    }
}

/// Verdict on the runs that were compared.
enum Verdict {
    /// Distributions over seeds.
    Spreads(Vec<Spread>),
    /// Bars, and the misses.
    Bars(Vec<Judged>, Vec<Miss>),
    /// The suite: no run may miss a bar, and no distance may differ from the kept one.
    Suite(Vec<Judged>, Vec<Miss>, Vec<Changed>),
}

impl Verdict {
    /// `suite` is the folder of the suite that runs were compared with.
    fn of(
        units: &[Unit],
        arguments: &ParityArguments,
        suite: Option<&Path>,
    ) -> Result<Verdict, Failure> {
        if arguments.seeds.is_some() {
            return Ok(Verdict::Spreads(spread::spreads(units)));
        }
        let (judged, missed) = (bars::judge(units), bars::misses(units));
        let Some(folder) = suite else { return Ok(Verdict::Bars(judged, missed)) };
        let kept = rows::read(folder).map_err(|e| {
            Failure::environment(format!("cannot read {}", folder.join(rows::FILE).display()), e)
        })?;
        let changed = kept.map_or(Vec::new(), |kept| rows::changed(&kept, units));
        Ok(Verdict::Suite(judged, missed, changed))
    }

    /// Whether distributions are alike, or bars met.
    fn met(&self) -> bool {
        match self {
            Verdict::Spreads(spreads) => spreads.iter().all(|spread| spread.met),
            Verdict::Bars(judged, _) => bars::met(judged),
            Verdict::Suite(judged, missed, changed) => {
                bars::met(judged) && missed.is_empty() && changed.is_empty()
            }
        }
    }
}

/// The simulated time of each run on each engine that it is run on.
fn spans(asked: &Asked) -> Vec<Time> {
    let engines = if asked.kept.is_some() { 1 } else { 2 };
    let spans = asked.cases.iter().map(|case| case.plan.resolved.duration);
    spans.flat_map(|span| std::iter::repeat_n(span, engines)).collect()
}

/// Says how to distinguish chance from error, where a run that may have chance in it misses a bar.
fn hint(arguments: &ParityArguments, asked: &Asked, verdict: &Verdict) {
    // Verdicts without bars cannot miss one.
    let (Verdict::Bars(_, missed) | Verdict::Suite(_, missed, _)) = verdict else { return };
    if arguments.quiet || verdict.met() {
        return;
    }

    // A run that draws needs several seeds; a run that does not may still be chaotic.
    let drawing = asked
        .cases
        .iter()
        .filter(|case| missed.iter().any(|miss| miss.run == case.name))
        .find(|case| !draws(&case.plan.resolved).is_empty());
    if let Some(case) = drawing {
        let name = &case.name;
        note(&format!(
            "note: {name} draws by chance, each engine for itself; --seeds {FEWEST} compares that"
        ));
    } else if arguments.twins.is_none() && asked.kept.is_none() {
        note(&format!("note: a miss may be chance; --twins {FEWEST} tells"));
    }
}

fn show(
    head: &Head,
    of: usize,
    done: &Done,
    verdict: &Verdict,
    as_json: bool,
    output: &Output,
) -> Result<(), Failure> {
    let Done { units, chances, finished, .. } = done;

    // Without a unit nothing was compared.
    if units.is_empty() {
        return Ok(());
    }
    let itself = bars::judge(&done.itself);
    let style = output.style();
    if as_json {
        let (runs, partial, met) = (finished, !done.is_whole(of), verdict.met());
        let counts = json!({ "format": 1, "partial": partial, "runs": runs, "of": of, "met": met, "units": units });

        // Each kind of verdict adds its own keys to the counts.
        let more = match verdict {
            Verdict::Spreads(spreads) => json!({ "spreads": spreads }),
            Verdict::Bars(judged, missed) => {
                json!({ "bars": judged, "misses": missed, "linux_itself": itself, "chances": chances })
            }
            Verdict::Suite(judged, missed, changed) => {
                json!({ "bars": judged, "misses": missed, "changed": changed })
            }
        };
        let head = serde_json::to_value(head).unwrap_or_default();
        return output.json(&with(with(counts, head), more));
    }
    let head = terminal::parity_head(&head.lines(), style);
    output.print(
        &(head
            + &match verdict {
                Verdict::Spreads(spreads) => terminal::spreads(spreads, style),
                Verdict::Bars(judged, missed) => {
                    let text = terminal::parity(units, judged, missed, style);
                    text + &terminal::twins(&itself, chances, style)
                }
                Verdict::Suite(judged, missed, changed) => {
                    terminal::parity(units, judged, missed, style) + &changes(changed)
                }
            }),
    )
}

/// Which kept distances have changed.
fn changes(changed: &[Changed]) -> String {
    if changed.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\nThe simulator has changed: {} cells differ from {} (`make parity` keeps\ntoday's).\n",
        changed.len(),
        rows::FILE,
    );
    let mut run = "";

    // Rows come in the runs' order: a name is printed once.
    for Changed { run: of, column, kept, now } in changed {
        if of != run {
            text += &format!("  {of}\n");
            run = of;
        }
        text += &match column.as_str() {
            "" => "    no row is kept\n".to_string(),
            column => format!("    {column}: {kept} kept, {now} now\n"),
        };
    }
    text
}

/// Joins two JSON objects into one document.
fn with(mut head: Value, more: Value) -> Value {
    if let (Value::Object(head), Value::Object(more)) = (&mut head, more) {
        head.extend(more);
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe::parity::distance::Throughput;

    /// The bar allows one run of ten to be far apart; the suite allows none.
    #[test]
    fn one_run_of_the_suite_that_misses_is_a_failure() {
        let unit = |mean| Unit {
            congestion: "reno".into(),
            throughput: Some(Throughput {
                mean,
                median: 0.0,
                worst: mean,
                worst_at_s: 1.0,
                intervals: 10,
            }),
            ..Unit::default()
        };
        let units: Vec<Unit> = (0..10).map(|n| unit(if n == 0 { 0.2 } else { 0.01 })).collect();
        let judged = || (bars::judge(&units), bars::misses(&units));
        let (bars, missed) = judged();
        assert!(Verdict::Bars(bars, missed).met());
        let (bars, missed) = judged();
        assert!(!Verdict::Suite(bars, missed, Vec::new()).met());
        assert!(Verdict::Suite(bars::judge(&units[1..]), Vec::new(), Vec::new()).met());
    }
}
