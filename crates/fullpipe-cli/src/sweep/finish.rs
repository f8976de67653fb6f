//! Output of a finished sweep.

use crate::failure::Failure;
use crate::output::{Output, note};
use fullpipe::report::terminal::Style;
use fullpipe::sweep::output::{CELLS, Finished, REPORT, TABLE};
use fullpipe::sweep::terminal;
use fullpipe::sweep::{Merged, Sample, Shard, manifest};
use fullpipe::trace::Error;
use fullpipe::trace::replace::{replace, unwritten};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Options of a sweep's output.
#[derive(Clone, Copy)]
pub struct OutputOptions<'a> {
    /// Whether to print one JSON document in place of tables.
    pub json: bool,
    /// Without where the results are.
    pub quiet: bool,
    /// The points that were asked for; none: all.
    pub sample: Option<&'a Sample>,
}

/// Writes the results of the runs, prints the cells, and names missing parts.
pub fn finish(
    merged: &Merged,
    directory: &Path,
    options: OutputOptions,
    output: &Output,
) -> Result<(), Failure> {
    let finished = Finished::write(merged, directory)?;
    match options.json {
        true => output.copy(&directory.join(CELLS))?,
        false => output.print(&text(&finished, output.style()))?,
    }
    if !options.quiet {
        let report = directory.join(REPORT);
        note(&format!("results: {}\nreport: {}", directory.display(), report.display()));
    }
    judge(&finished);
    let Finished { runs, failed, missing, .. } = &finished;

    // Failed runs go before missing ones: starting again does not make them.
    if *failed > 0 {
        let what = format!("{failed} runs failed; `fullpipe sweep` with --retry makes them again");
        return Err(Failure::Environment(what));
    }
    let lacking = merged.lacking(options.sample);
    if lacking > 0 {
        let what = format!("{lacking} runs are missing: start their parts again");
        return Err(Failure::Environment(what));
    }

    // A drawn sample leaves runs out on purpose.
    if *missing > 0 {
        note(&format!("{runs} of {} runs are there: all of the points drawn", runs + missing));
    }
    if finished.passed() { Ok(()) } else { Err(Failure::Expectation) }
}

/// The cells, fairness of their flows, and the flows' effects on each other.
fn text(finished: &Finished, style: Style) -> String {
    let few = &finished.few;
    terminal::cells(&finished.title, &few.cells, few.lines, style)
        + &terminal::company(&few.cells, &finished.competition, style)
        + &terminal::versus(&finished.versus, style)
}

/// Reports the expectations that failed.
fn judge(finished: &Finished) {
    let points = &finished.judgement;
    if points.all > 0 {
        let (held, all) = (points.all - points.missed, points.all);
        note(&format!("{held} of {all} expectations of points hold"));
    }
    let held = finished.versus.iter().filter(|judged| judged.passed).count();
    if !finished.versus.is_empty() {
        let all = finished.versus.len();
        note(&format!("{held} of {all} expectations of two variants hold"));
    }
    if let Some(sentence) = finished.unjudged.describe() {
        note(&sentence);
    }
    points.first_missed.iter().for_each(|text| note(text));

    // Only the first misses are printed one by one.
    let more = points.missed - points.first_missed.len() as u64;
    if more > 0 {
        note(&format!("{more} more: `expected` in {CELLS}"));
    }
    let broken = finished.broken;
    if broken > 0 {
        note(&format!("{broken} runs miss an expectation of intervals (`failed` in {TABLE})"));
    }
}

/// Copies records and manifest of several directories to a new one.
pub fn gather(merged: &Merged, directory: &Path) -> Result<(), Failure> {
    let there = |e: std::io::Error| {
        let hint = "name a new directory with --out";
        Failure::Input(format!("{}: cannot be made: {e}; {hint}", directory.display()))
    };

    // Parents may exist, the directory itself must be new.
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent).map_err(there)?;
    }
    fs::create_dir(directory).map_err(there)?;
    let cannot = |e: &dyn std::fmt::Display| -> Error { unwritten(directory, e) };
    replace(&directory.join(manifest::FILE), |out| {
        serde_json::to_writer_pretty(&mut *out, &merged.manifest).map_err(|e| cannot(&e))?;
        writeln!(out).map_err(|e| cannot(&e))
    })?;

    // All parts become one shard.
    replace(&directory.join(Shard::WHOLE.file()), |out| {
        merged.each(|record| {
            serde_json::to_writer(&mut *out, &record).map_err(|e| cannot(&e))?;
            writeln!(out).map_err(|e| cannot(&e))
        })
    })?;
    Ok(())
}
