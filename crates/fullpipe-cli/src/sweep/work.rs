//! The threads that make the runs of a sweep.

use super::progress::Progress;
use crate::failure::Failure;
use crate::interrupt;
use fullpipe::sweep::{Job, Record, Store};
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

/// What became of the runs.
#[derive(Default)]
pub struct Done {
    /// Runs whose record was kept.
    pub made: u64,
    /// Why records could not be kept; no more runs began then.
    pub lost: Option<Failure>,
}

/// Makes these runs with `jobs` threads and keeps each record at once. A signal ends it: runs that have not come to their end
/// leave nothing. A run that fails is told and stops nothing.
pub fn run(job: &Job, store: &Store, runs: &[u64], jobs: usize, progress: &Progress) -> Done {
    let (next, made) = (AtomicUsize::new(0), AtomicU64::new(0));
    let (full, lost) = (AtomicBool::new(false), Mutex::new(None));
    let work = || {
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::SeqCst)) {
            if interrupt::stopped() || full.load(Ordering::SeqCst) {
                return;
            }
            let Some(record) = job.record(*run, &mut Until) else { return };
            if let Err(why) = store.append(&record) {
                full.store(true, Ordering::SeqCst);
                let why = Failure::Environment(why.to_string());
                lost.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(why);
                return;
            }
            made.fetch_add(1, Ordering::SeqCst);
            progress.done(record.failed.as_deref().map(|why| told(&record, why)).as_deref());
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.min(runs.len()) {
            scope.spawn(work);
        }
    });
    let lost = lost.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Done { made: made.into_inner(), lost }
}

/// A failure as a sentence with its run.
fn told(record: &Record, why: &str) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let at = record.at.iter().map(|(key, value)| format!("{key}={}", text(value)));
    let at = std::iter::once(record.variant.clone()).chain(at).collect::<Vec<_>>().join(", ");
    format!("run {} ({at}, seed {}) failed: {why}", record.run, record.seed)
}

/// Goes on until a signal comes.
struct Until;

impl Control for Until {
    fn go_on(&mut self, _now: Time) -> bool {
        !interrupt::stopped()
    }
}
