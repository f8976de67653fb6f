//! The command `fullpipe-blind`: draws a set of cases, or takes one from a folder, and scores the verdicts.

use clap::Parser;
use fullpipe::analysis::view::View;
use fullpipe::engine::Engine;
use fullpipe::experiment::{Allowed, named};
use fullpipe_blind::causes;
use fullpipe_blind::folder;
use fullpipe_blind::generate::{self, Case, Drawn, Hosts};
use fullpipe_blind::score::{self, Scored, markdown, summary};
use fullpipe_blind::work;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Instant;

/// Blind test of verdicts: random cases, labels by counterfactual, and the score
#[derive(Debug, Parser)]
#[command(
    name = "fullpipe-blind",
    before_help = "Examples:
  fullpipe-blind --seed 1 --count 500                 draw a set and score it
  fullpipe-blind --seed 2 --count 120 --out set-2 --draw-only
  fullpipe-blind --seed 3 --count 40 --cause ack_path --out set-3
  fullpipe-blind --dir set-2                          score that set again
  fullpipe-blind --dir set-2 --view receiver-capture  score diagnoses of its captures
  fullpipe-blind --dir set-2 --engine linux --as-kernel 6.12\n\n"
)]
struct Arguments {
    /// Seed of the set
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cases that are scored
    #[arg(long, default_value_t = 500)]
    count: usize,
    /// Score the cases of this folder and draw none
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seed", "count", "out", "draw_only"])]
    dir: Option<PathBuf>,
    /// Folder of the drawn cases [default: target/blind/SEED-COUNT]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Draw cases of this cause alone
    #[arg(long, value_name = "CODE", conflicts_with = "dir", value_parser = cause)]
    cause: Option<&'static str>,
    /// Draw hosts without CPU costs and interrupt moderation, which real kernels run
    #[arg(long, conflicts_with = "dir")]
    plain: bool,
    /// Draw the set and score nothing
    #[arg(long)]
    draw_only: bool,
    /// Part of a run that the verdict may see; a capture is taken at sender-qdisc, link or receiver
    #[arg(long, value_name = "VIEW", default_value = "model", value_parser = view)]
    view: View,
    /// Engine of the scored runs
    #[arg(long, default_value = "sim")]
    engine: String,
    /// Kernel of an engine with real kernels
    #[arg(long, value_name = "VERSION")]
    as_kernel: Option<String>,
    /// Keys that the engine may do otherwise; * stands for any text; may be repeated
    #[arg(long, value_name = "KEY")]
    without: Vec<String>,
    /// Write the scores in a short form to this file, which must be new
    #[arg(long, value_name = "FILE", conflicts_with = "draw_only")]
    record: Option<PathBuf>,
    /// Cases at a time [default: number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(if why.ends_with(work::STOPPED) { 130 } else { 2 })
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let engine = named(&arguments.engine, arguments.as_kernel.as_deref())?;
    work::listen()?;
    let cores = available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let jobs = arguments.jobs.unwrap_or(cores);
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| format!("target/blind/{}-{}", arguments.seed, arguments.count).into());

    // Cases are read from a folder, or drawn into one.
    let (folder, cases) = match &arguments.dir {
        Some(dir) => (dir.clone(), folder::read(dir)?),
        None => (out.clone(), drawn(arguments, &out, jobs)?),
    };
    if arguments.draw_only {
        return Ok(());
    }

    let allowed =
        Allowed { as_kernel: arguments.as_kernel.as_deref(), without: &arguments.without };
    let scored = work::all("scored", cases.len(), jobs, |n| {
        score::score(&cases[n], engine, allowed, arguments.view)
    })?;
    if let Some(file) = &arguments.record {
        let new = std::fs::File::create_new(file);
        new.and_then(|mut new| new.write_all(score::recorded::written(&scored).as_bytes()))
            .map_err(|why| format!("cannot write {}: {why}", file.display()))?;
    }
    report(&folder, engine, arguments.view, &scored)
}

/// The view of this name.
fn view(name: &str) -> Result<View, String> {
    let all = || View::ALL.into_iter().chain(View::OF_CAPTURES);
    let names: Vec<&str> = all().map(View::name).collect();
    let named = all().find(|view| view.name() == name);
    named.ok_or_else(|| format!("no such view; there are {}", names.join(", ")))
}

/// The cause with this code.
fn cause(code: &str) -> Result<&'static str, String> {
    let codes: Vec<&str> = causes::all().collect();
    causes::named(code).ok_or_else(|| format!("no such cause; there are {}", codes.join(", ")))
}

/// Draws a set into a folder.
fn drawn(arguments: &Arguments, out: &Path, jobs: usize) -> Result<Vec<Case>, String> {
    let (seed, begun) = (arguments.seed, Instant::now());
    let hosts = if arguments.plain { Hosts::Plain } else { Hosts::Full };
    let causes = match arguments.cause {
        Some(cause) => vec![cause; arguments.count],
        None => generate::causes(seed, arguments.count, hosts),
    };
    let drawn = work::all("drawn", causes.len(), jobs, |number| {
        generate::draw(seed, number, causes[number], hosts)
    })?;
    let seconds = begun.elapsed().as_secs_f64();

    // Cases whose label is not clear are kept, but not scored.
    let (cases, apart) = parted(drawn);
    folder::write(out, &cases)?;
    if !apart.is_empty() {
        folder::write(&out.join(folder::APART), &apart)?;
    }
    eprintln!(
        "{} of {} cases drawn in {seconds:.0} s, {:.2} s each; {} more are apart: {}",
        cases.len(),
        causes.len(),
        seconds / cases.len().max(1) as f64,
        apart.len(),
        out.display()
    );
    print_counts("apart by cause", apart.iter().map(|case| case.label.cause.as_str()));
    let missing = causes.iter().enumerate().filter(|(n, _)| {
        let name = format!("case-{n:04}");
        cases.iter().all(|case| case.name != name)
    });
    print_counts("not drawn by cause", missing.map(|(_, cause)| *cause));
    Ok(cases)
}

fn parted(drawn: Vec<Drawn>) -> (Vec<Case>, Vec<Case>) {
    let (mut cases, mut apart) = (Vec::new(), Vec::new());
    for own in drawn {
        cases.extend(own.case);
        apart.extend(own.apart);
    }
    (cases, apart)
}

/// Says how often each code occurs, where any does.
fn print_counts<'a>(what: &str, codes: impl Iterator<Item = &'a str>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    codes.for_each(|code| *counts.entry(code).or_default() += 1);
    let list: Vec<String> = counts.iter().map(|(code, count)| format!("{code} {count}")).collect();
    if !list.is_empty() {
        eprintln!("{what}: {}", list.join(", "));
    }
}

/// Prints the score, and writes it as score-VIEW-ENGINE.md and .json into the folder of the cases.
fn report(folder: &Path, engine: &dyn Engine, view: View, scored: &[Scored]) -> Result<(), String> {
    let what = format!("{} cases, engine {}, view {}.", scored.len(), engine.name(), view.name());
    let page = markdown(&what, scored);
    let document = json!({
        "format": 1, "engine": engine.name(), "view": view.name(), "summary": summary(scored), "cases": scored,
    });
    let document = serde_json::to_string_pretty(&document).map_err(|why| why.to_string())? + "\n";
    for (ending, text) in [("md", &page), ("json", &document)] {
        let file = folder.join(format!("score-{}-{}.{ending}", view.name(), engine.name()));
        std::fs::write(&file, text)
            .map_err(|why| format!("cannot write {}: {why}", file.display()))?;
    }
    print!("{page}");
    Ok(())
}
