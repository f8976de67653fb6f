//! A rate with a drop-tail queue in front of it. Unit of decision: the segment.
//!
//! Invariant: the link is never idle while its queue holds a packet. When full: the arriving
//! packet is dropped, counted, and nobody is told. A packet that leaves the queue at the very
//! moment another arrives makes room for it.

use super::{Configuration, info};
use crate::bounds::demand;
use crate::drops::Drops;
use crate::path::{Serialiser, Stage};
use crate::tally::{Peaks, Samples, Tally};
use crate::trace::{StageInfo, StageSample};
use crate::train::{Train, append, come_by};
use crate::units::{Framing, Rate, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A transmission rate and its drop-tail queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Serialisation rate.
    pub rate: Rate,
    /// What the rate (and a queue limit in bytes) counts.
    pub framing: Framing,
    /// Capacity of the queue, without the packet in transmission.
    pub limit: QueueLimit,
}

/// Capacity of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// In bytes, counted as the link's framing counts them.
    Bytes(u64),
    /// In packets.
    Packets(u32),
}

impl Configuration for Link {
    const KIND: &'static str = "link";

    fn check(&self) -> Result<(), String> {
        demand(self.rate.0 > 0, format!("{}: rate 0", self.name))
    }

    fn build(&self, _seed: u64, samples: Samples) -> Box<dyn Stage> {
        Box::new(RateLink::new(self, samples))
    }
}

/// Packets whose transmission starts at even pace.
#[derive(Clone, Copy, Debug)]
struct Starts {
    first: u64,
    spacing: u64,
    count: u32,
    bytes: u32,
}

/// See the module's description.
struct RateLink {
    config: Link,
    serialiser: Serialiser,
    /// When the packet in transmission, or the last one queued, is done.
    free_at: u64,
    /// Packets waiting, by the time at which their transmission starts.
    waiting: VecDeque<Starts>,
    waiting_packets: u64,
    waiting_bytes: u64,
    entered: Tally,
    started: Tally,
    /// Ends of transmission, each with the time it took.
    left: Tally,
    dropped: Drops,
    peaks: Peaks,
}

impl RateLink {
    /// An idle link; `samples` are the trace's.
    fn new(config: &Link, samples: Samples) -> RateLink {
        RateLink {
            config: config.clone(),
            serialiser: Serialiser::new(config.rate, config.framing.overhead()),
            free_at: 0,
            waiting: VecDeque::new(),
            waiting_packets: 0,
            waiting_bytes: 0,
            entered: Tally::default(),
            started: Tally::default(),
            left: Tally::default(),
            dropped: Drops::default(),
            peaks: Peaks::new(samples),
        }
    }

    fn start_waiting_ones(&mut self, now: u64) {
        while let Some(run) = self.waiting.front_mut() {
            if run.first > now {
                return;
            }
            let started = come_by(run.first, run.spacing, run.count, now);
            self.waiting_packets -= u64::from(started);
            self.waiting_bytes -= u64::from(started) * u64::from(run.bytes);
            if started < run.count {
                run.count -= started;
                run.first += u64::from(started) * run.spacing;
                return;
            }
            self.waiting.pop_front();
        }
    }

    fn has_room(&self, bytes: u32) -> bool {
        match self.config.limit {
            QueueLimit::Packets(limit) => self.waiting_packets < u64::from(limit),
            QueueLimit::Bytes(limit) => self.waiting_bytes + u64::from(bytes) <= limit,
        }
    }

    fn wait(&mut self, start: u64, spacing: u64, bytes: u32) {
        self.waiting_packets += 1;
        self.waiting_bytes += u64::from(bytes);
        if let Some(run) = self.waiting.back_mut() {
            let next = run.first + u64::from(run.count) * run.spacing;
            if run.bytes == bytes && run.spacing == spacing && next == start {
                run.count += 1;
                return;
            }
        }
        self.waiting.push_back(Starts { first: start, spacing, count: 1, bytes });
    }

    /// The queue stays empty and every packet starts as it arrives.
    fn pass_idle(&mut self, train: &Train, service: u64, bytes: u32, out: &mut Vec<Train>) {
        self.entered.add(train.first, train.spacing, train.count, bytes);
        self.started.add(train.first, train.spacing, train.count, bytes);
        let first = Time(train.first.0 + service);
        let spacing = if train.count == 1 { 0 } else { train.spacing };
        self.left.add(first, spacing, train.count, service);
        self.free_at = train.last().0 + service;
        append(out, train.retimed(0, train.count, first, spacing));
    }

    fn pass_one(&mut self, packet: Train, service: u64, bytes: u32, out: &mut Vec<Train>) {
        let now = packet.first.0;
        self.start_waiting_ones(now);
        let start = self.free_at.max(now);
        if start > now {
            if !self.has_room(bytes) {
                self.dropped.lose(&packet, bytes);
                return;
            }
            self.wait(start, service, bytes);
            self.peaks.reach(packet.first, self.waiting_packets);
        }
        self.entered.one(packet.first, bytes);
        self.started.one(Time(start), bytes);
        self.free_at = start + service;
        self.left.one(Time(self.free_at), service);
        append(out, packet.retimed(0, 1, Time(self.free_at), 0));
    }
}

impl Stage for RateLink {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        let service = self.serialiser.time(train.ip_len);
        let bytes = self.serialiser.bytes(train.ip_len);
        let idle = self.free_at <= train.first.0;
        if idle && (train.count == 1 || train.spacing >= service) {
            self.start_waiting_ones(train.first.0);
            return self.pass_idle(train, service, bytes, out);
        }
        for i in 0..train.count {
            self.pass_one(train.part(i, 1), service, bytes, out);
        }
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.dropped
    }

    fn info(&self) -> StageInfo {
        let (unit, capacity) = match self.config.limit {
            QueueLimit::Packets(n) => ("segment", u64::from(n)),
            QueueLimit::Bytes(n) => ("byte", n),
        };
        info::<Link>(&self.config.name, unit, Some(capacity))
    }

    fn sample(&mut self, now: Time) -> StageSample {
        for tally in [&mut self.entered, &mut self.started, &mut self.left, &mut self.dropped] {
            tally.advance(now);
        }
        let waiting = self.entered.count - self.started.count;
        StageSample {
            waiting,
            waiting_bytes: self.entered.weight - self.started.weight,
            peak: self.peaks.take(now, waiting),
            entered: self.entered.count,
            left: self.left.count,
            dropped: self.dropped.count,
            busy_ns: self.left.work(now),
            ..StageSample::default()
        }
    }
}
