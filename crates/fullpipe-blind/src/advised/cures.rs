//! Advice on blind cases: the part of the rate without the break that advice regains.

use super::judged;
use crate::causes::{HEALTHY, TOO_SHORT};
use crate::generate::Case;
use crate::judging::median_gains;
use crate::label;
use fullpipe::advice::edited;
use fullpipe::advice::method::Goal;
use serde::{Deserialize, Serialize};

/// A case with advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cure {
    /// Name of the case.
    pub name: String,
    /// Code of its cause.
    pub cause: String,
    /// Whether a setting of a host cures it.
    pub setting: bool,
    /// Share of the path today, and as advised (0 to 1).
    pub shares: [f64; 2],
    /// Mean rate with advice over that of the case without its break, from first to last byte.
    pub regained: f64,
    /// Share of the path today in the worst of the label's three runs (0 to 1); of healthy cases alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_share: Option<f64>,
    /// Rates with the changes over those of today, settled and mean, in the median of nine other runs; of healthy cases
    /// with changes alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gains: Option<[f64; 2]>,
    /// Changes of the advice, in words.
    pub changes: Vec<String>,
}

/// Gain from which on a change is worth its while.
const COUNTS: f64 = 1.02;

impl Cure {
    /// Whether no change is advised, or the changes gain 2 % in the median of other runs.
    pub fn has_reason(&self) -> bool {
        let gains = self.gains.is_some_and(|own| own.into_iter().any(|gain| gain >= COUNTS));
        self.changes.is_empty() || gains
    }
}

/// Whether advice on a case is judged: a setting of a host cures it, or nothing is to be set.
pub fn is_judged(case: &Case) -> bool {
    case.label.setting || [HEALTHY, TOO_SHORT].contains(&case.label.cause.as_str())
}

/// Advice on a case.
///
/// # Errors
/// A trial has no outcome.
pub fn cure(case: &Case) -> Result<Cure, String> {
    let own = judged(&case.name, &case.text, Goal::Rate)?;
    let advised = edited(&own.case.today, own.advice.edits())?;
    let mbit = label::rate(&advised.plans()[0])?;
    let edits = own.advice.edits();
    let gains = match case.label.cause == HEALTHY && !edits.is_empty() {
        true => Some(median_gains(&case.name, &own.case, &edits, &[])?),
        false => None,
    };
    Ok(Cure {
        name: case.name.clone(),
        cause: case.label.cause.clone(),
        setting: case.label.setting,
        shares: own.shares(),
        regained: mbit / case.label.cured_mbit.max(1e-9),
        worst_share: case.label.worst_share,
        gains,
        changes: own.words(),
    })
}
