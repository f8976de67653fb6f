//! Collecting the results of an experiment.

use super::super::provenance::Provenance;
use super::super::{intervals, json};
use super::place::{Made, Place};
use super::{INTERVALS, LATEST, PROVENANCE, REPORT, RESOLVED, SUMMARY, rescue};
use crate::analysis::document::{Document, Run};
use crate::trace::folders::folders;
use crate::trace::recording::Recording;
use crate::trace::{Error, stale, table};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Collects the results of an experiment. Several threads may add runs.
#[derive(Debug)]
pub struct Writer {
    place: Place,
    target: PathBuf,
    directory: PathBuf,
    made: Made,
    /// Folders of the runs until they get their names, by variant.
    collected: Mutex<BTreeMap<String, PathBuf>>,
    /// Folders that were begun.
    begun: AtomicUsize,
    finished: bool,
    /// See [`crate::trace::stale`].
    _lock: Option<fs::File>,
}

impl Writer {
    /// A writer that collects in `directory`, to become `target`.
    pub(super) fn new(place: Place, target: PathBuf, directory: PathBuf, made: Made) -> Writer {
        let (collected, _lock) = (Mutex::default(), stale::lock(&directory));
        let begun = AtomicUsize::new(0);
        Writer { place, target, directory, made, collected, begun, finished: false, _lock }
    }

    /// The hidden directory. It vanishes when the writer is dropped, unless [`Writer::finish`] has
    /// given it its final name.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes the trace and the intervals of one run; `resolved` is its complete scenario, TOML, where it has one. Of a
    /// run that cannot be written nothing stays.
    ///
    /// # Errors
    /// A file cannot be written, or a run of this name was written before.
    pub fn run(
        &self,
        run: &Run,
        resolved: Option<&str>,
        recording: &Recording,
    ) -> Result<(), Error> {
        let directory = self.reserve(&run.variant)?;
        let written = write_run(&directory, run, resolved, recording);
        written.inspect_err(|_| self.forget(&run.variant))
    }

    /// Removes the written files of a run.
    pub fn forget(&self, variant: &str) {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = collected.remove(variant) {
            // There is no caller to report to.
            let _ = fs::remove_dir_all(directory);
        }
    }

    /// A new name for a file that grows while a run does, to be taken by [`Writer::take`].
    pub fn growing(&self) -> PathBuf {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        self.directory.join(format!(".{number}.tmp"))
    }

    /// Takes a file into the folder of a run that was written, under this name; the folder.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be moved.
    pub fn take(&self, variant: &str, file: &Path, name: &str) -> Result<PathBuf, Error> {
        let collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = collected
            .get(variant)
            .ok_or_else(|| Error::new(&self.directory, format!("has no run \"{variant}\"")))?;
        let to = folder.join(name);
        fs::rename(file, &to).map_err(|e| cannot_write(&to, &e))?;
        Ok(folder.clone())
    }

    fn reserve(&self, variant: &str) -> Result<PathBuf, Error> {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = collected.get(variant) {
            return Err(Error::new(first, format!("a second run is named \"{variant}\"")));
        }
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let folder = self.directory.join(format!(".{number}"));
        collected.insert(variant.into(), folder.clone());
        Ok(folder)
    }

    /// Writes the document, `run.json` and the report, if there is one, and gives the directory its final name, which it returns.
    ///
    /// # Errors
    /// A file cannot be written, a run is missing from the document, or the final name was taken meanwhile. Whatever
    /// could be written is kept, and the error names the directory. Its name ends in ".incomplete" where the document
    /// could not be written. It is the next free name where another run has taken the final one.
    pub fn finish(
        mut self,
        document: &Document,
        provenance: &Provenance,
        report: Option<&str>,
    ) -> Result<PathBuf, Error> {
        self.finished = true;
        // The document is written first: a directory that has one is no leftover.
        if let Err(why) = write_json(&self.directory.join(SUMMARY), document) {
            return Err(why.hint(self.keep_tables(document)));
        }

        // A failure of the rest does not stop the others.
        let rest = [
            self.name_folders(document),
            write_json(&self.directory.join(PROVENANCE), provenance),
            report.map_or(Ok(()), |own| write_text(&self.directory.join(REPORT), own)),
        ];

        // The name precedes errors, which can then say where the results are.
        let moved = rescue::give_name(&self.directory, &self.place, &self.target)?;
        for written in rest {
            let there = format!("the results are in {} without it", moved.display());
            written.map_err(|why| why.hint(there))?;
        }

        // `latest` points to whole results only.
        if let Place::Under { root, .. } = &self.place {
            point_latest(root, &moved)?;
        }
        Ok(moved)
    }

