//! Where a rate settles.
//!
//! The plateau is the median of the highest sixth of the intervals (at least three), so that a long ramp does not lower
//! it and a single burst does not raise it. It counts as reached only if at least three intervals lie at 90 % of it or
//! above, from the first such interval on, and the rate has stopped rising there. The rate has stopped if the median of
//! the later half of what follows is at most 5 % above that of the earlier half. A steady ramp rises by 7 % or more
//! over that part, however long it is. A rate that falls later, because another flow joins, has reached its plateau
//! nevertheless.

/// Share of the plateau at which a ramp counts as over.
pub const REACHED: f64 = 0.9;
/// Least number of intervals that can show a plateau.
const LEAST: usize = 3;
/// Ratio of the later half to the earlier one up to which a rate is still.
const STILL: f64 = 1.05;

/// A rate that settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// The rate, in the unit of the input.
    pub rate: f64,
    /// Index of the first interval at [`REACHED`] of it or above.
    pub first: usize,
}

/// The plateau of a series of rates over equal intervals; none where they do not settle.
pub fn plateau(rates: &[f64]) -> Option<Plateau> {
    if rates.len() < LEAST || rates.iter().any(|rate| !rate.is_finite()) {
        return None;
    }
    let mut sorted = rates.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let rate = median(&sorted[..rates.len().div_ceil(6).max(LEAST)]);
    let first = rates.iter().position(|r| rate > 0.0 && *r >= REACHED * rate)?;
    let after = &rates[first..];
    let high = after.iter().filter(|r| **r >= REACHED * rate).count();
    let earlier = median(&after[..after.len() / 2]);
    let later = median(&after[after.len().div_ceil(2)..]);
    (high >= LEAST && later <= STILL * earlier).then_some(Plateau { rate, first })
}

/// The median; the mean of the two middle values of an even number; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}
