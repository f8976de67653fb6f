//! Certainty of the cause that a headline names.
//!
//! Shares of time decide: a cause is sure if it holds the flows for most of the time in which the link could carry
//! more, and no other cause is near it. The bounds were chosen on drawn cases, and a blind test measures how often
//! "sure" is right (docs/verdicts.md).

use crate::document::Confidence;
use crate::rules::{Cause, Context, Finding, LINK, find, is_quiet};

/// Share of that time from which on a cause may be sure.
const MOST: f64 = 0.5;
/// Largest share of the next cause, as a part of the share of the named cause.
const NEXT: f64 = 0.4;
/// Share below which a cause explains too little to be likely.
const LITTLE: f64 = 0.1;
/// Code of a transfer that is over before it has grown: whatever it waits for, growth explains it.
const TOO_SHORT: &str = "too_short";

/// Certainty of `cause` among `all`.
pub fn of(context: &Context, cause: &Cause, found: &Finding, all: &[Cause]) -> Confidence {
    if found.code.is_empty() || cause.share < LITTLE {
        return Confidence::CannotTell;
    }
    if context.run.partial {
        return Confidence::Likely;
    }

    // The transfer's length is a fact: no other cause competes with it.
    if found.code == TOO_SHORT {
        return Confidence::Sure;
    }
    let is_link = cause.limit == LINK;

    // Causes with the code of the first one support it.
    let rivals = all
        .iter()
        .filter(|own| *own != cause && !is_quiet(&own.limit) && own.limit != LINK)
        .filter(|own| find(context, own).code != found.code);
    let next = rivals.map(|own| own.share).fold(0.0, f64::max);

    // Time of a busy link is well spent.
    let link = all.iter().find(|own| own.limit == LINK).filter(|_| !is_link);
    let missing = 1.0 - link.map_or(0.0, |own| own.share);

    // Sure: the cause takes most of the missing time, and no rival comes near.
    match cause.share >= MOST * missing && next < NEXT * cause.share {
        true => Confidence::Sure,
        false => Confidence::Likely,
    }
}
