//! The queue between TCP and the driver: `pfifo_fast` with one band in use. Unit of decision: the skb.
//!
//! When it holds `limit` skbs, an arriving skb is refused whole, and its sender learns this (NET_XMIT_DROP, Linux
//! 2.6.20 `pfifo_fast_enqueue`).
//!
//! Limits:
//! - All packets have one priority. A refusal wakes no sender.

use crate::config::Driver;
use crate::host::stage::info;
use crate::packet::Train;
use crate::stage::{Counters, DueCounter, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::collections::VecDeque;

/// State of `pfifo_fast`.
pub(super) struct Qdisc {
    limit: u64,
    /// Times at which the waiting skbs enter the ring.
    waiting: VecDeque<u64>,
    counters: Counters,
    driver: Driver,
    /// Times at which the driver refused skbs.
    requeues: DueCounter,
}

impl Qdisc {
    /// An empty queue for `limit` skbs; `samples` are the trace's.
    pub(super) fn new(limit: u32, driver: Driver, samples: Samples) -> Qdisc {
        Qdisc {
            limit: u64::from(limit),
            waiting: VecDeque::new(),
            counters: Counters::new(samples),
            driver,
            requeues: DueCounter::new(samples),
        }
    }

    /// Forgets the skbs that have entered the ring by `now`.
    pub(super) fn forget_entered(&mut self, now: Time) {
        while self.waiting.front().is_some_and(|&entry| entry <= now.0) {
            self.waiting.pop_front();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() as u64 >= self.limit
    }

    /// Refuses an skb.
    pub(super) fn refuse(&mut self, now: Time, bytes: u32) {
        self.counters.dropped.one(now, bytes);
    }

    /// Takes an skb that enters the ring at `entry`, after it became the first at `first`. Returns when the driver
    /// refuses it, if it does.
    pub(super) fn enter(&mut self, now: Time, first: Time, entry: u64, bytes: u32) -> Option<Time> {
        // An skb that enters at once never waits, so it does not count as queued.
        if entry <= now.0 {
            self.counters.passed.one(now, bytes);
            return None;
        }
        self.counters.entered.one(now, bytes);
        self.counters.left.one(Time(entry), bytes);
        self.waiting.push_back(entry);
        self.counters.peaks.reach(now, self.waiting.len() as u64);
        self.counters.times.occupied.add(now.0, entry);

        // A full queue stays full until its first skb enters the ring.
        if let Some(&next) = self.waiting.front().filter(|_| self.is_full()) {
            self.counters.times.full.add(now.0, next);
        }
        // Where one interrupt frees several descriptors, the skb is offered when it becomes the first, and enters at
        // once.
        if self.driver == Driver::Stops || first.0 == entry {
            return None;
        }
        self.requeues.one(first, 0u64);
        Some(first)
    }

    /// Passes packets that enter the ring on arrival.
    pub(super) fn pass(&mut self, packets: &Train) {
        self.counters.passed.add(packets.first, packets.spacing, packets.count, packets.ip_len);
    }

    pub(super) fn info(&self, host: &str) -> StageInfo {
        info(host, "qdisc", "skb", Some(self.limit))
    }

    pub(super) fn sample(&mut self, now: Time) -> StageSample {
        self.requeues.advance(now);
        StageSample { requeues: self.requeues.count, ..self.counters.sample(now) }
    }
}
