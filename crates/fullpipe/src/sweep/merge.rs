//! The records of a sweep from all its files, each run once.

use super::manifest::Manifest;
use super::record::Record;
use super::sample::Sample;
use super::store::{self, Line};
use crate::trace::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Files that are open at one time.
const MOST_OPEN: usize = 256;

/// Places of a sweep's records. Records themselves stay on disk: a million of them take 40 MB here.
#[derive(Debug)]
pub struct Merged {
    /// Manifest of the sweep.
    pub manifest: Manifest,
    files: Vec<PathBuf>,
    /// Entries by run.
    entries: Vec<Entry>,
    /// Records of runs that are there already.
    pub again: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    run: u64,
    id: u64,
    line: Line,
    file: u32,
    failed: bool,
}

impl Merged {
    /// Finds the records of these directories.
    ///
    /// # Errors
    /// They are not of one sweep; a record is damaged, or two of one run have different scenarios.
    pub fn open(directories: &[PathBuf]) -> Result<Merged, Error> {
        let manifest = same(directories)?;
        let mut files = Vec::new();
        for directory in directories {
            files.extend(store::files(directory)?);
        }

        // Only places of records are kept: a sweep may exceed the memory.
        let mut entries = Vec::new();
        for (number, file) in files.iter().enumerate() {
            store::each(file, |record, line| {
                let id = u64::from_str_radix(&record.id, 16).unwrap_or(0);
                let (run, failed) = (record.run, record.facts.is_none());
                entries.push(Entry { run, id, line, file: number as u32, failed });
            })?;
        }
        // A result counts before a failure; the rest is a matter of order.
        entries.sort_by_key(|entry| (entry.run, entry.failed));
        let all = entries.len();

        // Two results of one run must be equal, byte for byte.
        let other = entries.windows(2).find(|pair| {
            let differ = pair[0].id != pair[1].id || pair[0].line.digest != pair[1].line.digest;
            pair[0].run == pair[1].run && differ && !pair[1].failed
        });
        if let Some(pair) = other {
            let [one, other] = [pair[0], pair[1]].map(|entry| {
                let file = &files[entry.file as usize];
                (file, number(file, entry.line))
            });
            let what = format!(
                "line {} has another result of run {} than line {} of {}",
                other.1,
                pair[1].run,
                one.1,
                one.0.display()
            );
            return Err(Error::new(other.0, what).hint(
                "one was changed, or made by another program: take both lines out, the run is made again",
            ));
        }

        // The first entry of each run stays: a result, if there is any.
        entries.dedup_by_key(|entry| entry.run);
        let again = (all - entries.len()) as u64;
        Ok(Merged { manifest, files, entries, again })
    }

    /// Number of recorded runs, failed ones included.
    pub fn runs(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Runs that failed.
    pub fn failed(&self) -> u64 {
        self.entries.iter().filter(|entry| entry.failed).count() as u64
    }

    /// Runs of the sweep that are not there.
    pub fn missing(&self) -> u64 {
        self.manifest.runs.saturating_sub(self.runs())
    }

    /// Runs at the points drawn that are not there; of all points where none are drawn.
    pub fn lacking(&self, sample: Option<&Sample>) -> u64 {
        let Some(sample) = sample else { return self.missing() };
        let there = self.entries.iter().filter(|entry| sample.has(entry.run)).count();
        sample.runs(self.manifest.runs).saturating_sub(there as u64)
    }

    /// Passes each record to `visit`, by run.
    ///
    /// # Errors
    /// A file has changed meanwhile, or the error of `visit`.
    pub fn each(&self, visit: impl FnMut(Record) -> Result<(), Error>) -> Result<(), Error> {
        self.each_of(self.entries.iter(), visit)
    }

    /// Passes `most` records after the first `start` to `visit`, by run.
    ///
    /// # Errors
    /// As [`Merged::each`].
    pub fn part(
        &self,
        start: usize,
        most: usize,
        visit: impl FnMut(Record) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.each_of(self.entries.iter().skip(start).take(most), visit)
    }

    /// The first `most` runs that failed.
    ///
    /// # Errors
    /// A file has changed meanwhile.
    pub fn failures(&self, most: usize) -> Result<Vec<Record>, Error> {
        let mut failures = Vec::new();
        self.each_of(self.entries.iter().filter(|entry| entry.failed).take(most), |record| {
            failures.push(record);
            Ok(())
        })?;
        Ok(failures)
    }

    /// Passes the records of these entries on.
    fn each_of<'a>(
        &self,
        mut entries: impl Iterator<Item = &'a Entry>,
        mut visit: impl FnMut(Record) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // Files stay open between records, up to a bound.
        let mut opened: Vec<Option<File>> = self.files.iter().map(|_| None).collect();
        let mut open = 0;
        entries.try_for_each(|entry| {
            let (number, path) = (entry.file as usize, &self.files[entry.file as usize]);

            // All are closed at the bound: records come in order, so few reopen.
            if opened[number].is_none() && open == MOST_OPEN {
                opened.fill_with(|| None);
                open = 0;
            }
            if opened[number].is_none() {
                opened[number] = Some(File::open(path).map_err(|e| Error::new(path, e))?);
                open += 1;
            }
            let Some(file) = &mut opened[number] else { return Ok(()) };
            visit(store::at(file, path, entry.line)?)
        })
    }
}

/// Which line of its file it is, from 1; 0 where that cannot be read any more.
fn number(file: &Path, line: Line) -> usize {
    let text = std::fs::read(file).unwrap_or_default();
    let before = text.get(..line.start as usize);
    before.map_or(0, |before| before.split(|byte| *byte == b'\n').count())
}

/// The manifest that all directories have.
fn same(directories: &[PathBuf]) -> Result<Manifest, Error> {
    let Some((first, others)) = directories.split_first() else {
        return Err(Error::new(Path::new("."), "no directory is named"));
    };
    let manifest = Manifest::read(first)?;
    for other in others {
        if let Some(what) = manifest.difference(&Manifest::read(other)?) {
            let what = format!("has the results of {what} than {}", first.display());
            return Err(Error::new(other, what).hint("only parts of one sweep can be merged"));
        }
    }
    Ok(manifest)
}
