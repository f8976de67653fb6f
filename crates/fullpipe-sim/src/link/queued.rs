//! A drop-tail queue in front of a server that sends one packet after the other. Unit of decision: the segment.
//!
//! Invariant: the server is never idle while the queue holds a packet, unless it begins later ([`Server::begins`]). A
//! full queue drops and counts the arriving packet, and sends no signal. A packet that leaves the queue at the moment
//! of another's arrival makes room for it.

use super::chain::Stage;
use super::{Configuration, info};
use crate::packet::{Train, append, come_by};
use crate::qdisc::{QueueLimit, Size, weigh_where_bounded};
use crate::stage::{
    Drops, DueCounter, Leaving, Line, Occupancy, Peaks, Samples, Span, waited, waited_bytes,
};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The server that sends the packets of a queue.
pub(super) trait Server {
    /// Bytes of an IP packet of `ip_len` as the server counts them.
    fn bytes(&self, ip_len: u32) -> u32;
    /// Service time of an IP packet of `ip_len` bytes, nanoseconds, where it is always the same.
    fn always(&mut self, ip_len: u32) -> Option<u64>;
    /// Time at which the server begins to send a packet that is its only work from `ready` on; not before `ready`. Not
    /// called where [`Server::always`] gives a service time.
    fn begins(&mut self, ready: u64, _ip_len: u32) -> u64 {
        ready
    }
    /// Time at which the server has sent a packet that arrived at `came` and is its only work from `start` on; not
    /// before `start`. Neither argument goes back.
    fn done(&mut self, came: u64, start: u64, ip_len: u32) -> u64;
    /// Nanoseconds of work by the sample at `now`; none: the time in which it was sending.
    fn worked(&mut self, _now: Time) -> Option<u64> {
        None
    }
}

/// Starts of transmission at even pace.
#[derive(Clone, Copy, Debug)]
struct Starts {
    first: u64,
    spacing: u64,
    count: u32,
    bytes: u32,
}

/// A queue with its server.
pub(super) struct Queued<S> {
    info: StageInfo,
    limit: QueueLimit,
    server: S,
    /// Time at which the packet in transmission, or the last one queued, is done.
    free_at: u64,
    /// Packets waiting, by the time at which their transmission starts.
    waiting: VecDeque<Starts>,
    waiting_packets: u64,
    waiting_bytes: u64,
    /// Packets that find the link idle.
    passed: DueCounter,
    /// Packets that wait: arrivals, and starts of transmission.
    entered: DueCounter,
    started: DueCounter,
    /// Ends of transmission, each with its duration.
    left: DueCounter,
    dropped: Drops,
    peaks: Peaks,
    times: Occupancy,
}

/// The description of an element of kind `C` with a queue.
pub(super) fn limited<C: Configuration>(name: &str, limit: QueueLimit) -> StageInfo {
    let (unit, capacity) = match limit {
        QueueLimit::Packets(n) => ("segment", u64::from(n)),
        QueueLimit::Bytes(n) => ("byte", n),
    };
    info::<C>(name, unit, Some(capacity))
}

impl<S: Server> Queued<S> {
    /// An idle link of kind `C`; `samples` are the trace's.
    pub(super) fn new<C: Configuration>(
        name: &str,
        limit: QueueLimit,
        server: S,
        samples: Samples,
    ) -> Queued<S> {
        let [mut entered, mut started] = [(); 2].map(|()| DueCounter::new(samples));
        weigh_where_bounded(limit, [&mut entered, &mut started]);
        Queued {
            info: limited::<C>(name, limit),
            limit,
            server,
            free_at: 0,
            waiting: VecDeque::new(),
            waiting_packets: 0,
            waiting_bytes: 0,
            passed: DueCounter::new(samples),
            entered,
            started,
            left: DueCounter::new(samples),
            dropped: Drops::default(),
            peaks: Peaks::new(samples),
            times: Occupancy::new(samples),
        }
    }

    fn start_waiting_ones(&mut self, now: u64) {
        let (packets, bytes) = start_waiting_ones(&mut self.waiting, now);
        self.waiting_packets -= packets;
        self.waiting_bytes -= bytes;
    }

    /// Whether `count` more packets of `bytes` each may wait.
    fn has_room(&self, count: u32, bytes: u32) -> bool {
        let there = Size { packets: self.waiting_packets, bytes: self.waiting_bytes };
        there.and(count, bytes).fits(self.limit)
    }

    fn wait(&mut self, starts: Starts) {
        self.waiting_packets += u64::from(starts.count);
        self.waiting_bytes += u64::from(starts.count) * u64::from(starts.bytes);
        // A run that continues the last one in time, pace and size lengthens it.
        if let Some(run) = self.waiting.back_mut() {
            let next = run.first + u64::from(run.count) * run.spacing;
            if run.bytes == starts.bytes && run.spacing == starts.spacing && next == starts.first {
                run.count += starts.count;
                return;
            }
        }
        self.waiting.push_back(starts);
    }

