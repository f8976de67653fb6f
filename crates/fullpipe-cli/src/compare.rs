//! `fullpipe compare`: compares two results.

mod side;

use crate::args::CompareArguments;
use crate::failure::Failure;
use crate::new_file;
use crate::output::{Output, note};
use fullpipe::analysis;
use fullpipe::analysis::compare::compare as beside;
use fullpipe::report::{html, terminal};
use fullpipe::sweep::apart::apart;
use fullpipe::sweep::cells::cells;
use fullpipe::sweep::compare::Comparison;
use fullpipe::sweep::{Merged, manifest};
use serde_json::json;
use side::{Opened, check_pair};
use std::path::Path;

/// Reads both results and prints the differences.
pub fn compare(arguments: &CompareArguments, output: &Output) -> Result<(), Failure> {
    // A sweep is known by its manifest.
    let swept = [&arguments.a, &arguments.b].map(|path| path.join(manifest::FILE).exists());
    if swept[0] != swept[1] && arguments.a.is_dir() && arguments.b.is_dir() {
        let (sweep, run) =
            if swept[0] { (&arguments.a, &arguments.b) } else { (&arguments.b, &arguments.a) };
        return Err(Failure::Input(format!(
            "{} is a sweep and {} is none: two of one kind can be compared",
            sweep.display(),
            run.display()
        )));
    }
    if swept.contains(&true) {
        return sweeps(arguments, output);
    }

    // Two results, each of one experiment.
    let (a, b) = (Opened::new(&arguments.a)?, Opened::new(&arguments.b)?);
    check_pair(&a, &b)?;
    let comparison = beside(&a.side(), &b.side());
    print(arguments, [&a, &b], &comparison, output)?;

    // The printed text is not lost where the file cannot be written.
    if let Some(file) = &arguments.out {
        let merged = analysis::merged(a.document(), b.document(), &comparison);
        new_file::write(file, &html::render(&merged))?;
        note(&format!("report: {}", file.display()));
    }
    Ok(())
}

/// Prints the differences, as text or as JSON.
fn print(
    arguments: &CompareArguments,
    [a, b]: [&Opened; 2],
    comparison: &analysis::compare::Comparison,
    output: &Output,
) -> Result<(), Failure> {
    if arguments.json {
        let titles = [a.title(), b.title()];
        return output.json(&json!({
            "format": 1, "a": a.name, "b": b.name, "titles": titles, "comparison": comparison,
        }));
    }
    let text = match arguments.full {
        true => terminal::compare(comparison, output.style()),
        false => terminal::compare_short(comparison, output.style()),
    };
    let (headline, rest) = text.split_once('\n').unwrap_or((&text, ""));
    output.print(&format!("{headline}\n\n{}{rest}", heading(a, b)))
}

/// A line for each side: its name, its title where the sides are of two scenarios, and its answer.
fn heading(a: &Opened, b: &Opened) -> String {
    let line = |side: &str, of: &Opened| {
        let title = if a.title() == b.title() { "" } else { of.title() };
        let answer = of.document().headline.as_ref().map_or("", |own| &own.text);
        let parts = [&of.name, title, answer].into_iter().filter(|part| !part.is_empty());
        format!("{side}: {}\n", parts.collect::<Vec<_>>().join(": "))
    };
    line("a", a) + &line("b", b)
}

/// Compares two sweeps, point by point.
fn sweeps(arguments: &CompareArguments, output: &Output) -> Result<(), Failure> {
    // Checks come before the sweeps are read.
    if arguments.out.is_some() {
        return Err(Failure::Input(
            "no --out yet of two sweeps: their report.html show them".into(),
        ));
    }
    let wrong = |e: fullpipe::trace::Error| Failure::Input(e.to_string());
    let open = |path: &Path| Merged::open(&[path.to_path_buf()]).map_err(wrong);
    let (one, other) = (open(&arguments.a)?, open(&arguments.b)?);
    let (cells_a, cells_b) = (cells(&one).map_err(wrong)?, cells(&other).map_err(wrong)?);
    let scenario = apart(&one.manifest, &other.manifest);
    let comparison = Comparison { scenario, ..Comparison::new(&cells_a, &cells_b) };
    let (a, b) = (arguments.a.display().to_string(), arguments.b.display().to_string());
    match arguments.json {
        true => output.json(&json!({ "format": 1, "a": a, "b": b, "sweeps": comparison })),
        false => {
            let text = fullpipe::sweep::terminal::swept(&comparison, output.style());
            output.print(&format!("a: {a}\nb: {b}\n\n{text}"))
        }
    }?;

    // Without a common point the text is empty: that is an error.
    match comparison.pairs.is_empty() {
        true => {
            Err(Failure::Input("the sweeps have no point in common with a rate of both".into()))
        }
        false => Ok(()),
    }
}
