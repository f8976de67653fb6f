//! Counting what happens in the future of a sample.
//!
//! A stage works on whole trains, whose last packets may lie beyond the next sample. These counters
//! keep what is not yet due, so that a sample sees exactly what happened up to its time.

use crate::config::Config;
use crate::drops::Drops;
use crate::trace::StageSample;
use crate::train::come_by;
use crate::units::Time;
use alloc::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    spacing: u64,
    count: u32,
    each: u64,
}

/// Counts events at even pace, in order of time; `each` is a weight (bytes, or
/// nanoseconds of work that ends at the event).
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
    pub fn add(&mut self, first: Time, spacing: u64, count: u32, each: impl Into<u64>) {
        let each = each.into();
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
    pub fn one(&mut self, time: Time, each: impl Into<u64>) {
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
            self.weight += u64::from(due) * run.each;
            if due < run.count {
                run.count -= due;
                run.first += u64::from(due) * run.spacing;
                return;
            }
            self.pending.pop_front();
        }
    }

    /// Where weights are work, one after the other: nanoseconds done by `time`, the last
    /// [`Tally::advance`], including what is in progress then.
    pub fn work(&self, time: Time) -> u64 {
        let in_progress = |run: &Run| (time.0 + run.each).saturating_sub(run.first);
        self.weight + self.pending.front().map_or(0, in_progress)
    }
}

/// When samples are taken: every so often, and at the run's end.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    every: u64,
    end: Time,
}

impl Samples {
    /// Those that `config` asks for.
    pub fn of(config: &Config) -> Samples {
        Samples::every(config.sample, config.end)
    }

    /// Samples every so often until `end`.
    pub fn every(interval: Time, end: Time) -> Samples {
        Samples { every: interval.0.max(1), end }
    }

    /// The number of the first sample at or after `time`.
    fn number(&self, time: Time) -> u64 {
        if time > self.end { u64::MAX } else { time.0.div_ceil(self.every) }
    }
}

/// Highest level per sample interval, the level at its start included.
#[derive(Clone, Debug)]
pub struct Peaks {
    samples: Samples,
    buckets: VecDeque<(u64, u64)>,
    level_at_last_sample: u64,
}

impl Peaks {
    /// No level yet.
    pub fn new(samples: Samples) -> Peaks {
        Peaks { samples, buckets: VecDeque::new(), level_at_last_sample: 0 }
    }

    /// `level` was reached at `time`; times do not go back.
    pub fn reach(&mut self, time: Time, level: u64) {
        let bucket = self.samples.number(time);
        match self.buckets.back_mut() {
            Some((last, highest)) if *last == bucket => *highest = level.max(*highest),
            _ => self.buckets.push_back((bucket, level)),
        }
    }

    /// The highest level since the last sample, at the sample `time`, when the level is `level`.
    pub fn take(&mut self, time: Time, level: u64) -> u64 {
        let bucket = self.samples.number(time);
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

/// The counters of a stage in which units wait.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Units that entered, weighed in bytes.
    pub entered: Tally,
    /// Units that left, weighed in bytes.
    pub left: Tally,
    /// Units that were dropped.
    pub dropped: Drops,
    /// The most that waited.
    pub peaks: Peaks,
}

impl Counters {
    /// Nothing has happened yet.
    pub fn new(samples: Samples) -> Counters {
        Counters {
            entered: Tally::default(),
            left: Tally::default(),
            dropped: Drops::default(),
            peaks: Peaks::new(samples),
        }
    }

    /// Counts everything at or before `time`.
    pub fn advance(&mut self, time: Time) {
        for tally in [&mut self.entered, &mut self.left, &mut self.dropped] {
            tally.advance(time);
        }
    }

    /// The counters at `now`; what has entered and not left waits.
    pub fn sample(&mut self, now: Time) -> StageSample {
        self.advance(now);
        let waiting = self.entered.count - self.left.count;
        StageSample {
            waiting,
            waiting_bytes: self.entered.weight - self.left.weight,
            peak: self.peaks.take(now, waiting),
            entered: self.entered.count,
            left: self.left.count,
            dropped: self.dropped.count,
            ..StageSample::default()
        }
    }
}
