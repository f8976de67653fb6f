//! Built kernels: `kernels/<version>-hz<HZ>-<hash>/` in the user's cache, with the kernel, its
//! description and its log.
//!
//! A kernel is built under a hidden name and renamed when whole; the next build removes leftovers of killed ones. One
//! build at a time holds the lock.

use super::record::Record;
use super::watch::{Step, Watch};
use super::{Contents, Error, Family, Hz, Wanted};
use fullpipe_trace::stale;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Name of the kernel in its directory.
pub const KERNEL: &str = "linux";
/// Name of the log in the kernel's directory.
pub const LOG: &str = "build.log";
/// File with the lock that a build holds; it contains the builder's process number.
const LOCK: &str = ".lock";

/// Where kernels are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    directory: PathBuf,
}

/// A kernel in the cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its directory.
    pub directory: PathBuf,
    /// Its series.
    pub family: Family,
    /// Its HZ.
    pub hz: Hz,
    /// Contents of the kernel.
    pub contents: Contents,
    /// Hash of its configuration and changes.
    pub hash: String,
    /// Its description, or its damage.
    pub record: Result<Record, Error>,
}

impl Entry {
    /// The program that is the kernel.
    pub fn kernel(&self) -> PathBuf {
        self.directory.join(KERNEL)
    }

    /// Whether this version of fullpipe would build the same, and it is whole.
    pub fn is_current(&self) -> bool {
        let wanted = Wanted { family: self.family, hz: self.hz, contents: self.contents };
        self.record.is_ok() && wanted.hash() == self.hash
    }

    fn order(&self) -> (Family, Contents, Hz, &str) {
        (self.family, self.contents, self.hz, &self.hash)
    }

    /// Reads the contents of `directory`; none if it does not have a kernel's name.
    fn read(directory: PathBuf) -> Option<Entry> {
        let (wanted, hash) = Wanted::read(directory.file_name()?.to_str()?)?;
        let (Wanted { family, hz, contents }, hash) = (wanted, hash.to_owned());
        let whole = directory.join(KERNEL).is_file();
        let record = match whole {
            true => Record::read(&directory),
            false => Err(Error::at(&directory, "has no kernel")),
        };
        Some(Entry { directory, family, hz, contents, hash, record })
    }
}

impl Cache {
    /// The user's: in `$FULLPIPE_CACHE`, else `$XDG_CACHE_HOME/fullpipe`, else `~/.cache/fullpipe`.
    ///
    /// # Errors
    /// None of the three variables is set.
    pub fn of_user() -> Result<Cache, Error> {
        let root = root(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
        root.map(|root| Cache::at(&root)).ok_or_else(|| {
            Error::new("there is no place for kernels: HOME is not set")
                .hint("name a directory in FULLPIPE_CACHE")
        })
    }

    /// In the cache directory `root`.
    pub fn at(root: &Path) -> Cache {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        Cache { directory: root.join("kernels") }
    }

    /// Where kernels are; it need not exist.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// All kernels by name, also damaged ones and those of other versions of fullpipe.
    pub fn list(&self) -> Vec<Entry> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut entries: Vec<Entry> =
            entries.filter_map(|entry| Entry::read(entry.path())).collect();
        entries.sort_by(|a, b| a.order().cmp(&b.order()));
        entries
    }

    /// The kernel that is wanted, if it is there and whole.
    pub fn find(&self, wanted: &Wanted) -> Option<Entry> {
        Entry::read(self.directory.join(wanted.name())).filter(|entry| entry.record.is_ok())
    }

    /// Removes a kernel. Runs that use it continue.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self, entry: &Entry) -> Result<(), Error> {
        let failed = |e| Error::at(&entry.directory, format!("cannot be removed: {e}"));
        let hidden = self.directory.join(stale::hidden_name("removed"));
        // No reader finds half a kernel.
        fs::rename(&entry.directory, &hidden).map_err(failed)?;
        fs::remove_dir_all(&hidden).map_err(failed)
    }

    /// Makes the directory and waits until no other process builds; removes leftovers of killed builds. The lock ends
    /// when the file is closed.
    ///
    /// # Errors
    /// It cannot be written, or `watch` stopped the build.
    pub(super) fn lock<W: Watch + ?Sized>(&self, watch: &mut W) -> Result<File, Error> {
        let advice = "name another directory in FULLPIPE_CACHE";
        let failed = |e| Error::at(&self.directory, format!("cannot be written: {e}")).hint(advice);
        fs::create_dir_all(&self.directory).map_err(failed)?;
        let path = self.directory.join(LOCK);
        let options =
            File::options().create(true).truncate(false).read(true).write(true).open(&path);
        let mut file = options.map_err(failed)?;
        let mut is_reported = false;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if watch.stopped() => return Err(Error::Stopped),
                Err(TryLockError::WouldBlock) => {
                    if !std::mem::replace(&mut is_reported, true) {
                        watch.step(&Step::Waiting(builder(&path)));
                    }
                    sleep(Duration::from_millis(200));
                }
                // Without locks no other build can be waited for.
                Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => break,
                Err(TryLockError::Error(e)) => return Err(failed(e)),
            }
        }

        // The file names the process that builds, for those who wait for it.
        let number = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        number.map_err(failed)?;
        stale::sweep(&self.directory, None, stale::is_directory);
        Ok(file)
    }

    /// Makes the hidden directory in which a kernel is built.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn begin(&self, wanted: &Wanted) -> Result<Place, Error> {
        let hidden = self.directory.join(stale::hidden_name(&wanted.name()));
        fs::create_dir(&hidden).map_err(|e| Error::at(&hidden, format!("cannot be made: {e}")))?;
        let lock = stale::lock(&hidden);
        let target = self.directory.join(wanted.name());
        Ok(Place { hidden, target, _lock: lock })
    }
}

/// The cache directory, by the value of `variable`.
fn root(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = variable("FULLPIPE_CACHE").map(PathBuf::from);
    named
        .or_else(|| Some(PathBuf::from(variable("XDG_CACHE_HOME")?).join("fullpipe")))
        .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache/fullpipe")))
}

/// Process number of the lock's holder.
fn builder(path: &Path) -> Option<u32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// A kernel that is being built; its files are removed when this is dropped.
pub(super) struct Place {
    hidden: PathBuf,
    target: PathBuf,
    /// Lock that shows other processes that the directory is no leftover.
    _lock: Option<File>,
}

impl Place {
    /// Where to build.
    pub fn directory(&self) -> &Path {
        &self.hidden
    }

    /// Keeps the log of a build that failed; where it is.
    pub fn keep_log(&self) -> PathBuf {
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let kept = self.target.with_file_name(format!("{name}.log"));
        // The message shows the last lines in any case.
        let _ = fs::copy(self.hidden.join(LOG), &kept);
        kept
    }

    /// Makes a kernel of `ready`, a directory inside, in place of one that is there.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn finish(&self, ready: &Path) -> Result<Entry, Error> {
        let failed = |e| Error::at(&self.target, format!("cannot be made: {e}"));
        match fs::rename(&self.target, self.hidden.join("before")) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
        fs::rename(ready, &self.target).map_err(failed)?;
        let entry = Entry::read(self.target.clone());
        entry.ok_or_else(|| Error::at(&self.target, "has no kernel"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The next start removes leftovers of this removal.
        let _ = fs::remove_dir_all(&self.hidden);
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
