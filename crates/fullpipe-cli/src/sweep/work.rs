//! The runs of a sweep as they are made: kept, counted, reported.

use super::progress::Progress;
use crate::failure::Failure;
use crate::interrupt;
use fullpipe::scenario::point_name;
use fullpipe::sweep::{Job, Record, Store, make};
use fullpipe::trace::Error;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Results of the runs.
#[derive(Default)]
pub struct Done {
    /// Runs with a kept record.
    pub made: u64,
    /// Why runs failed that were several for one reason, and how many these are.
    pub again: Vec<(String, u64)>,
    /// Why records could not be kept; no more runs began then.
    pub lost: Option<Failure>,
}

/// Makes these runs with `jobs` threads and keeps each record at once. A signal ends it: unfinished runs leave nothing.
/// A failed run is reported and stops nothing.
pub fn run(job: &Job, store: &Store, runs: &[u64], jobs: usize, progress: &Progress) -> Done {
    let made = AtomicU64::new(0);
    let reasons = Mutex::new(BTreeMap::<String, u64>::new());
    let keep = |record: &Record| {
        // The record is safe before it counts as made.
        store.append(record)?;
        made.fetch_add(1, Ordering::SeqCst);
        let failure = record.failed.as_deref().map(|why| {
            let mut reasons = reasons.lock().unwrap_or_else(PoisonError::into_inner);
            let again = reasons.entry(why.to_string()).or_default();
            *again += 1;

            // The first run of a reason prints it; later ones only count.
            if *again == 1 { describe(record, why) } else { String::new() }
        });
        progress.done(failure.as_deref());
        Ok::<(), Error>(())
    };
    let stopped = || {
        progress.tick();
        interrupt::stopped()
    };
    let lost = make(job, runs, jobs, &stopped, &keep).err().map(Failure::from);
    let reasons = reasons.into_inner().unwrap_or_else(PoisonError::into_inner);

    // A reason of one run has been printed already.
    let again = reasons.into_iter().filter(|(_, runs)| *runs > 1).collect();
    Done { made: made.into_inner(), again, lost }
}

/// A failure as a sentence with its run.
fn describe(record: &Record, why: &str) -> String {
    let at = point_name(&record.variant, &record.at);
    format!("run {} ({at}, seed {}) failed: {why}", record.run, record.seed)
}
