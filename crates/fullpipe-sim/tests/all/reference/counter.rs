//! The counters of a place where packets wait, and of something that works.
//!
//! A host may decide about packets at its CPU's time, ahead of everything else. So a counter notes
//! each change with its time, one by one, and a sample adds up those up to its own.

use fullpipe_sim::config::QueueLimit;
use fullpipe_sim::trace::StageSample;
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

/// One change of a place's counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// Units that begin to wait, or end it.
    pub waiting: i64,
    /// Bytes of these.
    pub bytes: i64,
    /// Units that enter, less those that are dropped after all.
    pub entered: i64,
    /// Units that leave.
    pub left: u64,
    /// Units that are dropped.
    pub dropped: u64,
    /// Units that the driver refuses.
    pub requeues: u64,
    /// Bytes of a unit that comes, taken or not.
    pub came: Option<u32>,
}

impl Change {
    /// A unit of `bytes` that waited is dropped.
    pub fn drop_waiting(&mut self, bytes: u32) {
        self.waiting -= 1;
        self.bytes -= i64::from(bytes);
        self.entered -= 1;
        self.dropped += 1;
    }
}

/// Counter of a stage, with changes that lie in the future.
#[derive(Default)]
pub struct Counter {
    noted: VecDeque<(Time, Change)>,
    waiting: i64,
    bytes: i64,
    sums: Change,
    peak: i64,
    /// Capacity, if it is bounded.
    limit: Option<QueueLimit>,
    /// Bytes of the last arrival.
    last: u32,
    /// Time up to which the sums count: waiting packets, their bytes, time without room and without packets.
    summed: Time,
    areas: [u128; 2],
    full: u64,
    empty: u64,
}

impl Counter {
    /// Nothing so far, in a place of that size.
    pub fn bounded(limit: QueueLimit) -> Counter {
        Counter { limit: Some(limit), ..Counter::default() }
    }

    /// A counter for a place of so many units.
    pub fn holding(units: usize) -> Counter {
        Counter::bounded(QueueLimit::Packets(units as u32))
    }

    /// Notes a change; times do not go back.
    pub fn note(&mut self, time: Time, change: Change) {
        assert!(self.noted.back().is_none_or(|(last, _)| *last <= time), "time goes back");
        self.noted.push_back((time, change));
    }

    /// A unit of `bytes` enters and waits.
    pub fn enter(&mut self, time: Time, bytes: u32) {
        let (came, bytes) = (Some(bytes), i64::from(bytes));
        self.note(time, Change { waiting: 1, bytes, entered: 1, came, ..Change::default() });
    }

    /// A unit of `bytes` ends its wait and leaves.
    pub fn leave(&mut self, time: Time, bytes: u32) {
        let bytes = -i64::from(bytes);
        self.note(time, Change { waiting: -1, bytes, left: 1, ..Change::default() });
    }

    /// A unit goes through without waiting.
    pub fn pass(&mut self, time: Time) {
        self.note(time, Change { entered: 1, left: 1, ..Change::default() });
    }

    /// A unit is dropped.
    pub fn drop(&mut self, time: Time) {
        self.note(time, Change { dropped: 1, ..Change::default() });
    }

    /// A unit of `bytes` is dropped as it comes.
    pub fn drop_coming(&mut self, time: Time, bytes: u32) {
        self.note(time, Change { dropped: 1, came: Some(bytes), ..Change::default() });
    }

    fn is_full(&self) -> bool {
        let one_more = match self.limit {
            Some(QueueLimit::Packets(limit)) => self.waiting + 1 > i64::from(limit),
            Some(QueueLimit::Bytes(limit)) => self.bytes + i64::from(self.last) > limit as i64,
            None => false,
        };
        self.waiting > 0 && one_more
    }

    /// Adds up what has been since the last time.
    fn sum_up(&mut self, now: Time) {
        let since = now.0 - self.summed.0;
        self.areas[0] += self.waiting as u128 * u128::from(since);
        self.areas[1] += self.bytes as u128 * u128::from(since);
        self.full += if self.is_full() { since } else { 0 };
        self.empty += if self.waiting == 0 { since } else { 0 };
        self.summed = now;
    }

    /// The driver refuses a unit.
    pub fn requeue(&mut self, time: Time) {
        self.note(time, Change { requeues: 1, ..Change::default() });
    }

    /// The counters at `now`, the peak since the last call.
    pub fn sample(&mut self, now: Time) -> StageSample {
        self.peak = self.waiting;
        while self.noted.front().is_some_and(|(time, _)| *time <= now) {
            let (time, change) = self.noted.pop_front().expect("it was there");
            self.sum_up(time);
            self.last = change.came.unwrap_or(self.last);
            self.waiting += change.waiting;
            self.bytes += change.bytes;
            self.sums.entered += change.entered;
            self.sums.left += change.left;
            self.sums.dropped += change.dropped;
            self.sums.requeues += change.requeues;
            self.peak = self.peak.max(self.waiting);
        }
        self.sum_up(now);
        StageSample {
            waiting_ns: self.areas[0] as u64,
            waiting_byte_us: match self.limit {
                Some(QueueLimit::Bytes(_)) => (self.areas[1] / 1000) as u64,
                _ => 0,
            },
            full_ns: self.full,
            empty_ns: self.empty,
            waiting: u64::try_from(self.waiting).expect("a queue does not hold less than nothing"),
            waiting_bytes: u64::try_from(self.bytes).expect("nor do its bytes"),
            peak: self.peak as u64,
            entered: u64::try_from(self.sums.entered).expect("what is dropped has come"),
            left: self.sums.left,
            dropped: self.sums.dropped,
            requeues: self.sums.requeues,
            ..StageSample::default()
        }
    }
}

/// Intervals during which something worked, in order, one after the other.
#[derive(Default)]
pub struct Busy {
    intervals: VecDeque<(Time, Time)>,
    over: u64,
}

impl Busy {
    /// Notes work from `from` to `to`.
    pub fn note(&mut self, from: Time, to: Time) {
        assert!(self.intervals.back().is_none_or(|(_, end)| *end <= from), "two works at once");
        self.intervals.push_back((from, to));
    }

    /// Nanoseconds of work up to `now`.
    pub fn up_to(&mut self, now: Time) -> u64 {
        while self.intervals.front().is_some_and(|(_, to)| *to <= now) {
            let (from, to) = self.intervals.pop_front().expect("it was there");
            self.over += (to - from).0;
        }
        self.over + self.intervals.front().map_or(0, |(from, _)| now.saturating_sub(*from).0)
    }
}
