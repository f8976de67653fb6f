//! A drop-tail queue in front of something that sends one packet after the other. Unit of decision: the
//! segment.
//!
//! Invariant: nothing is idle while the queue holds a packet. When full: the arriving packet is dropped,
//! counted, and nobody is told. A packet that leaves the queue at the very moment another arrives makes
//! room for it.

use super::{Configuration, info};
use crate::drops::Drops;
use crate::path::Stage;
use crate::tally::{Peaks, Samples, Tally};
use crate::trace::{StageInfo, StageSample};
use crate::train::{Train, append, come_by};
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Capacity of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// In bytes, counted as the link's framing counts them.
    Bytes(u64),
    /// In packets.
    Packets(u32),
}

/// What sends the packets of a queue.
pub(super) trait Server {
    /// Bytes of an IP packet of `ip_len` as it counts them.
    fn bytes(&self, ip_len: u32) -> u32;
    /// How long it takes for an IP packet of `ip_len` bytes, where that is always the same.
    fn always(&mut self, ip_len: u32) -> Option<u64>;
    /// When it has sent a packet that came at `came` and is its only work from `start` on; not before
    /// that. Neither time goes back.
    fn done(&mut self, came: u64, start: u64, ip_len: u32) -> u64;
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
pub(super) struct Queued<S> {
    info: StageInfo,
    limit: QueueLimit,
    server: S,
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

impl<S: Server> Queued<S> {
    /// An idle link of kind `C`; `samples` are the trace's.
    pub(super) fn new<C: Configuration>(
        name: &str,
        limit: QueueLimit,
        server: S,
        samples: Samples,
    ) -> Queued<S> {
        let (unit, capacity) = match limit {
            QueueLimit::Packets(n) => ("segment", u64::from(n)),
            QueueLimit::Bytes(n) => ("byte", n),
        };
        Queued {
            info: info::<C>(name, unit, Some(capacity)),
            limit,
            server,
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
        match self.limit {
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

    fn pass_one(&mut self, packet: Train, bytes: u32, out: &mut Vec<Train>) {
        let now = packet.first.0;
        self.start_waiting_ones(now);
        let start = self.free_at.max(now);
        if start > now && !self.has_room(bytes) {
            self.dropped.lose(&packet, bytes);
            return;
        }
        let done = self.server.done(now, start, packet.ip_len);
        let service = done - start;
        if start > now {
            self.wait(start, service, bytes);
            self.peaks.reach(packet.first, self.waiting_packets);
        }
        self.entered.one(packet.first, bytes);
        self.started.one(Time(start), bytes);
        self.free_at = done;
        self.left.one(Time(done), service);
        append(out, packet.retimed(0, 1, Time(done), 0));
    }
}

impl<S: Server> Stage for Queued<S> {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        let bytes = self.server.bytes(train.ip_len);
        if self.free_at <= train.first.0
            && let Some(service) = self.server.always(train.ip_len)
            && (train.count == 1 || train.spacing >= service)
        {
            self.start_waiting_ones(train.first.0);
            return self.pass_idle(train, service, bytes, out);
        }
        for i in 0..train.count {
            self.pass_one(train.part(i, 1), bytes, out);
        }
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.dropped
    }

    fn info(&self) -> StageInfo {
        self.info.clone()
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
