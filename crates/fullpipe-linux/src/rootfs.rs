//! The directory that is the guest's whole world: its init, its plan, its output.

use fullpipe_guest::boot;
use fullpipe_guest::plan::{self, Plan};
use fullpipe_trace::stale;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The guest's first process.
const INIT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fullpipe-init"));
/// Name that its leftovers bear, too.
const NAME: &str = "fullpipe-linux";

/// Numbers of directories that this process has tried. A thread that makes a directory holds the number until that is
/// locked.
static TRIED: Mutex<u32> = Mutex::new(1);

/// A guest's directory. It is removed when dropped; leftovers of a killed program are removed by the next one.
pub(super) struct RootFs {
    path: PathBuf,
    /// Holds the lock that says that it is in use.
    _lock: Option<File>,
}

impl RootFs {
    /// A new root directory in the system's directory for temporary files.
    pub(super) fn new(plan: &Plan) -> io::Result<RootFs> {
        RootFs::within(&std::env::temp_dir(), plan)
    }

    fn within(parent: &Path, plan: &Plan) -> io::Result<RootFs> {
        let rootfs = RootFs::empty(parent)?;
        for directory in boot::DIRECTORIES {
            fs::create_dir(rootfs.path.join(directory))?;
        }
        rootfs.write(boot::INIT, INIT, 0o755)?;
        rootfs.write(plan::FILE, &serde_json::to_vec(plan)?, 0o644)?;
        Ok(rootfs)
    }

    /// A new directory, with a free number. A directory of our process number may be another container's that shares
    /// `parent`, or a leftover that may not be removed.
    fn empty(parent: &Path) -> io::Result<RootFs> {
        let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);

        // Directories of killed runs are removed first, because they may fill the file system.
        stale::sweep(parent, Some(NAME), stale::is_directory);
        stale::sweep_own(parent, NAME);
        loop {
            *tried += 1;
            let path = parent.join(format!("{}-{tried}", stale::hidden_name(NAME)));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(RootFs { _lock: stale::lock(&path), path }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn write(&self, name: &str, contents: &[u8], mode: u32) -> io::Result<()> {
        let mut options = File::options();
        options.write(true).create_new(true).mode(mode);
        options.open(self.path.join(name))?.write_all(contents)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for RootFs {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// That the guest's files cannot be made, and where that is.
pub(super) fn cannot_write(why: &io::Error) -> String {
    let place = std::env::temp_dir();
    let remedy = "make room there, or name another directory in TMPDIR";
    format!("cannot write the guest's files to {}: {why}; {remedy}", place.display())
}

/// Whether there is a directory for root directories.
///
/// # Errors
/// There is none.
pub(super) fn check() -> Result<(), String> {
    let place = std::env::temp_dir();
    if place.is_dir() {
        return Ok(());
    }
    let named = std::env::var_os("TMPDIR").map(|_| "TMPDIR");
    Err(no_directory(named, &place, "the guest's files lie there"))
}

/// That `place`, which an environment variable may have named, is not there.
pub(super) fn no_directory(named_by: Option<&str>, place: &Path, what_for: &str) -> String {
    let place = place.display();
    match named_by {
        Some(variable) => format!("{variable} names {place}, which is no directory; {what_for}"),
        None => format!("{place} is no directory; {what_for}"),
    }
}

/// Whether this library was built with a guest.
pub(super) fn has_init() -> bool {
    !INIT.is_empty()
}

#[cfg(test)]
#[path = "rootfs_tests.rs"]
mod tests;
