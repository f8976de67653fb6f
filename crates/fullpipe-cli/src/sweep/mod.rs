//! `fullpipe sweep` and `fullpipe merge`: all points of a scenario's axes, kept run by run.

mod finish;
mod progress;
mod work;

use crate::args::{MergeArguments, ReportArguments, SweepArguments};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, note};
use crate::run::RESULTS;
use crate::source::source;
use crate::threads::jobs;
use finish::{OutputOptions, finish};
use fullpipe::experiment::Allowed;
use fullpipe::scenario::{SetOption, Source};
use fullpipe::sweep::output::{REPORT, redraw};
use fullpipe::sweep::{
    Ask, Job, Manifest, Merged, Sample, Shard, Share, Store, Unjudged, ask, manifest,
};
use progress::Progress;
use std::path::{Path, PathBuf};
use work::Done;

/// Text that the first signal prints.
const STOPPING: &str = "stopping; finished runs are kept (once more to quit at once)";

/// Makes the missing runs, and shows the results so far.
pub fn sweep(arguments: &SweepArguments, output: &Output) -> Result<(), Failure> {
    let source = source(&arguments.scenario)?;
    let (job, manifest) = asked(arguments, &source)?;
    let directory = directory(arguments, &manifest);
    let sample = arguments.points.map(|points| Sample::draw(&manifest, points));
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let share = Share { shard, sample: sample.as_ref(), retry: arguments.retry };
    if arguments.dry_run {
        return output.print(&plan(&manifest, &directory, &share));
    }
    interrupt::listen(STOPPING)?;
    let store = Store::open(&directory, &manifest, shard).map_err(input)?;

    // Runs that are kept already are not made again.
    let runs = share.rest(&store, manifest.runs);
    let there = store.done().len() as u64;
    if there > 0 && !arguments.quiet {
        note(&format!("{there} of {} runs are there already", manifest.runs));
    }
    let progress = Progress::new(arguments.quiet, runs.len() as u64);
    let jobs = jobs(arguments.jobs);
    let done = work::run(&job, &store, &runs, jobs, &progress);
    progress.finish();

    // One reason is printed once, with its count.
    for (why, runs) in &done.again {
        let first = why.lines().next().unwrap_or_default();
        note(&format!("{runs} runs failed for one reason, told above of the first: {first}"));
    }

    // `conclude` opens the directory anew, so its lock must be free.
    drop(store);
    conclude(arguments, output, &directory, &share, done)
}

/// Finishes the sweep when the runs are made, or were stopped.
fn conclude(
    arguments: &SweepArguments,
    output: &Output,
    directory: &Path,
    share: &Share,
    done: Done,
) -> Result<(), Failure> {
    // A record that cannot be written ends the sweep.
    done.lost.map_or(Ok(()), Err)?;
    let merged = Merged::open(&[directory.to_path_buf()])?;
    if interrupt::stopped() {
        let (there, all) = (merged.runs(), merged.manifest.runs);
        note(&format!("interrupted: {there} of {all} runs are kept; the same command goes on"));
        note(&format!("what there is: fullpipe merge {}{}", directory.display(), drawn(arguments)));
        return Err(Failure::Interrupted);
    }
    let Share { shard, sample, .. } = share;
    let options = OutputOptions { json: arguments.json, quiet: arguments.quiet, sample: *sample };
    let lacking = merged.lacking(*sample);

    // Results need all parts: one part alone only reports itself.
    if lacking > 0 {
        let (made, place) = (done.made, directory.display());
        note(&format!(
            "part {} of {}: {made} runs made, {lacking} of the sweep are not there yet; when all parts are done: fullpipe merge {place}{}",
            shard.number,
            shard.of,
            drawn(arguments)
        ));
        if let Some(sentence) = unjudged_of_part(&merged.manifest) {
            note(&sentence);
        }
        return Ok(());
    }
    finish(&merged, directory, options, output)
}

