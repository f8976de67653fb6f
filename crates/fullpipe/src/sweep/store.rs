//! The directory of a sweep: the manifest, and a file of records for each shard, to which one process appends.

use super::manifest::{FILE, Manifest};
use super::record::Record;
use crate::trace::{Error, checksum, stale};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Part of a sweep: every `of`-th run, from the `number`-th on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// 1 to `of`.
    pub number: u64,
    /// Parts in all, at least 1.
    pub of: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Whether the run of that number is in it.
    pub fn has(self, run: u64) -> bool {
        run % self.of == self.number - 1
    }

    /// Name of its file.
    pub fn file(self) -> String {
        format!("{BEGINNING}-{}-of-{}{ENDING}", self.number, self.of)
    }
}

/// The file of a shard.
#[derive(Debug)]
struct Open {
    file: File,
    synced: Instant,
    /// Whether a line could not be written: no line may follow its beginning.
    broken: bool,
}

/// Time between two syncs of the file to the disk.
const SYNCED: Duration = Duration::from_secs(2);

impl Open {
    /// Appends a line, or nothing of it.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        // Lines behind a torn one would join it.
        if self.broken {
            return Err(io::Error::other("an earlier line could not be written"));
        }
        let end = self.file.seek(SeekFrom::End(0))?;
        if let Err(e) = self.file.write_all(line) {
            self.broken = true;
            // If this fails too, the next process that opens the file drops the torn line.
            let _ = self.file.set_len(end);
            return Err(e);
        }

        // Syncing each line would cost more than its run.
        if self.synced.elapsed() >= SYNCED {
            self.file.sync_data()?;
            self.synced = Instant::now();
        }
        Ok(())
    }
}

const BEGINNING: &str = "results";
const ENDING: &str = ".jsonl";

/// The file to which one process appends.
#[derive(Debug)]
pub struct Store {
    open: Mutex<Open>,
    path: PathBuf,
    done: BTreeSet<u64>,
    failed: BTreeSet<u64>,
}

impl Store {
    /// Opens the directory, which is made where there is none, for a shard of a sweep.
    ///
    /// # Errors
    /// It has another sweep or something else; another process works at the shard; it cannot be written; a record is damaged.
    pub fn open(directory: &Path, manifest: &Manifest, shard: Shard) -> Result<Store, Error> {
        prepare(directory, manifest)?;
        let path = directory.join(shard.file());
        let error = |what: io::Error| Error::new(&path, what);
        let options = OpenOptions::new().create(true).read(true).append(true).open(&path);
        let mut file = options.map_err(error)?;

        // Two processes would make the same runs twice.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(&path, "another process works at this part of the sweep")
                    .hint("wait for it, or share the runs with --shard I/N"));
            }
            // A file system without locks: who starts a part twice makes its runs twice, which merge finds.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }

        // A torn line would damage the next one.
        drop_torn(&mut file).map_err(error)?;
        let (mut done, mut failed) = (BTreeSet::new(), BTreeSet::new());

        // Records of other parts count as well: all share the directory.
        for file in files(directory)? {
            each(&file, |record, _| {
                match record.facts.is_some() {
                    true => done.insert(record.run),
                    false => failed.insert(record.run),
                };
            })?;
        }

        // A run that failed first and was made later is done.
        failed.retain(|run| !done.contains(run));
        let open = Mutex::new(Open { file, synced: Instant::now(), broken: false });
        Ok(Store { open, path, done, failed })
    }

    /// Runs of the whole sweep that are there.
    pub fn done(&self) -> &BTreeSet<u64> {
        &self.done
    }

    /// Runs that were tried and failed.
    pub fn failed(&self) -> &BTreeSet<u64> {
        &self.failed
    }

    /// Keeps a record at once.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn append(&self, record: &Record) -> Result<(), Error> {
        let mut line = serde_json::to_string(record).map_err(|e| Error::new(&self.path, e))?;
        line.push('\n');
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.append(line.as_bytes()).map_err(|e| {
            Error::new(&self.path, format!("cannot be written: {e}"))
                .hint("what is there is kept: make room and start the sweep again")
        })
    }
}

