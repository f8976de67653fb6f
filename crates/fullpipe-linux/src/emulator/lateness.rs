//! Lateness of packets: how long after its time each one left.

use fullpipe_base::trace::Counter;
use fullpipe_base::units::Time;
use std::sync::Arc;

/// Buckets of each power of two: a bucket is at most 1/8 wider than its least value.
const STEPS: u32 = 8;

/// A histogram of times in ns, with buckets that widen with the time.
#[derive(Debug, Default)]
pub(super) struct Lateness {
    counts: Vec<u64>,
    packets: u64,
    most: u64,
}

/// Work of the path in a run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) late: Lateness,
    /// Segments that elements dropped.
    pub(super) drops: u64,
    /// Reads at which the kernel had dropped packets, for the queue's socket was full (ENOBUFS).
    pub(super) overruns: u64,
}

impl Lateness {
    /// Adds a packet that left `ns` late.
    pub(super) fn add(&mut self, ns: u64) {
        let at = bucket(ns);
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.packets += 1;
        self.most = self.most.max(ns);
    }

    /// Time within which that part of the packets left, ns: the end of its bucket.
    pub(super) fn within(&self, part: f64) -> u64 {
        let wanted = (self.packets as f64 * part).ceil() as u64;
        let mut so_far = 0;
        for (at, count) in self.counts.iter().enumerate() {
            so_far += count;
            if so_far >= wanted {
                return end_of(at).min(self.most);
            }
        }
        self.most
    }
}

/// Number of the bucket of a time.
fn bucket(ns: u64) -> usize {
    if ns < u64::from(STEPS) {
        return ns as usize;
    }
    let power = ns.ilog2();
    let part = (ns >> (power - STEPS.ilog2())) - u64::from(STEPS);
    ((power - STEPS.ilog2() + 1) * STEPS) as usize + part as usize
}

/// Largest time of a bucket, ns.
fn end_of(bucket: usize) -> u64 {
    let (steps, bucket) = (u64::from(STEPS), bucket as u64);
    match (bucket / steps).checked_sub(1) {
        None => bucket,
        Some(shift) => ((bucket % steps + steps + 1) << shift) - 1,
    }
}

impl Tally {
    /// Counters of the trace at `time`.
    pub(super) fn counters(&self, time: Time) -> Vec<Counter> {
        let late = &self.late;
        let all = [
            ("emulator.packets", late.packets),
            ("emulator.late_p50_ns", late.within(0.5)),
            ("emulator.late_p99_ns", late.within(0.99)),
            ("emulator.late_max_ns", late.most),
            ("emulator.dropped_segments", self.drops),
            ("emulator.overruns", self.overruns),
        ];
        let host: Arc<str> = "path".into();
        let counter = |(name, value): (&str, u64)| Counter {
            time,
            host: host.clone(),
            name: name.into(),
            value,
        };
        all.map(counter).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_holds_its_own_end_and_no_more() {
        for at in 0..300 {
            assert_eq!(bucket(end_of(at)), at);
            assert_eq!(bucket(end_of(at) + 1), at + 1);
        }
    }

    #[test]
    fn percentiles_are_at_most_an_eighth_too_large() {
        let mut late = Lateness::default();
        (1..=1000).for_each(|us| late.add(us * 1000));
        for (part, exact) in [(0.5, 500_000.0), (0.99, 990_000.0)] {
            let found = late.within(part) as f64;
            assert!((exact..=exact * 1.125).contains(&found), "{part}: {found}");
        }
        assert_eq!(late.within(1.0), 1_000_000);
    }
}
