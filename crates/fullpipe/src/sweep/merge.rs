//! The records of a sweep from all its files, each run once.

use super::manifest::Manifest;
use super::record::Record;
use super::store::{self, Line};
use crate::trace::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Where the records of a sweep stand. Records themselves stay on disk: a million of them take 40 MB here.
#[derive(Debug)]
pub struct Merged {
    /// What the sweep is.
    pub manifest: Manifest,
    files: Vec<PathBuf>,
    /// By run.
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
        let mut entries = Vec::new();
        for (number, file) in files.iter().enumerate() {
            store::each(file, |record, line| {
                let id = u64::from_str_radix(&record.id, 16).unwrap_or(0);
                let (run, failed) = (record.run, record.facts.is_none());
                entries.push(Entry { run, id, line, file: number as u32, failed });
            })?;
        }
        // What came out counts before what failed; the rest is a matter of order.
        entries.sort_by_key(|entry| (entry.run, entry.failed));
        let all = entries.len();
        let other = entries
            .windows(2)
            .find(|pair| pair[0].run == pair[1].run && pair[0].id != pair[1].id && !pair[1].failed);
        if let Some(pair) = other {
            let what = format!("has another run {} than the other files", pair[1].run);
            return Err(Error::new(&files[pair[1].file as usize], what)
                .hint("it was changed, or made by another program: leave it out"));
        }
        entries.dedup_by_key(|entry| entry.run);
        let again = (all - entries.len()) as u64;
        Ok(Merged { manifest, files, entries, again })
    }

    /// Runs that are there, those that failed included.
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

    /// Tells each record, by run.
    ///
    /// # Errors
    /// A file has changed meanwhile, or what `tell` returns.
    pub fn each(&self, mut tell: impl FnMut(Record) -> Result<(), Error>) -> Result<(), Error> {
        let open = |path: &PathBuf| File::open(path).map_err(|e| Error::new(path, e));
        let mut opened = self.files.iter().map(open).collect::<Result<Vec<File>, Error>>()?;
        self.entries.iter().try_for_each(|entry| {
            let file = entry.file as usize;
            tell(store::at(&mut opened[file], &self.files[file], entry.line)?)
        })
    }
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
