//! Qdiscs that choose the next skb at dequeue (AQM, fair queueing). Unit of decision: the skb.
//!
//! The next skb for the ring is taken from the qdisc as soon as the one before has entered, or on arrival where none
//! waits. It then waits for room in the ring. Linux's shapers do the same (`qdisc_peek_dequeued`), and one of them is
//! the NIC of engine `linux`.
//!
//! Limits:
//! - `fq` does not pace kernels before 3.14. It needs `--without hosts.sender.qdisc.kind` there.
//! - In 3.14 `fq` learns a flow's rate when the skb is made; in Linux when the skb before it has left. After 40 ms idle
//!   a flow is not free of its pace again.
//! - Only `fq` has a largest rate (`maxrate`). A host has no `htb` and no `tbf`. Its `netem` has a constant delay and
//!   random loss.
//! - A NIC slower than the path holds its queue in a default ring of 512 descriptors, so the qdisc has no queue. The
//!   run does not report this.

use super::tx_ring::TxRing;
use crate::host::stage::info;
use crate::packet::Train;
use crate::qdisc::{
    Discipline, Effects, Filling, Packet, Queue, QueueLimit, Size, Verdict, Waiting,
    weigh_where_bounded,
};
use crate::stage::{Drops, DueCounter, Peaks, Samples, waited, waited_bytes};
use crate::trace::{StageInfo, StageSample};
use crate::units::{Framing, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// An skb: trains that all start at once, one per segment length.
#[derive(Clone, Debug)]
pub(super) struct Skb {
    pub(super) trains: Vec<Train>,
    pub(super) tag: Tag,
}

/// Identity of an skb for its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Index of the flow.
    pub flow: u16,
    /// Memory of the skb in the host (sk_wmem_alloc), bytes; 0 where no limit counts it.
    pub memory: u64,
    /// Packets of the skb.
    pub packets: u32,
    /// Number by the sender; 0: none.
    pub number: u64,
    /// Earliest departure (skb->tstamp).
    pub departs: Time,
}

/// Fate of an skb that had to wait.
#[derive(Clone, Debug)]
pub struct SkbFate {
    /// The skb.
    pub tag: Tag,
    /// Time at which the skb's memory becomes free.
    pub free_at: Time,
    /// Segments of the skb in the ring. None: it was dropped.
    pub entered: Option<Entered>,
}

/// An skb in the ring.
#[derive(Clone, Debug)]
pub struct Entered {
    /// Time of entry.
    pub at: Time,
    /// Number of its first segment among all segments that the host has put on the wire.
    pub serial: u64,
    /// Segments of the skb, if it has a number.
    pub trains: Vec<Train>,
}

impl Skb {
    /// Bytes of IP.
    fn bytes(&self) -> u32 {
        self.trains.iter().map(|train| train.count * train.ip_len).sum()
    }
}

impl Packet for Skb {
    fn connection(&self) -> u16 {
        self.trains.first().map_or(self.tag.flow, |train| train.connection)
    }

    fn departs(&self) -> Time {
        self.tag.departs
    }

    fn mark(&mut self) -> bool {
        self.trains.iter_mut().all(Train::mark_ce)
    }
}

/// A qdisc that chooses at dequeue, in front of a transmit ring.
pub(super) struct DequeueQdisc {
    queue: Box<dyn Queue<Skb>>,
    limit: QueueLimit,
    /// Whether waiting skbs no longer count for their senders (`skb_orphan_partial` of netem).
    pub(super) orphans: bool,
    /// The skb that waits for the ring, and its time of entry.
    ahead: Option<(Size, Time)>,
    effects: Effects<Skb>,
    /// Arrivals, and entries into the ring.
    came: DueCounter,
    left: DueCounter,
    dropped: Drops,
    marked: DueCounter,
    filling: Filling,
    peaks: Peaks,
    /// Fates of skbs that the host has not taken yet.
    pub(super) gone: Vec<SkbFate>,
}

impl DequeueQdisc {
    /// An empty queue; `seed` is the run's, `name` its host's, `samples` are the trace's.
    pub(super) fn new(
        discipline: Discipline,
        limit: QueueLimit,
        seed: u64,
        name: &str,
        samples: Samples,
    ) -> DequeueQdisc {
        let [mut came, mut left, mut dropped] = [(); 3].map(|()| DueCounter::default());
        weigh_where_bounded(limit, [&mut came, &mut left, &mut dropped]);
        DequeueQdisc {
            queue: discipline.build(limit, seed, name),
            limit,
            // netem with a delay takes skbs from their sockets (skb_orphan_partial in netem_enqueue).
            orphans: matches!(discipline, Discipline::Netem(netem) if netem.delay > Time::ZERO),
            ahead: None,
            effects: Effects::default(),
            came,
            left,
            dropped: dropped.into(),
            marked: DueCounter::default(),
            filling: Filling::new(limit),
            peaks: Peaks::new(samples),
            gone: Vec::new(),
        }
    }

