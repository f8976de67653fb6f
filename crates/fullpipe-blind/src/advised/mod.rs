//! Measures advice: on random paths, beside fixed lists of settings, and on blind cases whose cause is a setting.
//!
//! Each judged run is made by the same trials that advice uses, but always with three seeds, of which the worst counts.

mod cures;
mod lists;
mod paths;
pub mod record;
mod sizes;
mod table;

pub use cures::{Cure, cure, is_judged};
pub use lists::{LISTS, Listed, listed};
pub use paths::{Path, drawn, path};
pub use sizes::{Sized, sizes};
pub use table::{Measured, page};

use fullpipe::advice::document::Advice;
use fullpipe::advice::method::{Allowance, Goal};
use fullpipe::advice::trial::{Bench, Outcome, Stopped, Watch};
use fullpipe::advice::{self, Case, Edit};
use fullpipe::base::units::Time;
use fullpipe::engine::Failed;
use fullpipe::engine::sim::Simulator;
use fullpipe::scenario::{Source, load};
use std::time::Instant;

/// Advice on a case, with its judgement.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The case.
    pub case: Case,
    /// Advice.
    pub advice: Advice,
    /// Time that it took, s.
    pub seconds: f64,
    /// As it is, the worst of three seeds.
    pub today: Outcome,
    /// As advised, the worst of three seeds.
    pub advised: Outcome,
}

impl Judged {
    /// Share of the path today, and as advised (0 to 1).
    pub fn shares(&self) -> [f64; 2] {
        [&self.today, &self.advised].map(|outcome| outcome.share().unwrap_or(0.0))
    }

    /// Changes of the advice, in words.
    pub fn words(&self) -> Vec<String> {
        let changes = self.advice.changes.iter().map(|kept| &kept.change);
        changes.map(|change| format!("{} {}", change.setting, change.advised)).collect()
    }
}

/// No progress; an end by a signal.
pub struct Quiet;

impl Watch for Quiet {
    fn step(&self, _what: &str, _runs: usize, _lasts: Time) {}

    fn advance(&self, _span: Time) -> bool {
        !crate::work::stopped()
    }
}

/// A bench for one thread.
pub fn bench() -> Bench<'static> {
    Bench { engine: &Simulator, jobs: 1, watch: &Quiet }
}

/// The case of a scenario's first run.
///
/// # Errors
/// The text is no scenario, or has no flow.
pub fn case(name: &str, text: &str) -> Result<Case, String> {
    let source = Source::text(&format!("{name}.toml"), text);
    let scenario = load(&source, &[], &[]).map_err(|wrong| format!("{name}: {wrong}"))?;
    let case = Case::new(&scenario, &scenario.plans()[0]);
    case.ok_or_else(|| format!("{name}: no TCP flow sends data"))
}

/// Advice for a goal on a case, and both outcomes.
///
/// # Errors
/// A trial has no outcome.
pub fn judged(name: &str, text: &str, goal: Goal) -> Result<Judged, String> {
    let case = case(name, text)?;
    let allowance = Allowance { goal, ..Allowance::default() };
    let begun = Instant::now();
    let advice = advice::advise(&case, &allowance, &bench());
    let advice = advice.map_err(|why| stopped(name, &why))?;
    let seconds = begun.elapsed().as_secs_f64();
    let outcomes = worst_of_three(name, &case, &[Vec::new(), advice.edits()])?;
    let [today, advised] = <[Outcome; 2]>::try_from(outcomes).map_err(|_| name.to_string())?;
    Ok(Judged { case, advice, seconds, today, advised })
}

/// First number of the runs that judge: advice has tried those below.
const UNSEEN: u64 = 3;

/// An outcome for each list of edits, the worst of three seeds that advice has not tried.
///
/// # Errors
/// A trial has no outcome.
pub fn worst_of_three(
    name: &str,
    case: &Case,
    lists: &[Vec<&Edit>],
) -> Result<Vec<Outcome>, String> {
    let case = Case { is_chancy: true, first_seed: UNSEEN, ..case.clone() };
    bench().trials(&case, lists).map_err(|why| stopped(name, &why))
}

fn stopped(name: &str, why: &Stopped) -> String {
    match why {
        Stopped::Interrupted => crate::work::STOPPED.into(),
        Stopped::Failed(Failed::Scenario(why) | Failed::Machine(why)) => format!("{name}: {why}"),
    }
}

/// Median; 0 of nothing.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}
