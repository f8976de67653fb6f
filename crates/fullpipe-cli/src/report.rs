//! `fullpipe report`: an earlier result again, as text and as HTML; of a sweep its page.

use crate::args::ReportArguments;
use crate::failure::Failure;
use crate::output::{Output, note};
use crate::sweep;
use fullpipe::report::{html, time_sequence};
use fullpipe::trace::rundir::{self, REPORT, RunDir};

/// Reads the result, writes the HTML file, prints the text.
pub fn report(arguments: &ReportArguments, output: &Output) -> Result<(), Failure> {
    if sweep::is_sweep(&arguments.dir) {
        return sweep::report(arguments);
    }
    let results = rundir::open(&arguments.dir).map_err(|e| Failure::Input(e.to_string()))?;
    let page = match &arguments.out {
        Some(_) => html::render(&results.document),
        None => {
            graphs(&results)?;
            html::render_in_place(&results.document)
        }
    };
    let file = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(REPORT));
    std::fs::write(&file, page)
        .map_err(|e| Failure::environment(format!("cannot write {}", file.display()), e))?;
    note(&format!("report: {}", file.display()));
    output.document(&results.document, arguments.extent.detail())
}

/// Draws the time-sequence graphs of runs whose packets were kept.
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
