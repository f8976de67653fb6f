//! Reading run directories.

use super::{LATEST, RESOLVED, SUMMARY};
use crate::analysis::document::{Document, FORMAT};
use crate::trace::folders::folders;
use crate::trace::recording::Recording;
use crate::trace::{Error, table};
use std::fs;
use std::path::{Path, PathBuf};

/// A run directory on disk. Traces are read when asked for.
#[derive(Clone, Debug)]
pub struct RunDir {
    /// Where it is.
    pub path: PathBuf,
    /// Results of its runs.
    pub document: Document,
}

/// Opens a run directory.
///
/// # Errors
/// It is missing, not a run directory, damaged, or of a format this program does not know.
pub fn open(path: &Path) -> Result<RunDir, Error> {
    let summary = path.join(SUMMARY);
    let text = match fs::read_to_string(&summary) {
        Ok(text) => text,
        Err(e) => return Err(no_summary(path, &e)),
    };
    let damaged = |what: &str| Error::new(&summary, what).hint("run the scenario again");
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| damaged(&format!("damaged: {e}")))?;

    // The format is checked first: other formats have other fields.
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => {
            let what = format!("has format {format}, where this program knows {FORMAT}");
            return Err(
                Error::new(&summary, what).hint("use the version of fullpipe that wrote it")
            );
        }
        None => return Err(damaged("damaged: it names no format")),
    }
    let document = serde_json::from_value(value).map_err(|e| damaged(&format!("damaged: {e}")))?;
    Ok(RunDir { path: path.to_path_buf(), document })
}

fn no_summary(path: &Path, error: &std::io::Error) -> Error {
    let latest = path.join(LATEST);
    match path.metadata() {
        Err(e) => Error::new(path, format!("cannot be opened: {e}"))
            .hint("name a directory that `fullpipe run` has written"),
        Ok(m) if !m.is_dir() => Error::new(path, "is not a directory")
            .hint("name a directory that `fullpipe run` has written"),
        Ok(_) if latest.join(SUMMARY).exists() => Error::new(path, "holds several run directories")
            .hint(format!("name one of them, for instance {}", latest.display())),
        Ok(_) => Error::new(&path.join(SUMMARY), format!("cannot be read: {error}"))
            .hint("name a directory that `fullpipe run` has written"),
    }
}

impl RunDir {
    /// The folder of a run by its place in the document.
    pub fn folder(&self, index: usize) -> Option<PathBuf> {
        let names: Vec<String> = self.document.runs.iter().map(|run| run.variant.clone()).collect();
        let folder = folders(&names).into_iter().nth(index)?;
        Some(self.path.join(folder))
    }

    /// Reads the trace of a run.
    ///
    /// # Errors
    /// There is no such run, or a table is missing or damaged.
    pub fn recording(&self, index: usize) -> Result<Recording, Error> {
        table::read_all(&self.existing(index)?)
    }

    /// Reads the complete scenario of a run, TOML.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub fn resolved(&self, index: usize) -> Result<String, Error> {
        let path = self.existing(index)?.join(RESOLVED);
        fs::read_to_string(&path).map_err(|e| Error::new(&path, format!("cannot be read: {e}")))
    }

    fn existing(&self, index: usize) -> Result<PathBuf, Error> {
        self.folder(index)
            .ok_or_else(|| Error::new(&self.path, format!("has no run number {index}")))
    }
}