/// Makes the directory with its manifest, or checks that it has an equal manifest.
fn prepare(directory: &Path, manifest: &Manifest) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(|e| {
        let why = match e.kind() {
            ErrorKind::AlreadyExists => "is a file, and a directory is needed".into(),
            _ => format!("cannot be made: {e}"),
        };
        Error::new(directory, why).hint("choose another directory with --out")
    })?;
    let file = directory.join(FILE);

    // A new directory must be empty, but for hidden files.
    if !file.exists() {
        let mut entries = fs::read_dir(directory).map_err(|e| Error::new(directory, e))?;
        let is_foreign = |name: &str| !name.starts_with('.') && name != FILE;
        let has_foreign = entries
            .any(|entry| entry.is_ok_and(|entry| is_foreign(&entry.file_name().to_string_lossy())));

        // Another process may have published the manifest just now.
        if has_foreign && !file.exists() {
            return Err(Error::new(directory, "is there already and has no sweep")
                .hint("name a new directory with --out"));
        }
        publish(&file, manifest)?;
    }
    match Manifest::read(directory)?.difference(manifest) {
        None => Ok(()),
        Some(what) => Err(Error::new(directory, format!("has the results of {what}"))
            .hint("results are never mixed: name another directory with --out")),
    }
}

/// Writes the manifest under its name at once, unless another process was faster.
fn publish(file: &Path, manifest: &Manifest) -> Result<(), Error> {
    let hidden = file.with_file_name(stale::hidden_name(FILE));
    let text = serde_json::to_string_pretty(manifest).map_err(|e| Error::new(file, e))?;
    let written = File::create(&hidden)
        .and_then(|mut out| out.write_all((text + "\n").as_bytes()).and_then(|()| out.sync_all()))
        .and_then(|()| fs::hard_link(&hidden, file));
    let removed = fs::remove_file(&hidden);
    match written {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        written => {
            written.and(removed).map_err(|e| Error::new(file, format!("cannot be written: {e}")))
        }
    }
}

/// Takes away a last line without an end: the process that wrote it was killed, or its disk was full.
fn drop_torn(file: &mut File) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut end = length;
    let mut block = [0; 4096];

    // Blocks from the end: a file may be large, and its last line is short.
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    if end < length { file.set_len(end) } else { Ok(()) }
}

/// The files of records in a directory, by name.
///
/// # Errors
/// It cannot be read.
pub fn files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(directory).map_err(|e| Error::new(directory, e))?;
    let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut files: Vec<PathBuf> = paths
        .filter(|path| {
            name(path).is_some_and(|name| name.starts_with(BEGINNING) && name.ends_with(ENDING))
        })
        .collect();
    files.sort();
    Ok(files)
}

/// Place of a record in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its first byte.
    pub start: u64,
    /// Its bytes, without the end of the line.
    pub length: u32,
    /// Its checksum: equal runs have equal lines.
    pub digest: u64,
}

/// Passes each record of a file to `visit`, one at a time; a last line without an end is left out.
///
/// # Errors
/// It cannot be read, or a line that has an end is no record.
pub fn each(file: &Path, mut visit: impl FnMut(Record, Line)) -> Result<(), Error> {
    let opened = File::open(file).map_err(|e| Error::new(file, e))?;
    let mut reader = BufReader::with_capacity(1 << 16, opened);
    let (mut text, mut start, mut number) = (Vec::new(), 0_u64, 0_u64);
    loop {
        text.clear();
        let read = reader.read_until(b'\n', &mut text).map_err(|e| Error::new(file, e))?;
        number += 1;

        // The last line may be under way: another process writes it.
        let Some(line) = text.strip_suffix(b"\n") else { return Ok(()) };
        let record = serde_json::from_slice(line).map_err(|e| {
            Error::new(file, format!("line {number} is damaged: {e}"))
                .hint("take the line out; its run is made again")
        })?;
        let (length, digest) = (line.len() as u32, checksum::of(line));
        visit(record, Line { start, length, digest });
        start += read as u64;
    }
}

/// Reads a record again.
///
/// # Errors
/// The file has changed.
pub fn at(file: &mut File, path: &Path, line: Line) -> Result<Record, Error> {
    let mut text = vec![0; line.length as usize];
    let read = file.seek(SeekFrom::Start(line.start)).and_then(|_| file.read_exact(&mut text));
    read.map_err(|e| Error::new(path, e))?;
    serde_json::from_slice(&text).map_err(|e| Error::new(path, e))
}
