//! Ctrl-C: the first one asks runs to end at their next sample and builds to end, the second one
//! ends the program.
//!
//! Limits:
//! - A run stops at a sample, and the part until then is analysed and written first. With hundreds of thousands of
//!   samples and few packets that takes several times as long as simulating them.

use crate::failure::Failure;
use crate::output::note;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Whether a signal has arrived.
static STOP: AtomicBool = AtomicBool::new(false);
/// Paths that the second signal removes before the program ends.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// A process has one handler, however often [`listen`] is called.
static HANDLER: OnceLock<Result<(), String>> = OnceLock::new();
/// Text that the first signal prints.
static NOTICE: Mutex<&str> = Mutex::new("");

/// Takes over SIGINT, SIGTERM and SIGHUP; the first one says `notice`, where that is no empty text.
pub fn listen(notice: &'static str) -> Result<(), Failure> {
    STOP.store(false, Ordering::SeqCst);
    *NOTICE.lock().unwrap_or_else(PoisonError::into_inner) = notice;
    HANDLER
        .get_or_init(|| ctrlc::set_handler(on_signal).map_err(|e| e.to_string()))
        .clone()
        .map_err(|e| Failure::environment("cannot handle signals", e))
}

/// Whether runs are to stop.
pub fn stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// A directory or file that exists only until its contents are whole; forgotten when dropped.
pub struct Temporary(PathBuf);

impl Temporary {
    /// Has `path` removed by a second signal.
    pub fn new(path: &Path) -> Temporary {
        temporary().push(path.to_path_buf());
        Temporary(path.to_path_buf())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        temporary().retain(|path| *path != self.0);
    }
}

fn temporary() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs in a thread of its own, not in the signal's context.
fn on_signal() {
    if !STOP.swap(true, Ordering::SeqCst) {
        let notice = NOTICE.lock().unwrap_or_else(PoisonError::into_inner);
        if !notice.is_empty() {
            note(*notice);
        }
        return;
    }
    temporary().drain(..).for_each(|path| remove(&path));
    std::process::exit(130);
}

/// Renames the directory first: one that has become a result meanwhile has another name and stays.
fn remove(path: &Path) {
    let mut gone = path.as_os_str().to_owned();
    gone.push(".gone");
    let gone = PathBuf::from(gone);
    if std::fs::rename(path, &gone).is_ok() {
        let _ = std::fs::remove_dir_all(&gone).or_else(|_| std::fs::remove_file(&gone));
    }
}
