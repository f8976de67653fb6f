//! A side of a comparison: a result directory, or one run of it, `DIR#VARIANT`.

use crate::failure::Failure;
use fullpipe::analysis::compare::{Side, flatten};
use fullpipe::analysis::document::Document;
use fullpipe::analysis::headline;
use fullpipe::results::rundir::{self, RunDir};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Separates a directory from the name of one of its runs.
const BEFORE_VARIANT: &str = "#";

/// A result, or one run of it, with the complete scenario of each run.
pub struct Opened {
    /// Name as the user wrote it.
    pub name: String,
    document: Document,
    settings: Vec<BTreeMap<String, String>>,
    /// Whether the user chose one run.
    chosen: bool,
}

impl Opened {
    /// Reads `DIR` or `DIR#VARIANT`.
    ///
    /// # Errors
    /// The directory holds no result, or the result has no such run; the message lists the runs that there are.
    pub fn new(named: &Path) -> Result<Opened, Failure> {
        let (directory, variant) = split(named);
        let results = rundir::open(&directory).map_err(|e| Failure::Input(e.to_string()))?;
        let indices = 0..results.document.runs.len();
        let settings = indices.map(|index| settings(&results, index)).collect::<Result<_, _>>()?;

        let mut opened = Opened {
            name: named.display().to_string(),
            document: results.document,
            settings,
            chosen: false,
        };

        // A chosen variant makes a result of one run.
        if let Some(variant) = variant {
            opened.choose(&directory, &variant)?;
        }
        Ok(opened)
    }

    fn choose(&mut self, directory: &Path, variant: &str) -> Result<(), Failure> {
        let runs = &self.document.runs;
        let Some(index) = runs.iter().position(|run| run.variant == variant) else {
            let has = self.runs_as_arguments(directory);
            let wrong = format!("{} has no run \"{variant}\"; it has:{has}", directory.display());
            return Err(Failure::Input(wrong));
        };

        // Parts of the document that speak of other runs go.
        self.document.runs = vec![self.document.runs.swap_remove(index)];
        self.settings = vec![self.settings.swap_remove(index)];
        self.document.comparisons.clear();
        self.document.missing.clear();
        self.document.partial = self.document.runs[0].partial;
        if self.document.headline.is_some() {
            self.document.headline = Some(headline::of_document(&self.document));
        }
        self.chosen = true;
        Ok(())
    }

    /// A line for each run, as an argument of `compare` names it.
    fn runs_as_arguments(&self, directory: &Path) -> String {
        let directory = directory.display();
        let variants = self.document.runs.iter().map(|run| &run.variant);
        variants.map(|variant| format!("\n       '{directory}{BEFORE_VARIANT}{variant}'")).collect()
    }

    /// The side for the comparison itself.
    pub fn side(&self) -> Side<'_> {
        Side { document: &self.document, settings: &self.settings }
    }

    /// The title of the scenario.
    pub fn title(&self) -> &str {
        &self.document.scenario.title
    }

    /// The results.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

/// Refuses to compare one run with several if none of them has its name.
///
/// # Errors
/// The message lists the runs of the side that has several.
pub fn check_pair(a: &Opened, b: &Opened) -> Result<(), Failure> {
    // Either side may name a run while the other has several.
    for (one, several) in [(a, b), (b, a)] {
        let Some(run) = one.document.runs.first().filter(|_| one.chosen) else { continue };
        let runs = &several.document.runs;
        if runs.len() > 1 && runs.iter().all(|other| other.variant != run.variant) {
            return Err(Failure::Input(format!(
                "{} has {} runs and none is \"{}\"; name one of them:{}",
                several.name,
                runs.len(),
                run.variant,
                several.runs_as_arguments(Path::new(&several.name))
            )));
        }
    }
    Ok(())
}

/// The directory, and the run if one is named. A directory that exists under the whole name has priority.
fn split(named: &Path) -> (PathBuf, Option<String>) {
    let whole = || (named.to_path_buf(), None);
    let Some(text) = named.to_str().filter(|_| !named.exists()) else { return whole() };

    let marks: Vec<usize> = text.match_indices(BEFORE_VARIANT).map(|(at, _)| at).collect();
    let of_directory = marks.iter().find(|at| Path::new(&text[..**at]).is_dir());
    let Some(at) = of_directory.or(marks.first()) else { return whole() };
    (PathBuf::from(&text[..*at]), Some(text[at + BEFORE_VARIANT.len()..].to_string()))
}

fn settings(results: &RunDir, index: usize) -> Result<BTreeMap<String, String>, Failure> {
    let text = results.resolved(index).map_err(|e| Failure::Input(e.to_string()))?;
    flatten(&text).map_err(|why| {
        let folder = results.folder(index).unwrap_or_default();
        Failure::Input(format!("{}: the scenario is damaged: {why}", folder.display()))
    })
}
