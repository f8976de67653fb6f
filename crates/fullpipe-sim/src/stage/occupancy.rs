//! Accumulates how long a condition of a place (non-empty, full) has held.
//!
//! As in [`DueCounter`], spans may lie in the future of a sample. The sample sees the spans that have ended by then,
//! and the part of the current span that has passed.

use super::{DueCounter, Samples};
use crate::trace::StageSample;
use crate::units::Time;

/// A span of time, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Beginning.
    pub from: u64,
    /// End.
    pub to: u64,
}

/// Spans of time, one after the other; those that touch are one.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    begun: DueCounter,
    ended: DueCounter,
    /// The latest span, which may grow, nanoseconds; the counters do not hold it yet. Its end is `u64::MAX` while it is
    /// unknown.
    last: Span,
}

impl Spans {
    /// No spans yet. They are read at all of these samples and at no other time.
    pub fn new(samples: Samples) -> Spans {
        Spans {
            begun: DueCounter::new(samples),
            ended: DueCounter::new(samples),
            last: Span::default(),
        }
    }

    /// Adds a span from `from` to `to`, nanoseconds; it does not begin before the last one.
    #[inline]
    pub fn add(&mut self, from: u64, to: u64) {
        if from <= self.last.to {
            self.last.to = self.last.to.max(to);
            return;
        }
        self.close();
        self.last = Span { from, to };
    }

    /// Adds `count` spans, of which the first does not begin before the last one so far ends. Beginnings are `pace`
    /// apart, ends are `pace_of_ends` apart.
    pub fn add_each(&mut self, first: Span, pace: u64, pace_of_ends: u64, count: u32) {
        let Some(more) = count.checked_sub(1) else { return };
        self.close();
        self.begun.add(Time(first.from), pace, count, 0u64);
        self.ended.add(Time(first.to), pace_of_ends, count, 0u64);
        let end = first.to + u64::from(more) * pace_of_ends;
        self.last = Span { from: end, to: end };
    }

    fn close(&mut self) {
        let Span { from, to } = self.last;
        if to > from {
            self.begun.one(Time(from), 0u64);
            self.ended.one(Time(to), 0u64);
        }
    }

    /// Ends the last span at `at` if it would end later.
    pub fn cut(&mut self, at: u64) {
        self.last.to = self.last.to.min(at.max(self.last.from));
    }

    /// Begins a span at `now` where `so` holds, and ends it there where it does not.
    pub fn set(&mut self, now: Time, so: bool) {
        if so {
            self.add(now.0, u64::MAX);
        } else {
            self.cut(now.0);
        }
    }

    /// Nanoseconds up to `now` inside spans.
    pub fn up_to(&mut self, now: Time) -> u64 {
        self.begun.advance(now);
        self.ended.advance(now);
        let over = self.begun.age(now).wrapping_sub(self.ended.age(now));
        let Span { from, to } = self.last;
        over + (to.min(now.0) - from.min(now.0))
    }
}

/// Waiting time of units that arrived, some of which have gone, by `now`, the time of the last [`DueCounter::advance`]:
/// nanoseconds of all units added up, modulo 2^64.
pub fn waited(now: Time, came: &DueCounter, gone: &[&DueCounter]) -> u64 {
    gone.iter().fold(came.age(now), |sum, gone| sum.wrapping_sub(gone.age(now)))
}

/// Waiting time of units multiplied by their bytes, microseconds. 0 unless the counters [weigh](DueCounter::weigh)
/// bytes.
pub fn waited_bytes(now: Time, came: &DueCounter, gone: &[&DueCounter]) -> u64 {
    let gone: u128 = gone.iter().map(|counter| counter.weighed_age(now)).sum();
    ((came.weighed_age(now) - gone) / 1000) as u64
}

/// Durations for which a place was occupied, and for which it was full.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    /// Spans in which something waited.
    pub occupied: Spans,
    /// Spans in which something waited and one more had no room.
    pub full: Spans,
}

impl Occupancy {
    /// Spans of an empty place. They are read at all of these samples and at no other time.
    pub fn new(samples: Samples) -> Occupancy {
        Occupancy { occupied: Spans::new(samples), full: Spans::new(samples) }
    }

    /// Notes that from `now` on `waiting` units wait where `limit` have room.
    pub fn hold(&mut self, now: Time, waiting: u64, limit: u64) {
        self.occupied.set(now, waiting > 0);
        self.full.set(now, waiting > 0 && waiting >= limit);
    }

    /// A sample at `now` with these times.
    pub fn add_times(&mut self, now: Time, sample: StageSample) -> StageSample {
        let empty_ns = now.0 - self.occupied.up_to(now);
        StageSample { full_ns: self.full.up_to(now), empty_ns, ..sample }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_are_one_and_a_sample_sees_what_has_passed() {
        let mut spans = Spans::default();
        spans.add(10, 20);
        spans.add(15, 30);
        spans.add(30, 40);
        assert_eq!(spans.up_to(Time(5)), 0);
        assert_eq!(spans.up_to(Time(25)), 15);
        spans.add(50, 60);
        spans.cut(55);
        assert_eq!(spans.up_to(Time(100)), 35);
        spans.add_each(Span { from: 100, to: 101 }, 10, 11, 3);
        // 100 to 101, 110 to 112, 120 to 123.
        assert_eq!(spans.up_to(Time(111)), 37);
        assert_eq!(spans.up_to(Time(130)), 41);
    }

    #[test]
    fn what_is_set_lasts_until_it_is_set_again() {
        let mut spans = Spans::default();
        spans.set(Time(0), false);
        spans.set(Time(10), true);
        spans.set(Time(12), true);
        assert_eq!(spans.up_to(Time(20)), 10);
        spans.set(Time(30), false);
        spans.set(Time(30), true);
        spans.set(Time(40), false);
        spans.set(Time(45), false);
        assert_eq!(spans.up_to(Time(50)), 30);
    }
}
