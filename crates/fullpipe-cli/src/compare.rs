//! `fullpipe compare`: two results beside each other.

use crate::args::CompareArguments;
use crate::failure::Failure;
use crate::output::{Output, note};
use fullpipe::analysis;
use fullpipe::analysis::compare::{Side, compare as beside, flatten};
use fullpipe::report::{html, terminal};
use fullpipe::trace::rundir::{self, RunDir};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// A result with its scenarios.
struct Opened {
    results: RunDir,
    settings: Vec<BTreeMap<String, String>>,
}

/// Reads both and prints what differs.
pub fn compare(arguments: &CompareArguments, output: &Output) -> Result<(), Failure> {
    let (a, b) = (Opened::new(&arguments.a)?, Opened::new(&arguments.b)?);
    let comparison = beside(&a.side(), &b.side());
    if let Some(file) = &arguments.out {
        let merged = analysis::merged(a.side().document, b.side().document, &comparison);
        std::fs::write(file, html::render(&merged))
            .map_err(|e| Failure::environment(format!("cannot write {}", file.display()), e))?;
        note(&format!("report: {}", file.display()));
    }
    let (a, b) = (arguments.a.display().to_string(), arguments.b.display().to_string());
    if !arguments.json {
        let text = terminal::compare(&comparison, output.style());
        return output.print(&format!("a: {a}\nb: {b}\n\n{text}"));
    }
    output.json(&json!({ "format": 1, "a": a, "b": b, "comparison": comparison }))
}

impl Opened {
    fn new(path: &Path) -> Result<Opened, Failure> {
        let results = rundir::open(path).map_err(|e| Failure::Input(e.to_string()))?;
        let indices = 0..results.document.runs.len();
        let settings = indices.map(|index| settings(&results, index)).collect::<Result<_, _>>()?;
        Ok(Opened { results, settings })
    }

    fn side(&self) -> Side<'_> {
        Side { document: &self.results.document, settings: &self.settings }
    }
}

fn settings(results: &RunDir, index: usize) -> Result<BTreeMap<String, String>, Failure> {
    let text = results.resolved(index).map_err(|e| Failure::Input(e.to_string()))?;
    flatten(&text).map_err(|why| {
        let folder = results.folder(index).unwrap_or_default();
        Failure::Input(format!("{}: the scenario is damaged: {why}", folder.display()))
    })
}
