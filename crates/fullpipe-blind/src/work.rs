//! Threads, progress on standard error, and an end by a signal.

use fullpipe::threads::each;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// True after a signal.
static STOP: AtomicBool = AtomicBool::new(false);
/// Error of work that a signal has stopped.
pub const STOPPED: &str = "stopped by a signal";
/// Time between two lines of progress.
const EVERY: Duration = Duration::from_secs(5);

/// Ends work at the first signal, and the program at the second.
///
/// # Errors
/// The handler cannot be set.
pub fn listen() -> Result<(), String> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        eprintln!("stopping (once more to quit at once)");
    })
    .map_err(|why| format!("cannot handle signals: {why}"))
}

/// True once a signal has asked for the end.
pub fn stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Does `count` pieces of work with `jobs` threads and reports the progress. Results have the order of the numbers.
///
/// # Errors
/// The first error; no more pieces begin then.
pub fn all<T: Send>(
    what: &str,
    count: usize,
    jobs: usize,
    work: impl Fn(usize) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let done = AtomicUsize::new(0);
    let last_line = Mutex::new(Instant::now());
    let begun = Instant::now();
    let results = each(count, jobs, |number| {
        // A signal stops the work between two pieces.
        if stopped() {
            return Err(STOPPED.to_string());
        }
        let result = work(number);
        let done = done.fetch_add(1, Ordering::SeqCst) + 1;
        print_progress(what, done, count, begun, &last_line);
        result
    })?;
    if stopped() { Err(STOPPED.into()) } else { Ok(results) }
}

/// A line every few seconds, and one at the end.
fn print_progress(
    what: &str,
    done: usize,
    count: usize,
    begun: Instant,
    last_line: &Mutex<Instant>,
) {
    let mut printed = last_line.lock().unwrap_or_else(PoisonError::into_inner);
    if printed.elapsed() < EVERY && done < count {
        return;
    }
    *printed = Instant::now();
    let spent = begun.elapsed().as_secs_f64();
    let left = spent / done as f64 * (count - done) as f64;
    eprintln!("{what}: {done} of {count} in {spent:.0} s, {left:.0} s left");
}
