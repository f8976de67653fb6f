//! Certainty of the cause that a headline names.
//!
//! Shares of time decide: a cause that holds the flows for most of their lives, with nothing else near it, is sure. The
//! bounds were chosen on drawn cases, and a blind test measures how often "sure" is right (docs/verdicts.md).

use crate::document::Confidence;
use crate::rules::{Cause, Context, Finding, is_quiet};

/// Share of the flows' lives from which on a cause may be sure.
const MOST: f64 = 0.4;
/// The next cause has less than this part of it.
const NEXT: f64 = 0.6;
/// Share below which a cause explains too little to be likely.
const LITTLE: f64 = 0.1;

/// Certainty of `cause` among `all`.
pub fn of(context: &Context, cause: &Cause, found: &Finding, all: &[Cause]) -> Confidence {
    if found.code.is_empty() || cause.share < LITTLE {
        return Confidence::CannotTell;
    }
    if context.run.partial {
        return Confidence::Likely;
    }
    let others = all.iter().filter(|own| *own != cause && !is_quiet(&own.limit));
    let next = others.map(|own| own.share).fold(0.0, f64::max);
    match cause.share >= MOST && next < NEXT * cause.share {
        true => Confidence::Sure,
        false => Confidence::Likely,
    }
}
