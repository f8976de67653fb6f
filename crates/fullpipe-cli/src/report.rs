//! `fullpipe report`: an earlier result again, as text and as HTML.

use crate::args::ReportArguments;
use crate::failure::Failure;
use crate::output::{Output, note};
use fullpipe::report::{html, terminal};
use fullpipe::trace::rundir::{self, REPORT};

/// Reads the result, writes the HTML file, prints the text.
pub fn report(arguments: &ReportArguments, output: &Output) -> Result<(), Failure> {
    let results = rundir::open(&arguments.dir).map_err(|e| Failure::Input(e.to_string()))?;
    let page = html::render(&results.document);
    let file = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(REPORT));
    std::fs::write(&file, page)
        .map_err(|e| Failure::environment(format!("cannot write {}", file.display()), e))?;
    note(&format!("report: {}", file.display()));
    output.print(&terminal::render(&results.document, output.style()))
}
