//! Counting what happens in the future of a sample.
//!
//! A stage works on whole trains, whose last packets may lie beyond the next sample. These counters
//! keep what is not yet due, so that a sample sees exactly what happened up to its time.

use crate::train::come_by;
use crate::units::Time;
use alloc::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    spacing: u64,
    count: u32,
    each: u32,
}

/// Counts events at even pace, in order of time; `each` is a weight (bytes).
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pending: VecDeque<Run>,
    /// Events up to the last [`Tally::advance`].
    pub count: u64,
    /// Their weights added up.
    pub weight: u64,
}

impl Tally {
    /// `count` events from `first` on, `spacing` apart, each of weight `each`. Not before earlier ones.
    pub fn add(&mut self, first: Time, spacing: u64, count: u32, each: u32) {
        if let Some(last) = self.pending.back_mut() {
            let last_time = last.first + u64::from(last.count - 1) * last.spacing;
            let gap = first.0 - last_time;
            let pace = if last.count == 1 { gap } else { last.spacing };
            if last.each == each && gap == pace && (count == 1 || spacing == pace) {
                last.spacing = pace;
                last.count += count;
                return;
            }
        }
        self.pending.push_back(Run { first: first.0, spacing, count, each });
    }

    /// One event.
    pub fn one(&mut self, time: Time, each: u32) {
        self.add(time, 0, 1, each);
    }

    /// Counts everything at or before `time`.
    pub fn advance(&mut self, time: Time) {
        while let Some(run) = self.pending.front_mut() {
            if run.first > time.0 {
                return;
            }
            let due = come_by(run.first, run.spacing, run.count, time.0);
            self.count += u64::from(due);
            self.weight += u64::from(due) * u64::from(run.each);
            if due < run.count {
                run.count -= due;
                run.first += u64::from(due) * run.spacing;
                return;
            }
            self.pending.pop_front();
        }
    }

    /// Events added and not yet counted.
    pub fn pending(&self) -> u64 {
        self.pending.iter().map(|r| u64::from(r.count)).sum()
    }
}

/// Highest level per sample interval, the level at its start included.
#[derive(Clone, Debug)]
pub struct Peaks {
    sample: u64,
    buckets: VecDeque<(u64, u64)>,
    level_at_last_sample: u64,
}

impl Peaks {
    /// For samples every `sample`.
    pub fn new(sample: Time) -> Peaks {
        Peaks { sample: sample.0.max(1), buckets: VecDeque::new(), level_at_last_sample: 0 }
    }

    /// `level` was reached at `time`; times do not go back.
    pub fn reach(&mut self, time: Time, level: u64) {
        let bucket = time.0.div_ceil(self.sample);
        match self.buckets.back_mut() {
            Some((last, highest)) if *last == bucket => *highest = level.max(*highest),
            _ => self.buckets.push_back((bucket, level)),
        }
    }

    /// The highest level since the last sample, at the sample `time`, when the level is `level`.
    pub fn take(&mut self, time: Time, level: u64) -> u64 {
        let bucket = time.0.div_ceil(self.sample);
        let mut highest = self.level_at_last_sample;
        while let Some(&(b, value)) = self.buckets.front() {
            if b > bucket {
                break;
            }
            highest = highest.max(value);
            self.buckets.pop_front();
        }
        self.level_at_last_sample = level;
        highest
    }
}
