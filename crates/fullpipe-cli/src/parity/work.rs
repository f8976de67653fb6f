//! The runs on both engines, several at a time.

use super::cases::Asked;
use super::keep::Folder;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Progress;
use fullpipe::base::trace::Control;
use fullpipe::base::units::Time;
use fullpipe::engine::Failed;
use fullpipe::parity::against::Against;
use fullpipe::parity::both::{self, JUDGE, JUDGED};
use fullpipe::parity::case::Case;
use fullpipe::parity::distance::{self, Unit};
use fullpipe::parity::table::Table;
use fullpipe::parity::twin::{self, Chance, Twinned, Twins};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Results of the runs.
#[derive(Default)]
pub struct Done {
    /// Distances of the runs that were compared, in their order.
    pub units: Vec<Unit>,
    /// Distances of Linux's first twin from Linux, where twins are asked for.
    pub itself: Vec<Unit>,
    /// Whether misses of bars may be chance.
    pub chances: Vec<Chance>,
    /// Why others failed.
    pub failures: Vec<Failure>,
    /// Runs that were compared.
    pub finished: usize,
    /// Runs of these that were stopped before their twins had run.
    pub untwinned: usize,
    /// The kernels that they were compared with.
    pub against: BTreeSet<Against>,
}

impl Done {
    /// Whether all `of` runs were compared, with all twins that they need.
    pub fn is_whole(&self, of: usize) -> bool {
        self.finished == of && self.untwinned == 0
    }
}

/// Result of a run; none: it was stopped.
type Compared = Result<Option<Found>, Failure>;

struct Found {
    against: Against,
    units: Vec<Unit>,
    /// None: it was stopped before they had run.
    twins: Option<Twinned>,
}

struct Shared<'a> {
    asked: &'a Asked,
    folder: Option<&'a Folder>,
    twins: u32,
    progress: &'a Progress,
    next: AtomicUsize,
    failed: AtomicBool,
    results: Mutex<Vec<(&'a Case, Compared)>>,
}

/// Compares runs with `jobs` threads; a run that misses a bar also runs with so many twins. After a signal or a failure
/// no more runs begin.
pub fn run(
    asked: &Asked,
    folder: Option<&Folder>,
    twins: u32,
    jobs: usize,
    progress: &Progress,
) -> Done {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results = Mutex::new(Vec::new());
    let work = Shared { asked, folder, twins, progress, next, failed, results };
    thread::scope(|scope| {
        for _ in 0..jobs.min(asked.cases.len()) {
            scope.spawn(|| work.take());
        }
    });
    work.done()
}

impl Shared<'_> {
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

        // The suite compares with kept tables; other runs need the kernel.
        let linux = match &self.asked.kept {
            Some(folder) => Some(self.asked.table(case, folder)?),
            None => self.engine(JUDGE, case)?,
        };

        // An interrupted engine returns no table.
        let (Some(linux), Some(sim)) = (linux, self.engine(JUDGED, case)?) else { return Ok(None) };
        self.folder.map_or(Ok(()), |folder| folder.tables(case, &linux, &sim))?;
        let units = distance::units(case, &linux, &sim).map_err(Failure::Input)?;

        // The user sees the distances before the twins run.
        self.say(case, &units);
        let twins = self.twins(case, &units, &linux)?;
        let against = match self.asked.kept {
            Some(_) => Against::of_table(&linux, case),
            None => Against::of_case(case),
        };
        Ok(Some(Found { against, units, twins }))
    }

    fn say(&self, case: &Case, units: &[Unit]) {
        let apart = units.iter().filter_map(|unit| unit.throughput).map(|t| t.mean);
        let apart = apart.fold(0.0, f64::max) * 100.0;
        self.progress.say(&format!("{}: throughput {apart:.1} % apart", case.name));
    }

    /// Distance of Linux's first twin from Linux, and whether each miss may be chance; none: it was stopped.
    fn twins(
        &self,
        case: &Case,
        units: &[Unit],
        linux: &Table,
    ) -> Result<Option<Twinned>, Failure> {
        let twins = Twins::of(case, units, self.twins);
        self.progress.more(case.plan.resolved.duration, twins.runs());
        let ran = twins.run(|name, case| self.engine(name, case))?;
        let Some(ran) = ran else { return Ok(None) };
        let found = twin::found(case, units, linux, &ran).map_err(Failure::Input)?;
        Ok(Some(found))
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

        // Threads finish in any order.
        results.sort_by_key(|(case, _)| {
            self.asked.cases.iter().position(|other| other.name == case.name)
        });
        let mut done = Done::default();
        for (_, result) in results {
            match result {
                // An interrupted run counts for nothing.
                Ok(None) => {}
                Ok(Some(found)) => {
                    done.against.insert(found.against);
                    done.units.extend(found.units);
                    done.untwinned += usize::from(found.twins.is_none());
                    let twins = found.twins.unwrap_or_default();
                    done.itself.extend(twins.itself);
                    done.chances.extend(twins.chances);
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
