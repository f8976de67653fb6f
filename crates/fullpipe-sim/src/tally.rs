//! Counting what happens in the future of a sample.
//!
//! A stage works on whole trains, whose last packets may lie beyond the next sample. These counters
//! keep what is not yet due, so that a sample sees exactly what happened up to its time.

use crate::drops::Drops;
use crate::spans::{Occupancy, waited};
use crate::trace::StageSample;
use crate::train::{Train, come_by, joint_pace};
use crate::units::Time;
use alloc::collections::VecDeque;

/// Events at even pace; none where the count is 0.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    first: u64,
    spacing: u64,
    count: u32,
    each: u64,
}

impl Run {
    /// Appends a run that comes no sooner if it continues this one exactly; returns whether it did.
    fn extend(&mut self, next: &Run) -> bool {
        if self.count == 0 || self.each != next.each {
            return false;
        }
        let last = self.first + u64::from(self.count - 1) * self.spacing;
        let next_ones = (next.first, next.spacing, next.count);
        let Some(pace) = joint_pace((last, self.spacing, self.count), next_ones) else {
            return false;
        };
        self.spacing = pace;
        self.count += next.count;
        true
    }

    /// Takes out what comes at or before `time`.
    fn take_until(&mut self, time: Time) -> Run {
        if self.count == 0 || self.first > time.0 {
            return Run::default();
        }
        let count = come_by(self.first, self.spacing, self.count, time.0);
        let taken = Run { count, ..*self };
        self.count -= count;
        self.first += u64::from(count) * self.spacing;
        taken
    }

    /// The times of the events added up, modulo 2^64.
    #[inline]
    fn times(&self) -> u64 {
        let count = u64::from(self.count);
        let gaps = count * count.saturating_sub(1) / 2;
        count.wrapping_mul(self.first).wrapping_add(gaps.wrapping_mul(self.spacing))
    }

    /// Each multiplied by its weight.
    fn weighed_times(&self) -> u128 {
        let count = u64::from(self.count);
        let gaps = count * count.saturating_sub(1) / 2;
        let times = u128::from(count) * u128::from(self.first)
            + u128::from(gaps) * u128::from(self.spacing);
        times * u128::from(self.each)
    }
}

/// Counts events at even pace, in order of time; `each` is a weight (bytes, or
/// nanoseconds of work that ends at the event).
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// When it is asked, if that is known.
    samples: Option<Samples>,
    /// Once it has been asked: what comes before this, nanoseconds, has come when it is asked next, and is counted at
    /// once.
    counted_before: u64,
    /// What is not counted yet but for `last`.
    pending: VecDeque<Run>,
    /// The latest run, which may go on.
    last: Run,
    /// Events up to the last [`Tally::advance`].
    pub count: u64,
    /// Their weights added up.
    pub weight: u64,
    /// Their times added up, nanoseconds, modulo 2^64.
    times: u64,
    /// The times multiplied by the weights, where somebody wants to know.
    weighed_times: Option<u128>,
}

impl Tally {
    /// One that is asked at all of these samples and, after the first time, at no other time.
    pub fn new(samples: Samples) -> Tally {
        Tally { samples: Some(samples), ..Tally::default() }
    }

    /// `count` events from `first` on, `spacing` apart, each of weight `each`. Not before earlier ones.
    #[inline]
    pub fn add(&mut self, first: Time, spacing: u64, count: u32, each: impl Into<u64>) {
        let run = Run { first: first.0, spacing, count, each: each.into() };
        if first.0 + u64::from(count.saturating_sub(1)) * spacing < self.counted_before {
            return self.count_in(&run);
        }
        self.add_later(run);
    }

    #[inline]
    fn count_in(&mut self, run: &Run) {
        self.count += u64::from(run.count);
        self.weight += u64::from(run.count) * run.each;
        self.times = self.times.wrapping_add(run.times());
        if let Some(times) = &mut self.weighed_times {
            *times += run.weighed_times();
        }
    }

    fn add_later(&mut self, next: Run) {
        if self.last.extend(&next) {
            return;
        }
        if self.last.count > 0 {
            self.pending.push_back(self.last);
        }
        self.last = next;
    }