    /// Takes an arriving skb.
    pub(super) fn push(
        &mut self,
        now: Time,
        skb: Skb,
        ring: &mut TxRing,
        out: &mut Vec<Train>,
    ) -> Verdict {
        self.advance(now, ring, out);
        let bytes =
            skb.trains.iter().map(|t| t.count * (t.ip_len + Framing::Ethernet.overhead())).sum();
        let number = skb.tag.number;
        self.came.one(now, skb.bytes());
        self.filling.come(bytes);

        // qdisc_peek_dequeued: the skb ahead has left the discipline, but counts for its limit.
        let ahead = self.ahead.map_or(Size::default(), |(size, _)| size);
        let verdict =
            self.queue.enqueue(Waiting { packet: skb, bytes, came: now }, ahead, &mut self.effects);
        if verdict == Verdict::Refused {
            self.refuse(now, number);
        }
        self.count(now);

        // Without an skb ahead the ring may take the next one now.
        if self.ahead.is_none() {
            self.ask(now, ring, out);
        }
        self.filling.settle(now);
        self.peaks.reach(now, self.filling.size.packets);
        verdict
    }

    /// Time at which the qdisc is to be asked without an arriving skb.
    pub(super) fn wake_time(&self) -> Option<Time> {
        match self.ahead {
            Some((_, entry)) => Some(entry),
            None => self.queue.due(),
        }
    }

    /// Lets skbs enter the ring up to `now`.
    pub(super) fn advance(&mut self, now: Time, ring: &mut TxRing, out: &mut Vec<Train>) {
        while let Some(at) = self.wake_time().filter(|&at| at <= now) {
            if let Some((size, _)) = self.ahead.take() {
                self.filling.go(size.bytes);
            }
            self.ask(at, ring, out);
            self.filling.settle(at);
        }
    }

    /// Takes skbs from the qdisc until one has to wait for the ring.
    fn ask(&mut self, now: Time, ring: &mut TxRing, out: &mut Vec<Train>) {
        while self.ahead.is_none() {
            let next = self.queue.dequeue(now, &mut self.effects);
            self.count(now);
            let Some(Waiting { packet, bytes, .. }) = next else { return };
            let weight = packet.bytes();
            let entry = self.enter(now, packet, ring, out);
            self.left.one(entry, weight);

            // An skb that waits for the ring stays counted as waiting.
            if entry > now {
                self.ahead = Some((Size { packets: 1, bytes: bytes.into() }, entry));
            } else {
                self.filling.go(bytes.into());
            }
        }
    }

    /// Puts an skb into the ring as soon as there is room; returns the time.
    fn enter(&mut self, now: Time, skb: Skb, ring: &mut TxRing, out: &mut Vec<Train>) -> Time {
        let Skb { mut trains, tag } = skb;
        let segments = trains.iter().map(|t| u64::from(t.count)).sum();
        let serial = ring.taken();
        let at = Time(ring.entry_time(now, segments));
        ring.enter(at.0, segments, &trains, out);
        // Only a capture needs the trains beyond this point.
        if tag.number == 0 {
            trains.clear();
        }
        let entered = Some(Entered { at, serial, trains });
        self.gone.push(SkbFate { tag, free_at: ring.memory_is_free().max(at), entered });
        at
    }

    /// Handles a refused skb, of this number. Its sender learns the refusal at once and does not wait for the skb.
    fn refuse(&mut self, now: Time, number: u64) {
        for waiting in self.effects.dropped.drain(..) {
            debug_assert_eq!(waiting.packet.tag.number, number);
            self.filling.go(waiting.bytes.into());
            self.dropped.one(now, waiting.packet.bytes());
        }
    }

    /// Counts skbs that the qdisc dropped and marked.
    fn count(&mut self, now: Time) {
        for Waiting { packet, bytes, .. } in self.effects.dropped.drain(..) {
            self.filling.go(bytes.into());
            self.dropped.one(now, packet.bytes());
            self.gone.push(SkbFate { tag: packet.tag, free_at: now, entered: None });
        }
        let marked = core::mem::take(&mut self.effects.marked);
        if marked > 0 {
            self.marked.add(now, 0, marked, 0u32);
        }
    }

    pub(super) fn each(&self, each: &mut dyn FnMut(&Train)) {
        self.queue.each(&mut |skb: &Skb| skb.trains.iter().for_each(&mut *each));
    }

    pub(super) fn info(&self, host: &str) -> StageInfo {
        let (unit, capacity) = match self.limit {
            QueueLimit::Packets(n) => ("skb", n.into()),
            QueueLimit::Bytes(n) => ("byte", n),
        };
        info(host, "qdisc", unit, Some(capacity))
    }

    pub(super) fn sample(&mut self, now: Time) -> StageSample {
        let DequeueQdisc { came, left, dropped, marked, .. } = self;
        for counter in [came, left, dropped, marked] {
            counter.advance(now);
        }

        // Arrivals were counted before the discipline decided, so dropped skbs are subtracted.
        let entered = self.came.count - self.dropped.count;
        let waiting = entered - self.left.count;
        let gone: [&DueCounter; 2] = [&self.dropped, &self.left];
        let sample = StageSample {
            waiting,
            waiting_bytes: self.came.weight - self.dropped.weight - self.left.weight,
            peak: self.peaks.take(now, waiting),
            entered,
            left: self.left.count,
            dropped: self.dropped.count,
            marked: self.marked.count,
            waiting_ns: waited(now, &self.came, &gone),
            waiting_byte_us: waited_bytes(now, &self.came, &gone),
            ..StageSample::default()
        };
        self.filling.times.add_times(now, sample)
    }
}
