//! Threads, progress on standard error, and an end by a signal.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// True once a signal has come.
static STOP: AtomicBool = AtomicBool::new(false);
/// Error of what a signal has stopped.
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

/// Does `count` pieces of work with `jobs` threads and tells how far they are. Results have the order of the numbers.
///
/// # Errors
/// The first error; no more pieces begin then.
pub fn all<T: Send>(
    what: &str,
    count: usize,
    jobs: usize,
    work: impl Fn(usize) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::new());
    let lost: Mutex<Option<String>> = Mutex::new(None);
    let told = Mutex::new(Instant::now());
    let begun = Instant::now();
    let run = || {
        loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if number >= count || stopped() || held(&lost).is_some() {
                return;
            }
            match work(number) {
                Ok(result) => held(&results).push((number, result)),
                Err(why) => {
                    held(&lost).get_or_insert(why);
                }
            }
            let done = done.fetch_add(1, Ordering::SeqCst) + 1;
            tell(what, (done, count), begun, &told);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, count.max(1)) {
            scope.spawn(run);
        }
    });

    if let Some(why) = held(&lost).take() {
        return Err(why);
    }
    if stopped() {
        return Err(STOPPED.into());
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// A line every few seconds, and one at the end.
fn tell(what: &str, (done, count): (usize, usize), begun: Instant, told: &Mutex<Instant>) {
    let mut told = held(told);
    if told.elapsed() < EVERY && done < count {
        return;
    }
    *told = Instant::now();
    let spent = begun.elapsed().as_secs_f64();
    let left = spent / done as f64 * (count - done) as f64;
    eprintln!("{what}: {done} of {count} in {spent:.0} s, {left:.0} s left");
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