    /// Packets of the train, which finds the link busy, that all wait. More than 1 only if there is room for one packet
    /// more, so that none of them is dropped or fills the queue.
    fn waiting_together(&self, train: &Train, service: u64, bytes: u32) -> u32 {
        let ahead = self.free_at - train.first.0;
        let wait = match train.spacing.checked_sub(service) {
            None | Some(0) => train.count,
            Some(gain) => ahead.div_ceil(gain).min(u64::from(train.count)) as u32,
        };
        if self.has_room(wait.saturating_add(1), bytes) { wait } else { 1 }
    }

    /// Passes packets of which each waits for the one before it; the queue has room for all.
    fn pass_busy(&mut self, train: &Train, service: u64, bytes: u32, out: &mut Vec<Train>) {
        let (first, count) = (self.free_at, train.count);
        self.times.full.cut(train.first.0);
        self.occupy(train, service);
        self.wait(Starts { first, spacing: service, count, bytes });
        let Queued { waiting, waiting_packets, waiting_bytes, peaks, .. } = self;
        peaks.reach_in_line(train, *waiting_packets, |now| {
            let (packets, bytes) = start_waiting_ones(waiting, now.0);
            *waiting_packets -= packets;
            *waiting_bytes -= bytes;
            let leaving =
                |&Starts { first, spacing, count, .. }: &Starts| Leaving { first, spacing, count };
            let leaving = waiting.front().map(leaving);
            Line { others: waiting_packets.wrapping_sub(u64::from(count)), leaving }
        });

        // The server starts a packet as soon as it has finished the one before.
        self.entered.add(train.first, train.spacing, count, bytes);
        self.started.add(Time(first), service, count, bytes);
        self.left.add(Time(first + service), service, count, service);
        self.free_at = first + u64::from(count) * service;
        append(out, train.retimed(0, count, Time(first + service), service));
    }

    /// Notes when packets of a train wait, where each waits and the queue has room for all. Packet i + 1 arrives after
    /// the start of packet i, or not. If it does, nothing waits in between. The case can change once at most, because
    /// the time between the two grows, or shrinks, from packet to packet.
    fn occupy(&mut self, train: &Train, service: u64) {
        let (start, rest) = (self.free_at, train.count - 1);
        let occupied = &mut self.times.occupied;
        occupied.add(train.first.0, start);

        // Packet by packet, arrivals become later or earlier against the starts before them.
        let gain = train.spacing as i64 - service as i64;
        let late = (train.first.0 + train.spacing) as i64 - start as i64;
        let mut at = 0;
        while at < rest {
            let late = late + i64::from(at) * gain;

            // Packets up to the next change of case are alike.
            let alike = match (late > 0, gain) {
                (true, 0..) | (false, ..=0) => i64::MAX,
                (true, _) => (late - 1) / -gain + 1,
                (false, _) => -late / gain + 1,
            };
            let alike = alike.min((rest - at).into()) as u32;
            let (from, to) = (train.time(at + 1).0, start + u64::from(at + 1) * service);
            if late > 0 {
                occupied.add_each(Span { from, to }, train.spacing, service, alike);
            } else {
                occupied.add(from, to + u64::from(alike - 1) * service);
            }
            at += alike;
        }
    }

    /// Notes, after a packet of `bytes` arrived, until when there is no room for another one.
    fn note_full(&mut self, now: u64, bytes: u32) {
        self.times.full.cut(now);
        let there = Size { packets: self.waiting_packets, bytes: self.waiting_bytes };
        if there.packets == 0 || there.and(1, bytes).fits(self.limit) {
            return;
        }
        let until = self.room_from(bytes);
        self.times.full.add(now, until);
    }

    /// Time at which enough waiting packets have begun to be sent to make room for one more of `bytes`.
    fn room_from(&self, bytes: u32) -> u64 {
        let there = Size { packets: self.waiting_packets, bytes: self.waiting_bytes }.and(1, bytes);
        let mut excess = match self.limit {
            QueueLimit::Packets(limit) => there.packets.saturating_sub(limit.into()),
            QueueLimit::Bytes(limit) => there.bytes.saturating_sub(limit),
        };

        // Waiting packets are in order of their starts, so the first ones make the room.
        let mut last = 0;
        for run in &self.waiting {
            let each = match self.limit {
                QueueLimit::Packets(_) => 1,
                QueueLimit::Bytes(_) => u64::from(run.bytes).max(1),
            };
            let wanted = excess.div_ceil(each).max(1);
            if wanted <= u64::from(run.count) {
                return run.first + (wanted - 1) * run.spacing;
            }
            excess -= u64::from(run.count) * each;
            last = run.first + u64::from(run.count - 1) * run.spacing;
        }
        last
    }

