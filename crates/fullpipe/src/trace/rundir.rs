//! Run directories: one per experiment, written whole or not at all, never overwritten.
//!
//! ```text
//! fullpipe-results/
//!   latest -> fink-2007-2           newest, by a link
//!   fink-2007/  fink-2007-2/        one per experiment
//!     summary.json                  the document of all runs
//!     run.json                      when, where and with what it was made
//!     report.html                   the report
//!     cubic-initial_ssthresh-100/   one per run, named after its variant
//!       scenario.resolved.toml  flows.parquet  stages.parquet  events.parquet  intervals.csv
//! ```
//! [`Place::check`] comes before the first run, [`Place::create`] when results begin to exist,
//! [`Writer::run`] once per finished run in any order, [`Writer::finish`] at the end. Until then
//! everything lies in a hidden directory beside the final one; a writer that is dropped removes it.

use super::error::Error;
use super::provenance::Provenance;
use super::recording::Recording;
use super::{csv, table};
use crate::analysis::document::{Document, FORMAT, Run};
use std::collections::HashSet;
use std::fs;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

const SUMMARY: &str = "summary.json";
const PROVENANCE: &str = "run.json";
/// Name of the report in a run directory.
pub const REPORT: &str = "report.html";
const RESOLVED: &str = "scenario.resolved.toml";
const INTERVALS: &str = "intervals.csv";
const LATEST: &str = "latest";

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `root/name`, or where that exists the next of `root/name-2`, `root/name-3` ...;
    /// `root/latest` points to the newest.
    Under {
        /// The results' common directory; it is made where it does not exist.
        root: PathBuf,
        /// Name of the experiment; characters that do not suit a file name become "-".
        name: String,
    },
    /// Exactly this directory; it must not exist yet, or be empty.
    Exactly(PathBuf),
}

impl Place {
    /// Whether results can be written here, by making and removing an empty directory.
    ///
    /// # Errors
    /// They cannot: no permission, no such file system, a file in the way, results in the way.
    pub fn check(&self) -> Result<(), Error> {
        let writer = self.create()?;
        let made = writer.made.clone();
        drop(writer);
        for directory in made.iter().rev() {
            // Another program may have put something there meanwhile: then it stays.
            let _ = fs::remove_dir(directory);
        }
        Ok(())
    }

    /// Makes the hidden directory in which results are collected.
    ///
    /// # Errors
    /// As [`Place::check`].
    pub fn create(&self) -> Result<Writer, Error> {
        if let Place::Exactly(path) = self {
            refuse_results(path)?;
        }
        let (parent, name) = self.parts()?;
        let made = make_parents(&parent)?;
        let hidden = parent.join(format!(".{name}.{}.tmp", std::process::id()));
        let directory = free(&hidden, |path| fs::create_dir(path)).map_err(|e| {
            Error::new(&parent, format!("cannot make a directory in it: {e}"))
                .hint("choose another directory with --out, or change its permissions")
        })?;
        Ok(Writer { place: self.clone(), parent, name, directory, made, finished: false })
    }

    fn parts(&self) -> Result<(PathBuf, String), Error> {
        match self {
            Place::Under { root, name } => Ok((root.clone(), folder(name))),
            Place::Exactly(path) => {
                let name = path.file_name().ok_or_else(|| {
                    Error::new(path, "has no name of its own").hint("name a new directory")
                })?;
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let parent = parent.unwrap_or(Path::new(".")).to_path_buf();
                Ok((parent, name.to_string_lossy().into_owned()))
            }
        }
    }
}

/// An existing path may only be an empty directory.
fn refuse_results(path: &Path) -> Result<(), Error> {
    let busy = |what: &str| {
        Err(Error::new(path, what).hint("results are never overwritten: choose another name"))
    };
    match fs::read_dir(path).map(|mut entries| entries.next()) {
        Ok(None) => Ok(()),
        Ok(_) => busy("is there already and not empty"),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        Err(e) if e.kind() == ErrorKind::NotADirectory => busy("is not a directory"),
        Err(e) => Err(Error::new(path, format!("cannot be looked into: {e}"))),
    }
}

/// Makes `path` and what is missing above it; returns what was made, outermost first.
fn make_parents(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let missing = path.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
    missing.reverse();
    for directory in &missing {
        match fs::create_dir(directory) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => {
                return Err(Error::new(directory, format!("cannot be made: {e}"))
                    .hint("choose another directory with --out"));
            }
            _ => {}
        }
    }
    Ok(missing)
}