    /// One event.
    pub fn one(&mut self, time: Time, each: impl Into<u64>) {
        self.add(time, 0, 1, each);
    }

    /// Counts everything at or before `time`.
    pub fn advance(&mut self, time: Time) {
        if let Some(samples) = self.samples {
            debug_assert!(time.0.saturating_add(1) >= self.counted_before, "asked between samples");
            let expected = time.0.saturating_add(1) == self.counted_before;
            let next = if expected { samples.next(time) } else { samples.after(time) };
            self.counted_before = next.saturating_add(1);
        }
        self.count_until(time);
    }

    fn count_until(&mut self, time: Time) {
        while let Some(run) = self.pending.front_mut() {
            let (due, left) = (run.take_until(time), run.count);
            self.count_in(&due);
            if left > 0 {
                return;
            }
            self.pending.pop_front();
        }
        let due = self.last.take_until(time);
        self.count_in(&due);
    }

    /// How long ago the events were at `now`, the last [`Tally::advance`]: nanoseconds added up, modulo 2^64.
    pub fn age(&self, now: Time) -> u64 {
        self.count.wrapping_mul(now.0).wrapping_sub(self.times)
    }

    /// From the beginning on times are multiplied by weights, too.
    pub fn weigh(&mut self) {
        self.weighed_times = Some(0);
    }

    /// The same as [`Tally::age`], each multiplied by its weight; 0 where nobody wants to know.
    pub fn weighed_age(&self, now: Time) -> u128 {
        let until_now = u128::from(self.weight) * u128::from(now.0);
        self.weighed_times.map_or(0, |times| until_now - times)
    }

    /// Where weights are work, one after the other: nanoseconds done by `time`, the last
    /// [`Tally::advance`], including what is in progress then.
    pub fn work(&self, time: Time) -> u64 {
        let in_progress = |run: &Run| (time.0 + run.each).saturating_sub(run.first);
        let last = (self.last.count > 0).then_some(&self.last);
        self.weight + self.pending.front().or(last).map_or(0, in_progress)
    }
}

/// When samples are taken: every so often, and at the run's end.
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

    /// The time of the one after that at `time`, nanoseconds; after the last one there is none.
    fn after(&self, time: Time) -> u64 {
        let next = || (time.0 / self.every + 1).saturating_mul(self.every).min(self.end.0);
        if time >= self.end { u64::MAX } else { next() }
    }

    /// The same, of a time at which a sample is.
    fn next(&self, time: Time) -> u64 {
        let next = || time.0.saturating_add(self.every).min(self.end.0);
        if time >= self.end { u64::MAX } else { next() }
    }

    /// The number of the first sample at or after `time`.
    fn number(&self, time: Time) -> u64 {
        if time > self.end { u64::MAX } else { time.0.div_ceil(self.every) }
    }

    /// The latest time whose first sample is that of the number.
    fn last_time(&self, number: u64) -> u64 {
        if number == u64::MAX {
            u64::MAX
        } else {
            number.saturating_mul(self.every).min(self.end.0)
        }
    }
}

/// Highest level per sample interval, the level at its start included.
#[derive(Clone, Debug)]
pub struct Peaks {
    samples: Samples,
    /// Numbers of samples and the highest level before each, but for the last one.
    buckets: VecDeque<(u64, u64)>,
    last: (u64, u64),
    /// The latest time that belongs to the last bucket.
    bucket_end: u64,
    level_at_last_sample: u64,
}

impl Peaks {
    /// No level yet.
    pub fn new(samples: Samples) -> Peaks {
        let buckets = VecDeque::new();
        Peaks { samples, buckets, last: (0, 0), bucket_end: 0, level_at_last_sample: 0 }
    }

    /// `level` was reached at `time`; times do not go back.
    #[inline]
    pub fn reach(&mut self, time: Time, level: u64) {
        if time.0 > self.bucket_end {
            self.begin_bucket(time);
        }
        self.last.1 = level.max(self.last.1);
    }

    fn begin_bucket(&mut self, time: Time) {
        let bucket = self.samples.number(time);
        self.bucket_end = self.samples.last_time(bucket);
        self.buckets.push_back(core::mem::replace(&mut self.last, (bucket, 0)));
    }