    /// Passes packets of which each starts on arrival; the queue stays empty.
    fn pass_idle(&mut self, train: &Train, service: u64, bytes: u32, out: &mut Vec<Train>) {
        self.passed.add(train.first, train.spacing, train.count, bytes);
        let first = Time(train.first.0 + service);
        let spacing = if train.count == 1 { 0 } else { train.spacing };
        self.left.add(first, spacing, train.count, service);
        self.free_at = train.last().0 + service;
        append(out, train.retimed(0, train.count, first, spacing));
    }

    /// Passes the first packets of a train that have one fate, and returns how many.
    fn pass_some(&mut self, train: &Train, service: u64, bytes: u32, out: &mut Vec<Train>) -> u32 {
        self.start_waiting_ones(train.first.0);

        // An idle server passes a train with gaps whole, else only its first packet.
        if self.free_at <= train.first.0 {
            let apart = train.spacing >= service || train.count == 1;
            if apart {
                self.pass_idle(train, service, bytes, out);
                return train.count;
            }
            self.pass_idle(&train.part(0, 1), service, bytes, out);
            return 1;
        }

        // Packets that all wait and all fit pass together; near the limit each decides alone.
        let busy = self.waiting_together(train, service, bytes);
        if busy == 1 {
            self.pass_one(train.part(0, 1), bytes, out);
        } else {
            self.pass_busy(&train.part(0, busy), service, bytes, out);
        }
        busy
    }

    fn pass_one(&mut self, packet: Train, bytes: u32, out: &mut Vec<Train>) {
        let now = packet.first.0;
        self.start_waiting_ones(now);
        let start = self.server.begins(self.free_at.max(now), packet.ip_len);

        // Only a packet that has to wait needs room in the queue.
        if start > now && !self.has_room(1, bytes) {
            self.dropped.lose(&packet, bytes);
            self.note_full(now, bytes);
            return;
        }
        let done = self.server.done(now, start, packet.ip_len);
        let service = done - start;
        if start > now {
            self.wait(Starts { first: start, spacing: service, count: 1, bytes });
            self.times.occupied.add(now, start);
            self.note_full(now, bytes);
            self.peaks.reach(packet.first, self.waiting_packets);
            self.entered.one(packet.first, bytes);
            self.started.one(Time(start), bytes);
        } else {
            self.passed.one(packet.first, bytes);
        }
        self.free_at = done;
        self.left.one(Time(done), service);
        append(out, packet.retimed(0, 1, Time(done), 0));
    }
}

/// Removes the packets that have begun to be sent by `now`; returns packets and bytes.
fn start_waiting_ones(waiting: &mut VecDeque<Starts>, now: u64) -> (u64, u64) {
    let (mut packets, mut bytes) = (0, 0);
    while let Some(run) = waiting.front_mut() {
        if run.first > now {
            break;
        }
        let started = come_by(run.first, run.spacing, run.count, now);
        packets += u64::from(started);
        bytes += u64::from(started) * u64::from(run.bytes);
        if started < run.count {
            run.count -= started;
            run.first += u64::from(started) * run.spacing;
            break;
        }
        waiting.pop_front();
    }
    (packets, bytes)
}

impl<S: Server> Stage for Queued<S> {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        let bytes = self.server.bytes(train.ip_len);
        let always = self.server.always(train.ip_len);
        // A service time that changes does not let trains be computed as a whole.
        let Some(service) = always else {
            (0..train.count).for_each(|at| self.pass_one(train.part(at, 1), bytes, out));
            return;
        };
        let mut at = self.pass_some(train, service, bytes, out);
        while at < train.count {
            let rest = train.part(at, train.count - at);
            at += self.pass_some(&rest, service, bytes, out);
        }
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.dropped
    }

    fn info(&self) -> StageInfo {
        self.info.clone()
    }

    fn sample(&mut self, now: Time) -> StageSample {
        let Queued { passed, entered, started, left, dropped, .. } = self;
        for counter in [passed, entered, started, left, dropped] {
            counter.advance(now);
        }
        let waiting = self.entered.count - self.started.count;
        let started = [&self.started];
        let sample = StageSample {
            waiting,
            waiting_bytes: self.entered.weight - self.started.weight,
            peak: self.peaks.take(now, waiting),
            entered: self.passed.count + self.entered.count,
            left: self.left.count,
            dropped: self.dropped.count,
            busy_ns: self.server.worked(now).unwrap_or_else(|| self.left.work(now)),
            waiting_ns: waited(now, &self.entered, &started),
            waiting_byte_us: waited_bytes(now, &self.entered, &started),
            ..StageSample::default()
        };
        self.times.add_times(now, sample)
    }
}