/// Options of `fullpipe merge` that repeat the points drawn.
fn drawn(arguments: &SweepArguments) -> String {
    arguments.points.map_or_else(String::new, |points| format!(" --points {points}"))
}

/// Says that a part alone judges nothing, where something is expected.
fn unjudged_of_part(manifest: &Manifest) -> Option<String> {
    let all = Unjudged::of(manifest, &[]).all;
    (all > 0)
        .then(|| format!("{all} of {all} expectations not judged: parts are missing (--shard)"))
}

/// Puts the parts of a sweep together.
pub fn merge(arguments: &MergeArguments, output: &Output) -> Result<(), Failure> {
    let merged = Merged::open(&arguments.directories).map_err(input)?;

    // A single directory is finished in place.
    let directory = match (&arguments.out, arguments.directories.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [only]) => only.clone(),
        (None, _) => {
            return Err(Failure::Input(
                "several directories are put together in a new one: name it with --out".into(),
            ));
        }
    };
    if arguments.out.is_some() {
        finish::gather(&merged, &directory)?;
    }
    let sample = arguments.points.map(|points| Sample::draw(&merged.manifest, points));
    let options = OutputOptions { json: arguments.json, quiet: false, sample: sample.as_ref() };
    finish(&merged, &directory, options, output)
}

/// Whether a directory holds a sweep.
pub fn is_sweep(directory: &Path) -> bool {
    directory.join(manifest::FILE).exists()
}

/// Writes the page of a sweep again.
pub fn report(arguments: &ReportArguments) -> Result<(), Failure> {
    let merged = Merged::open(std::slice::from_ref(&arguments.dir)).map_err(input)?;
    let file = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(REPORT));
    redraw(&merged, &file)?;
    note(&format!("report: {}", file.display()));
    Ok(())
}

/// The sweep to run, after everything that can be wrong before a run was checked.
fn asked(arguments: &SweepArguments, source: &Source) -> Result<(Job, Manifest), Failure> {
    let sets: Vec<SetOption> = arguments.set.iter().cloned().map(SetOption).collect();
    let allowed =
        Allowed { as_kernel: arguments.as_kernel.as_deref(), without: &arguments.without };
    let (variants, engine) = (&arguments.variant, arguments.engine.as_str());
    Ok(ask(source, &Ask { sets: &sets, variants, engine, allowed })?)
}

fn directory(arguments: &SweepArguments, manifest: &Manifest) -> PathBuf {
    arguments.out.clone().unwrap_or_else(|| {
        Path::new(RESULTS).join(format!("{}-sweep-{}", manifest.name, manifest.digest()))
    })
}

/// Text on the work of a sweep.
fn plan(manifest: &Manifest, directory: &Path, share: &Share) -> String {
    let mut text = format!("{}: {} runs\n", manifest.title, manifest.runs);
    text += &format!("  variants  {}\n", manifest.variants.join("; "));
    for axis in &manifest.axes {
        let (first, last) = (axis.points.first(), axis.points.last());

        // An axis shows its ends: it may have hundreds of points.
        let shown = |point: Option<&Vec<serde_json::Value>>| {
            let values = point.into_iter().flatten().map(ToString::to_string);
            values.collect::<Vec<_>>().join(" ").replace('"', "")
        };
        let points = axis.points.len();
        text += &format!("  {}  {points} points, {} to {}\n", axis.name, shown(first), shown(last));
    }
    text += &format!("  seeds  {}\n", manifest.seeds);
    let (shard, own) = (share.shard, share.runs(manifest.runs).count());
    if let Some(sample) = share.sample {
        text += &format!("  points drawn  {} runs\n", sample.runs(manifest.runs));
    }

    // A whole sweep has one part, which needs no line.
    if shard != Shard::WHOLE {
        text += &format!("  part {} of {}  {own} runs\n", shard.number, shard.of);
    }
    text + &format!("  results  {}\n", directory.display())
}

fn input(error: fullpipe::trace::Error) -> Failure {
    Failure::Input(error.to_string())
}
