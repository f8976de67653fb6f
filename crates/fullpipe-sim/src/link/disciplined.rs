//! A Linux qdisc in front of a server that sends one packet after the other. Unit of decision: the segment.
//!
//! The server takes a packet from the qdisc when it begins to send it. The packet's delay is measured until then. A
//! qdisc that counts its idle time is asked earlier: as soon as the packet before begins to be sent, or on arrival
//! where none waits. Linux's `tbf` does the same to learn the packet's length (`tbf_dequeue`, `qdisc_peek_dequeued`).
//!
//! Decisions depend on all arrivals up to their time. So packets are held, and the element wakes when the packet in
//! transmission is done.

use super::Configuration;
use super::chain::Stage;
use super::queued::{Queued, Server, limited};
use crate::packet::{Train, append};
use crate::qdisc::{
    Discipline, Effects, Filling, Packet, Queue, QueueLimit, Size, Waiting, weigh_where_bounded,
};
use crate::stage::{Drops, DueCounter, Peaks, Samples, waited, waited_bytes};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A segment.
impl Packet for Train {
    fn connection(&self) -> u16 {
        self.connection
    }

    fn mark(&mut self) -> bool {
        self.mark_ce()
    }
}

/// A qdisc with its server.
struct Disciplined<S> {
    info: StageInfo,
    queue: Box<dyn Queue<Train>>,
    /// Whether the next packet is taken before it begins to be sent.
    looks_ahead: bool,
    /// The packet that is sent next, if it is taken.
    next: Option<Waiting<Train>>,
    server: S,
    /// Time at which the packet in transmission is done.
    free_at: Time,
    effects: Effects<Train>,
    /// Packets that arrived, and starts of transmission.
    came: DueCounter,
    started: DueCounter,
    /// Ends of transmission, each with its duration.
    left: DueCounter,
    dropped: Drops,
    marked: DueCounter,
    /// Packets that wait.
    filling: Filling,
    peaks: Peaks,
}

/// A queue of kind `C` before an idle server; `seed` is the run's, `samples` are the trace's.
pub(super) fn queue<C: Configuration, S: Server + 'static>(
    name: &str,
    limit: QueueLimit,
    discipline: Discipline,
    server: S,
    seed: u64,
    samples: Samples,
) -> Box<dyn Stage> {
    // A fifo knows a packet's fate on arrival, so whole trains can pass it at once.
    if discipline == Discipline::Fifo {
        return Box::new(Queued::new::<C>(name, limit, server, samples));
    }
    let [mut came, mut started, mut dropped] = [(); 3].map(|()| DueCounter::default());
    weigh_where_bounded(limit, [&mut came, &mut started, &mut dropped]);
    Box::new(Disciplined {
        info: limited::<C>(name, limit),
        queue: discipline.build(limit, seed, name),
        looks_ahead: discipline.counts_idle(),
        next: None,
        server,
        free_at: Time::ZERO,
        effects: Effects::default(),
        came,
        started,
        left: DueCounter::default(),
        dropped: dropped.into(),
        marked: DueCounter::default(),
        filling: Filling::new(limit),
        peaks: Peaks::new(samples),
    })
}

impl<S: Server> Disciplined<S> {
    /// Offers an arriving packet to the queue.
    fn take(&mut self, packet: Train, out: &mut Vec<Train>) {
        let now = packet.first;
        self.wake(now, out);
        let bytes = self.server.bytes(packet.ip_len);
        self.came.one(now, bytes);
        self.filling.come(bytes);

        // qdisc_peek_dequeued: the packet ahead has left the discipline, but counts for its limit.
        let ahead = self
            .next
            .as_ref()
            .map(|next| Size { packets: 1, bytes: next.bytes.into() })
            .unwrap_or_default();
        self.queue.enqueue(Waiting { packet, bytes, came: now }, ahead, &mut self.effects);
        self.count(now);

        // An idle server takes what the discipline chooses now.
        if self.free_at <= now {
            self.start(now, out);
        }
        self.look_ahead(now);
        self.filling.settle(now);
        self.peaks.reach(now, self.filling.size.packets);
    }

    /// Takes the next packet from the qdisc, where the server takes packets ahead.
    fn look_ahead(&mut self, now: Time) {
        if self.looks_ahead && self.next.is_none() {
            self.next = self.queue.dequeue(now, &mut self.effects);
            self.count(now);
        }
    }

    /// Sends the next packet from `now` on.
    fn start(&mut self, now: Time, out: &mut Vec<Train>) {
        let next = self.next.take().or_else(|| self.queue.dequeue(now, &mut self.effects));
        self.count(now);
        let Some(Waiting { packet, bytes, came }) = next else { return };
        self.free_at = Time(self.server.done(came.0, now.0, packet.ip_len));
        self.filling.go(bytes.into());
        self.started.one(now, bytes);
        self.left.one(self.free_at, (self.free_at - now).0);
        append(out, packet.retimed(0, 1, self.free_at, 0));
        self.look_ahead(now);
    }

    /// Counts the packets that the qdisc dropped and marked.
    fn count(&mut self, now: Time) {
        for Waiting { packet, bytes, .. } in self.effects.dropped.drain(..) {
            self.filling.go(bytes.into());
            self.dropped.lose_at(now, &packet, bytes);
        }
        let marked = core::mem::take(&mut self.effects.marked);
        if marked > 0 {
            self.marked.add(now, 0, marked, 0u32);
        }
    }
}

impl<S: Server> Stage for Disciplined<S> {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        for i in 0..train.count {
            self.take(train.part(i, 1), out);
        }
    }

    fn wake_time(&self) -> Option<Time> {
        (self.filling.size.packets > 0).then_some(self.free_at)
    }

    fn wake(&mut self, now: Time, out: &mut Vec<Train>) {
        while self.filling.size.packets > 0 && self.free_at <= now {
            let at = self.free_at;
            self.start(at, out);
            self.filling.settle(at);
        }
    }

    fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.next.iter().for_each(|next| each(&next.packet));
        self.queue.each(each);
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.dropped
    }

    fn info(&self) -> StageInfo {
        self.info.clone()
    }

    fn sample(&mut self, now: Time) -> StageSample {
        let Disciplined { came, started, left, dropped, marked, .. } = self;
        for counter in [came, started, left, dropped, marked] {
            counter.advance(now);
        }

        // Arrivals were counted before the discipline decided, so dropped packets are subtracted.
        let entered = self.came.count - self.dropped.count;
        let waiting = entered - self.started.count;
        let gone: [&DueCounter; 2] = [&self.dropped, &self.started];
        let sample = StageSample {
            waiting,
            waiting_bytes: self.came.weight - self.dropped.weight - self.started.weight,
            peak: self.peaks.take(now, waiting),
            entered,
            left: self.left.count,
            dropped: self.dropped.count,
            marked: self.marked.count,
            busy_ns: self.left.work(now),
            waiting_ns: waited(now, &self.came, &gone),
            waiting_byte_us: waited_bytes(now, &self.came, &gone),
            ..StageSample::default()
        };
        self.filling.times.add_times(now, sample)
    }
}