    /// `level` was reached at each packet of a train.
    pub fn reach_at_each(&mut self, train: &Train, level: u64) {
        let mut at = 0;
        while at < train.count {
            self.reach(train.time(at), level);
            at = train.until(Time(self.bucket_end)).max(at + 1);
        }
    }

    /// The packets of a train join a line out of which others leave meanwhile: the level after each has
    /// come. `line` lets out what leaves by a time and tells what is there besides the train.
    ///
    /// While those who leave do so at one pace, or none does, the level rises or falls all the time, so
    /// that its peak is at an end. Nothing is asked where not even `most`, with nobody leaving, would be a peak.
    pub fn reach_in_line(&mut self, train: &Train, most: u64, mut line: impl FnMut(Time) -> Line) {
        if most <= self.last.1 && train.last().0 <= self.bucket_end {
            return;
        }
        let mut at = 0;
        while at < train.count {
            let now = train.time(at);
            let Line { others, leaving } = line(now);
            self.reach(now, others.wrapping_add(u64::from(at) + 1));
            if at + 2 >= train.count {
                at += 1;
                continue;
            }
            let (until, falls) =
                leaving.map_or((u64::MAX, false), |leaving| leaving.trend(now, train.spacing));
            let beyond = train.until(Time(until.min(self.bucket_end))).max(at + 1);
            if beyond > at + 1 && !falls {
                let last = train.time(beyond - 1);
                self.reach(last, line(last).others.wrapping_add(u64::from(beyond)));
            }
            at = beyond;
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
        if self.last.0 <= bucket {
            highest = highest.max(core::mem::take(&mut self.last.1));
        }
        self.level_at_last_sample = level;
        highest
    }
}

/// A line at some time, see [`Peaks::reach_in_line`].
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Packets in it but for those of the train that is joining. Those of the train that have left
    /// count as less than none, modulo 2^64.
    pub others: u64,
    /// The next ones to leave, none of them before or at this time.
    pub leaving: Option<Leaving>,
}

/// Packets that leave at one pace, at least one.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// When the first one leaves, nanoseconds.
    pub first: u64,
    /// Nanoseconds between two of them.
    pub spacing: u64,
    /// How many.
    pub count: u32,
}

impl Leaving {
    /// Appends packets that leave no sooner if they keep the pace; returns whether they do.
    pub fn extend(&mut self, next: &Leaving) -> bool {
        let last = self.first + u64::from(self.count - 1) * self.spacing;
        let next_ones = (next.first, next.spacing, next.count);
        let Some(pace) = joint_pace((last, self.spacing, self.count), next_ones) else {
            return false;
        };
        self.spacing = pace;
        self.count += next.count;
        true
    }

    /// Until when the level only rises or only falls, seen at `now` where others arrive so often;
    /// whether it falls.
    fn trend(&self, now: Time, spacing: u64) -> (u64, bool) {
        let last = self.first + u64::from(self.count - 1) * self.spacing;
        if self.count == 1 || spacing <= self.spacing {
            return (last - 1, false);
        }
        // Faster than others come, once they have begun.
        let begun = self.first - now.0 <= self.spacing;
        if begun { (last - 1, true) } else { (self.first - 1, false) }
    }
}

/// The counters of a stage in which units wait.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Units that enter and leave at one time, weighed in bytes.
    pub passed: Tally,
    /// Units that entered otherwise, weighed in bytes.
    pub entered: Tally,
    /// Those of them that left, weighed in bytes.
    pub left: Tally,
    /// Units that were dropped.
    pub dropped: Drops,
    /// The most that waited.
    pub peaks: Peaks,
    /// When something waited, and when there was no room for more.
    pub times: Occupancy,
}

impl Counters {
    /// Nothing has happened yet.
    pub fn new(samples: Samples) -> Counters {
        Counters {
            passed: Tally::new(samples),
            entered: Tally::new(samples),
            left: Tally::new(samples),
            dropped: Drops::default(),
            peaks: Peaks::new(samples),
            times: Occupancy::new(samples),
        }
    }

    /// Counts everything at or before `time`.
    pub fn advance(&mut self, time: Time) {
        for tally in [&mut self.passed, &mut self.entered, &mut self.left, &mut self.dropped] {
            tally.advance(time);
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
        self.times.told(now, sample)
    }
}