    /// Keeps the tables of finished runs after the document could not be written. Returns a clause that says where they are.
    fn keep_tables(&mut self, document: &Document) -> String {
        let any = !self.collected.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        self.finished = any;
        if !any {
            return "no file of the result is left".into();
        }
        // A folder that cannot be named keeps its number.
        let _ = self.name_folders(document);
        let kept = rescue::incomplete(&self.directory, &self.target);
        format!("the tables of the runs are in {}", kept.display())
    }

    /// Names the folders of the document's runs.
    fn name_folders(&self, document: &Document) -> Result<(), Error> {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        let names: Vec<String> = document.runs.iter().map(|run| run.variant.clone()).collect();

        // Runs that failed have no folder.
        for (name, folder) in names.iter().zip(folders(&names)) {
            if let Some(from) = collected.remove(name) {
                let to = self.directory.join(folder);
                fs::rename(from, &to).map_err(|e| cannot_write(&to, &e))?;
            }
        }

        // A folder that no run claims would be lost silently.
        match collected.first_key_value() {
            None => Ok(()),
            Some((name, folder)) => {
                Err(Error::new(folder, format!("the run \"{name}\" is not in the document")))
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.finished {
            // Nothing was promised yet, and there is no caller to report to.
            let _ = fs::remove_dir_all(&self.directory);
            self.made.remove();
        }
    }
}

/// Writes the files of [`Writer::run`] into a new `directory`.
fn write_run(
    directory: &Path,
    run: &Run,
    resolved: Option<&str>,
    recording: &Recording,
) -> Result<(), Error> {
    fs::create_dir(directory).map_err(|e| cannot_write(directory, &e))?;
    if let Some(resolved) = resolved {
        write_text(&directory.join(RESOLVED), resolved)?;
    }
    let flows: Vec<String> = run.flows.iter().map(|flow| flow.name.clone()).collect();
    table::write_all(directory, recording, &flows)?;
    let path = directory.join(INTERVALS);
    let file = fs::File::create(&path).map_err(|e| cannot_write(&path, &e))?;
    intervals::write(BufWriter::new(file), run).map_err(|e| cannot_write(&path, &e))
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Error> {
    let write = || {
        let mut file = BufWriter::new(fs::File::create(path)?);
        json::write(&mut file, value)?;
        file.flush()
    };
    write().map_err(|e: std::io::Error| without_part(path, &e))
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    let written = fs::File::create(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|e| without_part(path, &e))
}

/// Removes a file that was written in part, so that no reader takes it for the whole.
fn without_part(path: &Path, error: &std::io::Error) -> Error {
    // Most often this works; else the message names the file.
    let _ = fs::remove_file(path);
    cannot_write(path, error)
}

fn cannot_write(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::new(path, format!("cannot be written: {error}"))
}

/// Replaces `root/latest` by a link to `directory`, in one step.
fn point_latest(root: &Path, directory: &Path) -> Result<(), Error> {
    let link = root.join(LATEST);
    let new = root.join(format!(".{LATEST}.{}.tmp", std::process::id()));
    let name = directory.file_name().unwrap_or_default();
    let replaced = std::os::unix::fs::symlink(name, &new).and_then(|()| fs::rename(&new, &link));
    replaced.map_err(|e| {
        Error::new(&link, format!("cannot point to the newest results: {e}"))
            .hint(format!("they are in {}", directory.display()))
    })
}
