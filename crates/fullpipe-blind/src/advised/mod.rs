//! Measures advice: on random paths, against fixed lists of settings, and on blind cases with a setting as their cause.
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

pub use crate::judging::median;
use crate::judging::{UNSEEN, bench, case, stopped, worst_of_three};
use fullpipe::advice::document::Advice;
use fullpipe::advice::method::{Allowance, Goal};
use fullpipe::advice::trial::Outcome;
use fullpipe::advice::{self, Case};
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
    /// Without changes, the worst of three seeds.
    pub today: Outcome,
    /// With the advised changes, the worst of three seeds.
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
    let outcomes = worst_of_three(name, &case, UNSEEN, &[Vec::new(), advice.edits()])?;
    let [today, advised] = <[Outcome; 2]>::try_from(outcomes).map_err(|_| name.to_string())?;
    Ok(Judged { case, advice, seconds, today, advised })
}
