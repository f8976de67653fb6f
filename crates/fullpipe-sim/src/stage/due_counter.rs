//! Counting what happens in the future of a sample.
//!
//! A stage works on whole trains, so the last packets of a train may lie beyond the next sample. These counters keep
//! the events that are not yet due. A sample therefore sees exactly the events up to its time.

use super::Samples;
use crate::packet::{Paced, come_by};
use crate::units::Time;
use alloc::collections::VecDeque;

/// Events at even pace; none where the count is 0.
#[derive(Clone, Copy, Debug, Default)]
struct EventRun {
    first: u64,
    spacing: u64,
    count: u32,
    each: u64,
}

impl EventRun {
    /// Times of the events.
    fn paced(&self) -> Paced {
        Paced { first: self.first, spacing: self.spacing, count: self.count }
    }

    /// Appends a later run if it continues this one exactly; returns whether it did.
    fn extend(&mut self, next: &EventRun) -> bool {
        if self.count == 0 || self.each != next.each {
            return false;
        }
        // The two runs are one if a constant pace leads from one to the other.
        let Some(spacing) = self.paced().joint_spacing(next.paced()) else {
            return false;
        };
        self.spacing = spacing;
        self.count += next.count;
        true
    }

    /// Takes out what comes at or before `time`.
    fn take_until(&mut self, time: Time) -> EventRun {
        if self.count == 0 || self.first > time.0 {
            return EventRun::default();
        }
        let count = come_by(self.first, self.spacing, self.count, time.0);
        let taken = EventRun { count, ..*self };
        self.count -= count;
        self.first += u64::from(count) * self.spacing;
        taken
    }

    /// Sum of the events' times, modulo 2^64.
    #[inline]
    fn times(&self) -> u64 {
        // Most runs are one event.
        if self.count == 1 {
            return self.first;
        }
        let count = u64::from(self.count);
        let gaps = count * count.saturating_sub(1) / 2;
        count.wrapping_mul(self.first).wrapping_add(gaps.wrapping_mul(self.spacing))
    }

    /// Sum of the events' times, each multiplied by its weight.
    fn weighed_times(&self) -> u128 {
        let count = u64::from(self.count);
        let gaps = count * count.saturating_sub(1) / 2;
        let times = u128::from(count) * u128::from(self.first)
            + u128::from(gaps) * u128::from(self.spacing);
        times * u128::from(self.each)
    }
}

/// Counts events at even pace, in order of time. `each` is a weight: bytes, or nanoseconds of work that ends at the
/// event.
#[derive(Clone, Debug, Default)]
pub struct DueCounter {
    /// Times of samples, if they are known.
    samples: Option<Samples>,
    /// Time of the next sample after the first sample, nanoseconds. Events before it are counted at once.
    counted_before: u64,
    /// Runs that are not counted yet, without `last`.
    pending: VecDeque<EventRun>,
    /// The latest run, which later events may extend.
    last: EventRun,
    /// Events up to the last [`DueCounter::advance`].
    pub count: u64,
    /// Sum of the events' weights.
    pub weight: u64,
    /// Sum of their times, nanoseconds, modulo 2^64.
    times: u64,
    /// Sum of times multiplied by weights; none where nobody asks for it.
    weighed_times: Option<u128>,
}

impl DueCounter {
    /// A counter for these samples. After the first sample it is asked at no other time.
    pub fn new(samples: Samples) -> DueCounter {
        DueCounter { samples: Some(samples), ..DueCounter::default() }
    }

    /// Adds `count` events from `first` on, `spacing` apart, each of weight `each`; not before earlier events.
    #[inline]
    pub fn add(&mut self, first: Time, spacing: u64, count: u32, each: impl Into<u64>) {
        let run = EventRun { first: first.0, spacing, count, each: each.into() };
        if first.0 + u64::from(count.saturating_sub(1)) * spacing < self.counted_before {
            return self.count_in(&run);
        }
        self.add_later(run);
    }

    #[inline]
    fn count_in(&mut self, run: &EventRun) {
        self.count += u64::from(run.count);
        self.weight += u64::from(run.count) * run.each;
        self.times = self.times.wrapping_add(run.times());
        if let Some(times) = &mut self.weighed_times {
            *times += run.weighed_times();
        }
    }

    /// Keeps a run that is not over at the next sample, which few runs are.
    #[cold]
    #[inline(never)]
    fn add_later(&mut self, next: EventRun) {
        if self.last.extend(&next) {
            return;
        }
        if self.last.count > 0 {
            self.pending.push_back(self.last);
        }
        self.last = next;
    }

    /// Adds one event.
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

    /// Ages of the events at `now`, the time of the last [`DueCounter::advance`]: nanoseconds added up, modulo 2^64.
    pub fn age(&self, now: Time) -> u64 {
        self.count.wrapping_mul(now.0).wrapping_sub(self.times)
    }

    /// Multiplies times by weights, too; to be called before the first event.
    pub fn weigh(&mut self) {
        self.weighed_times = Some(0);
    }

    /// Ages as of [`DueCounter::age`], each multiplied by the event's weight; 0 where nobody asks for them.
    pub fn weighed_age(&self, now: Time) -> u128 {
        let until_now = u128::from(self.weight) * u128::from(now.0);
        self.weighed_times.map_or(0, |times| until_now - times)
    }

    /// Nanoseconds of work done by `time`, the last [`DueCounter::advance`], including the work in progress then. The
    /// weights are work, one after the other.
    pub fn work(&self, time: Time) -> u64 {
        let last = (self.last.count > 0).then_some(&self.last);
        let run = self.pending.front().or(last);
        self.weight + run.map_or(0, |run| (time.0 + run.each).saturating_sub(run.first))
    }
}
