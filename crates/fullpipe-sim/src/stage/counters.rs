//! Counters of a stage in which units wait.

use super::{Drops, DueCounter, Occupancy, Peaks, Samples, waited};
use crate::trace::StageSample;
use crate::units::Time;

/// The counters of a stage in which units wait.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Units that leave as they enter, weighed in bytes.
    pub passed: DueCounter,
    /// Units that entered and had to wait, weighed in bytes.
    pub entered: DueCounter,
    /// Units of `entered` that have left, weighed in bytes.
    pub left: DueCounter,
    /// Units that were dropped.
    pub dropped: Drops,
    /// The most that waited.
    pub peaks: Peaks,
    /// Durations for which something waited, and for which there was no room for more.
    pub times: Occupancy,
}

impl Counters {
    /// Counters of a stage in which nothing has happened yet.
    pub fn new(samples: Samples) -> Counters {
        Counters {
            passed: DueCounter::new(samples),
            entered: DueCounter::new(samples),
            left: DueCounter::new(samples),
            dropped: Drops::default(),
            peaks: Peaks::new(samples),
            times: Occupancy::new(samples),
        }
    }

    /// Counts everything at or before `time`.
    pub fn advance(&mut self, time: Time) {
        for counter in [&mut self.passed, &mut self.entered, &mut self.left, &mut self.dropped] {
            counter.advance(time);
        }
    }

    /// The counters at `now`; what has entered and not left waits.
    pub fn sample(&mut self, now: Time) -> StageSample {
        self.advance(now);
        let waiting = self.entered.count - self.left.count;
        let waiting_ns = waited(now, &self.entered, &[&self.left]);
        let sample = StageSample {
            waiting,
            waiting_bytes: self.entered.weight - self.left.weight,
            peak: self.peaks.take(now, waiting),
            entered: self.passed.count + self.entered.count,
            left: self.passed.count + self.left.count,
            dropped: self.dropped.count,
            waiting_ns,
            ..StageSample::default()
        };
        self.times.add_times(now, sample)
    }
}
