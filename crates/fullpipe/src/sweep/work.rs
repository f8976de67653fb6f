//! The threads that make the runs of a sweep.

use super::job::Job;
use super::record::Record;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Makes these runs with `jobs` threads, at least one, and has each record kept as soon as its run ends. `stopped` ends
/// it: unfinished runs leave nothing.
///
/// # Errors
/// The first error of `keep`; no more runs began then.
pub fn make<E: Send>(
    job: &Job,
    runs: &[u64],
    jobs: usize,
    stopped: &(dyn Fn() -> bool + Sync),
    keep: &(dyn Fn(&Record) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let (next, full, lost) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(None));
    let stopped = || stopped() || full.load(Ordering::SeqCst);

    // A record that cannot be kept ends the sweep: its runs would be lost.
    let keep = |record: &Record| {
        let kept = keep(record);
        let ok = kept.is_ok();
        if let Err(why) = kept {
            full.store(true, Ordering::SeqCst);
            lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        }
        ok
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, runs.len().max(1)) {
            scope.spawn(|| job.work(runs, &next, &stopped, &keep));
        }
    });
    lost.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
