//! The runs on both engines, several at a time.

use super::cases::Asked;
use super::keep::Folder;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Progress;
use fullpipe::engine::Failed;
use fullpipe::parity::both::{self, JUDGE, JUDGED};
use fullpipe::parity::case::Case;
use fullpipe::parity::distance::{self, Unit};
use fullpipe::parity::table::Table;
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What became of the runs.
pub struct Done {
    /// Distances of the runs that were compared, in their order.
    pub units: Vec<Unit>,
    /// Why others failed.
    pub failures: Vec<Failure>,
    /// Runs that were compared.
    pub finished: usize,
}

/// A run's distances; none: it was stopped.
type Compared = Result<Option<Vec<Unit>>, Failure>;

struct Work<'a> {
    asked: &'a Asked,
    folder: Option<&'a Folder>,
    progress: &'a Progress,
    next: AtomicUsize,
    failed: AtomicBool,
    results: Mutex<Vec<(&'a Case, Compared)>>,
}

/// Compares with `jobs` threads. After a signal or a failure no more runs begin.
pub fn run(asked: &Asked, folder: Option<&Folder>, jobs: usize, progress: &Progress) -> Done {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = Work { asked, folder, progress, next, failed, results: Mutex::new(Vec::new()) };
    thread::scope(|scope| {
        for _ in 0..jobs.min(asked.cases.len()) {
            scope.spawn(|| work.take());
        }
    });
    work.done()
}

impl Work<'_> {
    /// Takes runs until there are none left, or a reason to stop.
    fn take(&self) {
        let next = || self.asked.cases.get(self.next.fetch_add(1, Ordering::SeqCst));
        while let Some(case) = next() {
            if interrupt::stopped() || self.failed.load(Ordering::SeqCst) {
                return;
            }
            let result = self.one(case);
            self.failed.fetch_or(result.is_err(), Ordering::SeqCst);
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((case, result));
        }
    }

    fn one(&self, case: &Case) -> Compared {
        self.folder.map_or(Ok(()), |folder| folder.scenario(case))?;
        let linux = match &self.asked.kept {
            Some(folder) => Some(self.asked.table(case, folder)?),
            None => self.engine(JUDGE, case)?,
        };
        let (Some(linux), Some(sim)) = (linux, self.engine(JUDGED, case)?) else { return Ok(None) };
        self.folder.map_or(Ok(()), |folder| folder.tables(case, &linux, &sim))?;
        let units = distance::units(case, &linux, &sim).map_err(Failure::Input)?;
        let apart = units.iter().filter_map(|unit| unit.throughput).map(|t| t.mean);
        let apart = apart.fold(0.0, f64::max) * 100.0;
        self.progress.say(&format!("{}: throughput {apart:.1} % apart", case.name));
        Ok(Some(units))
    }

    fn engine(&self, name: &str, case: &Case) -> Result<Option<Table>, Failure> {
        let mut watch = Watch { progress: self.progress, seen: Time::ZERO };
        both::run(name, case, &mut watch).map_err(|failed| match failed {
            Failed::Scenario(why) => Failure::Input(format!("{} on {name}: {why}", case.name)),
            Failed::Machine(why) => Failure::Environment(format!("{} on {name}: {why}", case.name)),
        })
    }

    fn done(self) -> Done {
        let mut results = self.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let place = |case: &Case| self.asked.cases.iter().position(|other| other.name == case.name);
        results.sort_by_key(|(case, _)| place(case));
        let mut done = Done { units: Vec::new(), failures: Vec::new(), finished: 0 };
        for (_, result) in results {
            match result {
                Ok(None) => {}
                Ok(Some(units)) => {
                    done.units.extend(units);
                    done.finished += 1;
                }
                Err(why) => done.failures.push(why),
            }
        }
        done
    }
}

/// Reports progress to the terminal and signals to the run.
struct Watch<'a> {
    progress: &'a Progress,
    seen: Time,
}

impl Control for Watch<'_> {
    fn go_on(&mut self, now: Time) -> bool {
        self.progress.advance(now.saturating_sub(self.seen));
        self.seen = now;
        !interrupt::stopped()
    }
}
