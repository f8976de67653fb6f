//! Advice on blind cases: how much of what a case has without its break the advice regains.

use super::judged;
use crate::causes::{HEALTHY, TOO_SHORT};
use crate::generate::Case;

/// A case with advice.
#[derive(Clone, Debug)]
pub struct Cure {
    /// Name of the case.
    pub name: String,
    /// Code of its cause.
    pub cause: String,
    /// Whether a setting of a host cures it.
    pub setting: bool,
    /// Share of the path today, and as advised (0 to 1).
    pub shares: [f64; 2],
    /// Rate as advised over that of the case without its break.
    pub regained: f64,
    /// Changes of the advice, in words.
    pub changes: Vec<String>,
}

impl Cure {
    /// Whether the case is healthy or too short to tell.
    pub fn is_healthy(&self) -> bool {
        self.cause == HEALTHY || self.cause == TOO_SHORT
    }
}

/// Advice on a case.
///
/// # Errors
/// A trial has no outcome.
pub fn cure(case: &Case) -> Result<Cure, String> {
    let own = judged(&case.name, &case.text)?;
    let share = |outcome: &fullpipe::advice::trial::Outcome| outcome.share().unwrap_or(0.0);
    let changes = own.advice.changes.iter();
    let words = changes.map(|own| format!("{} {}", own.change.setting, own.change.advised));
    Ok(Cure {
        name: case.name.clone(),
        cause: case.label.cause.clone(),
        setting: case.label.setting,
        shares: [share(&own.today), share(&own.advised)],
        regained: own.advised.mbit / case.label.cured_mbit.max(1e-9),
        changes: words.collect(),
    })
}
