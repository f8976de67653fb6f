//! Times of the trace's samples.

use crate::units::Time;

/// Times of samples: one per interval, and one at the run's end.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    every: u64,
    end: Time,
}

impl Samples {
    /// Samples every so often until `end`.
    pub fn every(interval: Time, end: Time) -> Samples {
        Samples { every: interval.0.max(1), end }
    }

    /// Time of the first sample after `time`, nanoseconds; after the last sample there is none.
    pub(super) fn after(&self, time: Time) -> u64 {
        if time >= self.end {
            return u64::MAX;
        }
        (time.0 / self.every + 1).saturating_mul(self.every).min(self.end.0)
    }

    /// Time of the sample after the sample at `time`, nanoseconds.
    pub(super) fn next(&self, time: Time) -> u64 {
        if time >= self.end {
            return u64::MAX;
        }
        time.0.saturating_add(self.every).min(self.end.0)
    }

    /// The number of the first sample at or after `time`.
    pub(super) fn number(&self, time: Time) -> u64 {
        if time > self.end { u64::MAX } else { time.0.div_ceil(self.every) }
    }

    /// The latest time that the sample of this number is the first to see.
    pub(super) fn last_time(&self, number: u64) -> u64 {
        if number == u64::MAX {
            u64::MAX
        } else {
            number.saturating_mul(self.every).min(self.end.0)
        }
    }
}
