//! Peaks of a level between samples, for the level itself and for the length of a queue.

use super::Samples;
use crate::packet::{Paced, Train};
use crate::units::Time;
use alloc::collections::VecDeque;

/// Highest level per sample interval, the level at its start included.
#[derive(Clone, Debug)]
pub struct Peaks {
    samples: Samples,
    /// Number of a sample and the highest level before it, for each interval but the last one.
    buckets: VecDeque<(u64, u64)>,
    last: (u64, u64),
    /// The latest time that belongs to the last bucket.
    bucket_end: u64,
    level_at_last_sample: u64,
}

impl Peaks {
    /// Peaks before any level was reached.
    pub fn new(samples: Samples) -> Peaks {
        let buckets = VecDeque::new();
        Peaks { samples, buckets, last: (0, 0), bucket_end: 0, level_at_last_sample: 0 }
    }

    /// Notes that `level` was reached at `time`; times do not go back.
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

    /// Notes that `level` was reached at each packet of a train.
    pub fn reach_at_each(&mut self, train: &Train, level: u64) {
        let mut at = 0;
        while at < train.count {
            self.reach(train.time(at), level);
            at = train.until(Time(self.bucket_end)).max(at + 1);
        }
    }

    /// Notes the level of a queue after each packet of a train has joined it, while others leave. `line` removes what
    /// leaves by a time and returns what is there besides the train.
    ///
    /// While packets leave at one pace, or none leaves, the level only rises or only falls, so its peak is at an end.
    /// `line` is not called where even `most`, the level without departures, would be no peak.
    pub fn reach_in_line(&mut self, train: &Train, most: u64, mut line: impl FnMut(Time) -> Line) {
        // Even without departures the level would be no peak, so nothing is computed.
        if most <= self.last.1 && train.last().0 <= self.bucket_end {
            return;
        }
        let mut at = 0;
        while at < train.count {
            let now = train.time(at);
            let Line { others, leaving } = line(now);
            self.reach(now, others.wrapping_add(u64::from(at) + 1));

            // One or two packets have no course between them.
            if at + 2 >= train.count {
                at += 1;
                continue;
            }

            // Up to the time `until` the level only rises, or only falls.
            let (until, falls) =
                leaving.map_or((u64::MAX, false), |leaving| leaving.trend(now, train.spacing));
            let beyond = train.until(Time(until.min(self.bucket_end))).max(at + 1);

            // A level that rises has its peak at the end.
            if beyond > at + 1 && !falls {
                let last = train.time(beyond - 1);
                self.reach(last, line(last).others.wrapping_add(u64::from(beyond)));
            }
            at = beyond;
        }
    }

    /// Highest level since the last sample, at the sample `time`, when the level is `level`.
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

        // The current bucket ends with the sample; else it belongs to the next one.
        if self.last.0 <= bucket {
            highest = highest.max(core::mem::take(&mut self.last.1));
        }
        self.level_at_last_sample = level;
        highest
    }
}

/// A queue at some time, see [`Peaks::reach_in_line`].
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Packets in the queue, without those of the train that is joining. Packets of the train that have left count as
    /// less than none, modulo 2^64.
    pub others: u64,
    /// The next packets to leave, all of them after this time.
    pub leaving: Option<Leaving>,
}

/// Packets that leave at one pace, at least one.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// Time at which the first packet leaves, nanoseconds.
    pub first: u64,
    /// Nanoseconds between two of them.
    pub spacing: u64,
    /// Number of packets.
    pub count: u32,
}

impl Leaving {
    /// Times at which the packets leave.
    fn paced(&self) -> Paced {
        Paced { first: self.first, spacing: self.spacing, count: self.count }
    }

    /// Appends packets that leave no sooner if they keep the pace; returns whether they do.
    pub fn extend(&mut self, next: &Leaving) -> bool {
        let Some(spacing) = self.paced().joint_spacing(next.paced()) else {
            return false;
        };
        self.spacing = spacing;
        self.count += next.count;
        true
    }

    /// Until when the level only rises or only falls, seen at `now`, where packets arrive at this spacing; whether it
    /// falls.
    fn trend(&self, now: Time, spacing: u64) -> (u64, bool) {
        let last = self.first + u64::from(self.count - 1) * self.spacing;
        if self.count == 1 || spacing <= self.spacing {
            return (last - 1, false);
        }
        // Packets leave faster than others arrive, so the level falls once they have begun to leave.
        let begun = self.first - now.0 <= self.spacing;
        if begun { (last - 1, true) } else { (self.first - 1, false) }
    }
}
