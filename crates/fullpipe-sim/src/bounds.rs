//! Errors of values beyond their bounds, and the bounds that many parts of a configuration share.

use crate::units::Time;
use alloc::format;
use alloc::string::String;

/// Longest run, delay, or start of a flow: about three years.
pub(crate) const LONGEST: Time = Time::secs(100_000_000);

/// An error unless `holds`.
pub(crate) fn demand(holds: bool, what: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.into()) }
}

/// An error unless `value` is a probability.
pub(crate) fn probability(value: f64, name: &str, what: &str) -> Result<(), String> {
    demand((0.0..=1.0).contains(&value), format!("{name}: {what} beyond 0 to 1"))
}
