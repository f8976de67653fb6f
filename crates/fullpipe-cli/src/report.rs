//! `fullpipe report`: an earlier result again, as text and as HTML; of a sweep its page.

use crate::advise::ADVICE;
use crate::args::ReportArguments;
use crate::failure::Failure;
use crate::new_file;
use crate::output::{Output, note};
use crate::sweep;
use crate::view;
use fullpipe::advice::page;
use fullpipe::report::{html, time_sequence};
use fullpipe::results::rundir::{self, REPORT, RunDir};
use fullpipe::trace::replace::{replace, unwritten};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Reads the result, writes the HTML file, prints the text.
pub fn report(arguments: &ReportArguments, output: &Output) -> Result<(), Failure> {
    // A sweep has another document, and makes its own page.
    if sweep::is_sweep(&arguments.dir) {
        return sweep::report(arguments);
    }
    let mut results = rundir::open(&arguments.dir).map_err(|e| Failure::Input(e.to_string()))?;

    // Another view needs the saved traces.
    if let Some(view) = arguments.view {
        view::judge_again(&mut results, view)?;
    }
    // The text first: it is there even where the page cannot be written.
    output.document(&results.document, arguments.extent.detail())?;

    // A page elsewhere must hold everything; one in place may link files beside it.
    let page = match &arguments.out {
        Some(_) => html::render(&results.document),
        None => {
            graphs(&results)?;
            html::render_in_place(&results.document, &advice(&arguments.dir)?)
        }
    };
    let file = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(REPORT));

    // The directory's own page is made anew, a named file is never overwritten.
    if arguments.out.is_some() && file.is_file() {
        return Err(new_file::taken(&file));
    }
    write(&file, &page)?;
    note(&format!("report: {}", file.display()));
    Ok(())
}

/// Section of the advice that the runs prove; empty where the results hold none.
fn advice(results: &Path) -> Result<String, Failure> {
    let file = results.join(ADVICE);
    let Ok(json) = fs::read_to_string(&file) else { return Ok(String::new()) };
    let advice = serde_json::from_str(&json)
        .map_err(|why| Failure::Input(format!("{}: {why}", file.display())))?;
    Ok(page::section(&advice))
}

/// Writes a page. An older one stays until the new one is whole; a device or a link is written to, not replaced.
fn write(file: &Path, page: &str) -> Result<(), Failure> {
    match file.symlink_metadata() {
        Ok(about) if !about.is_file() => fs::write(file, page).map_err(|e| unwritten(file, e)),
        _ => replace(file, |out| out.write_all(page.as_bytes()).map_err(|e| unwritten(file, e))),
    }?;
    Ok(())
}

/// Draws the time-sequence graphs of runs with kept packets.
fn graphs(results: &RunDir) -> Result<(), Failure> {
    let title = &results.document.scenario.title;
    for (index, run) in results.document.runs.iter().enumerate() {
        let Some(folder) = results.folder(index).filter(|_| run.packets.is_some()) else {
            continue;
        };
        let drawn = time_sequence::write(&folder, title, run);
        drawn.map_err(|e| Failure::Input(e.to_string()))?;
    }
    Ok(())
}
