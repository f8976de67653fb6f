//! Tolerances of expectations: relative, or in the metric's unit.

use super::format::context::{Context, Place};
use super::format::quantity::{Decimal, Dimension, RATE, SIZE, TIME, Wrong, parse};
use super::metric::Unit;
use super::plan::Tolerance;

/// Reads a tolerance such as "2 %" or "1 segment".
pub fn read(text: &str, unit: Unit, place: Place, cx: &mut Context) -> Option<Tolerance> {
    // Absolute tolerances have the metric's unit.
    let absolute = match unit {
        Unit::Bytes => measured(text, &SIZE, 0),
        Unit::Mbit => measured(text, &RATE, -6),
        Unit::Seconds => measured(text, &TIME, -9),
        Unit::Milliseconds => measured(text, &TIME, -6),
        Unit::Packets => counted_in(&PACKETS, text),
        Unit::Rounds => counted_in(&["round", "rounds"], text),
        Unit::Share | Unit::Number => share(text),
    };

    // A percentage is relative, whatever the unit.
    let found = match percent(text) {
        Some(share) => Ok(Tolerance::Relative(share)),
        None => absolute.map(Tolerance::Absolute),
    };
    let expected = format!("a relative tolerance such as \"2 %\", or {}", unit.example());
    let (code, message) = match found {
        Ok(Tolerance::Absolute(n) | Tolerance::Relative(n)) if n < 0.0 || !n.is_finite() => {
            ("out-of-range", "`within` is not a tolerance".to_string())
        }
        Ok(tolerance) => return Some(tolerance),
        Err(Wrong::NoUnit) => ("missing-unit", "`within` has no unit".into()),
        Err(Wrong::Unit(unit)) => {
            ("unknown-unit", format!("this metric is not measured in \"{unit}\""))
        }
        Err(_) => ("bad-value", format!("`within` is not a tolerance: \"{text}\"")),
    };
    cx.error(code, place, message).expected(expected);
    None
}

fn percent(text: &str) -> Option<f64> {
    match Decimal::split(text) {
        Ok((number, "%")) => Some(number.to_f64(-2)),
        _ => None,
    }
}

/// A quantity in base units x 10^`power`.
fn measured(text: &str, dimension: &Dimension, power: i32) -> Result<f64, Wrong> {
    let base = parse(text, dimension)?;
    Ok(base as f64 * 10_f64.powi(power))
}

/// Names of packets, and of a stage's units.
const PACKETS: [&str; 8] =
    ["packet", "packets", "segment", "segments", "skb", "skbs", "byte", "bytes"];

/// A number with one of these words.
fn counted_in(words: &[&str], text: &str) -> Result<f64, Wrong> {
    match Decimal::split(text)? {
        (_, "") => Err(Wrong::NoUnit),
        (number, unit) if words.contains(&unit) => Ok(number.to_f64(0)),
        (_, unit) => Err(Wrong::Unit(unit.into())),
    }
}

fn share(text: &str) -> Result<f64, Wrong> {
    match Decimal::split(text)? {
        (number, "") => Ok(number.to_f64(0)),
        (_, unit) => Err(Wrong::Unit(unit.into())),
    }
}