/// Does `make` with `path` or, where that exists, with the next free of `path-2`, `path-3` ...
fn free(
    path: &Path,
    mut make: impl FnMut(&Path) -> std::io::Result<()>,
) -> std::io::Result<PathBuf> {
    for number in 1_u32.. {
        let mut candidate = path.as_os_str().to_os_string();
        if number > 1 {
            candidate.push(format!("-{number}"));
        }
        let candidate = PathBuf::from(candidate);
        match make(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(e) if taken(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn taken(error: &std::io::Error) -> bool {
    let kinds = [ErrorKind::AlreadyExists, ErrorKind::DirectoryNotEmpty, ErrorKind::NotADirectory];
    kinds.contains(&error.kind())
}

/// Collects the results of an experiment.
#[derive(Debug)]
pub struct Writer {
    place: Place,
    parent: PathBuf,
    name: String,
    directory: PathBuf,
    made: Vec<PathBuf>,
    finished: bool,
}

impl Writer {
    /// The hidden directory; it vanishes when the writer is dropped, unless [`Writer::finish`] has
    /// given it its final name.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes the traces and intervals of one run. `index` is its place in the document, `names`
    /// are the variants of all its runs; `resolved` is the complete scenario as TOML.
    ///
    /// # Errors
    /// A file cannot be written; an `index` beyond `names`.
    pub fn run(
        &self,
        index: usize,
        names: &[String],
        run: &Run,
        resolved: &str,
        recording: &Recording,
    ) -> Result<(), Error> {
        let folder = folders(names).into_iter().nth(index);
        let folder = folder.ok_or_else(|| Error::new(&self.directory, "has no such run"))?;
        let directory = self.directory.join(folder);
        fs::create_dir(&directory).map_err(|e| cannot_write(&directory, &e))?;
        write_text(&directory.join(RESOLVED), resolved)?;
        let flows: Vec<String> = run.flows.iter().map(|flow| flow.name.clone()).collect();
        table::write_all(&directory, recording, &flows)?;
        let path = directory.join(INTERVALS);
        let file = fs::File::create(&path).map_err(|e| cannot_write(&path, &e))?;
        csv::write_intervals(BufWriter::new(file), run)
            .map_err(|e| Error::new(&path, format!("cannot be written: {e}")))
    }

    /// Writes the document, `run.json` and the report, and gives the directory its final name,
    /// which it returns.
    ///
    /// # Errors
    /// A file cannot be written, or the final name was taken meanwhile. What was collected then
    /// stays in the hidden directory that the error names.
    pub fn finish(
        mut self,
        document: &Document,
        provenance: &Provenance,
        report: &str,
    ) -> Result<PathBuf, Error> {
        self.finished = true;
        write_text(&self.directory.join(SUMMARY), &to_json(document))?;
        write_text(&self.directory.join(PROVENANCE), &to_json(provenance))?;
        write_text(&self.directory.join(REPORT), report)?;
        let moved = self.rename().map_err(|e| {
            Error::new(&self.directory, format!("cannot be given its final name: {e}"))
                .hint("the results are in it: move it yourself")
        })?;
        if let Place::Under { root, .. } = &self.place {
            point_latest(root, &moved)?;
        }
        Ok(moved)
    }

    fn rename(&self) -> std::io::Result<PathBuf> {
        let target = self.parent.join(&self.name);
        if let Place::Exactly(path) = &self.place {
            fs::rename(&self.directory, path)?;
            return Ok(path.clone());
        }
        free(&target, |path| match path.symlink_metadata() {
            Ok(_) => Err(ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(&self.directory, path),
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.finished {
            // Nothing was promised yet, and there is nobody to tell.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// JSON with a line end. Floats are written so that they read back equal.
fn to_json(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("plain structures become JSON");
    text + "\n"
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    let write = || fs::File::create(path)?.write_all(text.as_bytes());
    write().map_err(|e| cannot_write(path, &e))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::new(path, format!("cannot be written: {error}"))
}

/// Replaces `root/latest` by a link to `directory`, in one step.
#[cfg(unix)]
fn point_latest(root: &Path, directory: &Path) -> Result<(), Error> {
    let link = root.join(LATEST);
    if link.symlink_metadata().is_ok_and(|m| !m.is_symlink()) {
        return Err(Error::new(&link, "is in the way of the link to the newest results")
            .hint(format!("move it; the results are in {}", directory.display())));
    }
    let new = root.join(format!(".{LATEST}.{}.tmp", std::process::id()));
    let name = directory.file_name().unwrap_or_default();
    let replace = || {
        std::os::unix::fs::symlink(name, &new)?;
        fs::rename(&new, &link)
    };
    replace().map_err(|e| Error::new(&link, format!("cannot be made: {e}")))
}

/// Folder names of runs, unique, in the runs' order.
pub fn folders(names: &[String]) -> Vec<String> {
    let mut used = HashSet::new();
    let unique = |name: &String| {
        let base = folder(name);
        let numbered = (2_u32..).map(|number| format!("{base}-{number}"));
        let mut candidates = std::iter::once(base.clone()).chain(numbered);
        let free = candidates.find(|candidate| used.insert(candidate.to_lowercase()));
        free.unwrap_or(base)
    };
    names.iter().map(unique).collect()
}

/// Longest folder name made from a name; file systems allow 255 bytes.
const LONGEST: usize = 100;

/// A name for a folder: letters, digits, "." "_" "=" and single "-" within.
fn folder(name: &str) -> String {
    let mut folder = String::new();
    for c in name.chars().take(LONGEST) {
        match c {
            c if c.is_ascii_alphanumeric() || "._=".contains(c) => folder.push(c),
            _ if folder.ends_with('-') => {}
            _ => folder.push('-'),
        }
    }
    let folder = folder.trim_matches(['-', '.']);
    match folder {
        "" => "run".into(),
        LATEST => "latest-run".into(),
        folder => folder.into(),
    }
}

/// A run directory on disk. Traces are read when asked for.
#[derive(Clone, Debug)]
pub struct RunDir {
    /// Where it is.
    pub path: PathBuf,
    /// What its runs ended in.
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
        let none = || Error::new(&self.path, format!("has no run number {index}"));
        self.folder(index).ok_or_else(none)
    }
}
