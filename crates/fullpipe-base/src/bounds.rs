//! Bounds of a number that a kernel takes.

use core::ops::RangeInclusive;

/// Least and greatest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
}

impl Bounds {
    /// Bounds from `min` to `max`.
    pub const fn new(min: i64, max: i64) -> Bounds {
        Bounds { min, max }
    }

    /// All values within the bounds.
    pub fn range(self) -> RangeInclusive<i64> {
        self.min..=self.max
    }
}
