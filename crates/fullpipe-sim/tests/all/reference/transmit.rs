//! Output side of a host: qdisc, transmit ring, wire.
//!
//! The host offers skbs at its CPU's time, which may lie ahead of everything else. Only the host feeds this queue. So
//! the queue may be advanced up to that time to see whether the skb is taken.

use super::agenda::{Agenda, Happening};
use super::bql::{self, Bql};
use super::counter::{Busy, Change, Counter};
use super::late::{Late, Skb};
use super::packet::Packet;
use fullpipe_sim::config::{Direction, Driver, Host, Qdisc, QueueLimit};
use fullpipe_sim::units::{Framing, Rate, Time};
use std::cell::Cell;
use std::collections::VecDeque;

/// Destination of the ring.
#[derive(Clone, Copy)]
pub struct Out {
    /// The host's place.
    pub place: usize,
    pub way: Direction,
    /// Whether other hosts send into that way, too.
    pub several: bool,
}

/// An skb that has left the qdisc for the ring.
pub struct Gone {
    pub flow: usize,
    /// Time at which it will have left the host.
    pub leaves: Time,
    pub memory: u64,
    pub packets: u64,
}

/// Output side of a host.
pub struct Transmit {
    out: Out,
    rate: Rate,
    qdisc_limit: usize,
    ring_size: usize,
    driver: Driver,
    qdisc: VecDeque<Vec<Packet>>,
    /// The qdisc in its place.
    late: Option<Late>,
    /// Skbs that waited there and are in the ring.
    pub gone: Vec<Gone>,
    /// Segments with a descriptor; the first one is on the wire until the time in `done`.
    ring: VecDeque<Packet>,
    done: Option<Time>,
    /// Bytes of those that were sent and of which the driver does not know, and when it will.
    sent: Vec<u32>,
    interrupt: Option<Time>,
    tx_coalesce: Time,
    /// Fewer free descriptors stop the queue, so many let it go on.
    thresholds: [usize; 2],
    /// Number of descriptors that have to be free before it continues, if it is stopped.
    stopped: Option<usize>,
    /// Byte queue limits, and what was sent of an skb that is not whole on the wire.
    bql: Option<Bql>,
    sent_of_skb: u32,
    /// Segments of skbs that are whole on the wire of which the driver does not know.
    not_reported: u32,
    /// skbs offered.
    skbs: u32,
    bucket: Bucket,
    /// Counters of the qdisc, in skbs.
    pub qdisc_counter: Counter,
    /// Counters of the ring, in segments.
    pub ring_counter: Counter,
    /// The wire's work.
    pub busy: Busy,
    /// Time for which skbs have waited for the ring, and time since which one does.
    blocked: Busy,
    blocked_since: Option<Time>,
}

fn bytes_of(skb: &[Packet]) -> u32 {
    skb.iter().map(|p| p.ip_len).sum()
}

/// Tokens of the card, which takes skbs ahead of its wire.
#[derive(Clone, Copy)]
struct Bucket {
    /// Bytes per second, and further bytes of each segment.
    rate: u64,
    header: u32,
    /// Nanoseconds that it holds.
    depth: u64,
    /// Time at which it will be full again.
    full: u64,
}

impl Bucket {
    fn new(host: &Host, mtu: u32) -> Bucket {
        let bytes = host.nic_rate.0 / 8;
        let (rate, header, largest) = match host.tso {
            // The unit is bits first, as in the settings of the NIC.
            true => {
                let bits =
                    u128::from(host.nic_rate.0) * u128::from(mtu + 14) / u128::from(mtu + 38);
                (bits as u64 / 8, 14, (65_535 / mtu + 2) * (mtu + 14))
            }
            false => (bytes, 38, mtu + 38),
        };
        let time = (u64::from(largest) * 1_000_000_000).div_ceil(rate.max(1)) + 4_000;
        Bucket { rate: rate.max(1), header, depth: time.div_ceil(64) * 64, full: 0 }
    }

    fn take(&mut self, now: Time, skb: &[Packet]) {
        let bytes: u32 = skb.iter().map(|p| p.ip_len + self.header).sum();
        let time = u128::from(bytes) * 1_000_000_000 / u128::from(self.rate);
        self.full = self.full.max(now.0) + time as u64;
    }

    fn lets_go(&self) -> Time {
        Time(self.full.saturating_sub(self.depth))
    }
}

impl Transmit {
    /// An idle way out.
    pub fn new(out: Out, host: &Host, mtu: u32) -> Transmit {
        let (late, limit) = match host.qdisc {
            Qdisc::PfifoFast => (None, host.qdisc_limit as usize),
            Qdisc::Of(discipline, limit @ QueueLimit::Packets(packets)) => {
                (Some(Late::new(discipline, limit)), packets as usize)
            }
            _ => panic!("a limit in packets"),
        };
        Transmit {
            late,
            gone: Vec::new(),
            out,
            rate: host.nic_rate,
            bucket: Bucket::new(host, mtu),
            qdisc_limit: limit,
            ring_size: host.tx_ring as usize,
            driver: host.driver,
            qdisc: VecDeque::new(),
            ring: VecDeque::new(),
            done: None,
            sent: Vec::new(),
            interrupt: None,
            tx_coalesce: host.tx_coalesce,
            thresholds: [host.tx_stop as usize, host.tx_wake as usize],
            stopped: None,
            bql: host.bql.then(|| Bql::new(host.hz)),
            sent_of_skb: 0,
            not_reported: 0,
            skbs: 0,
            qdisc_counter: Counter::holding(limit),
            ring_counter: Counter::holding(host.tx_ring as usize),
            busy: Busy::default(),
            blocked: Busy::default(),
            blocked_since: None,
        }
    }

    /// Whether skbs wait without its being known for how long.
    pub fn is_late(&self) -> bool {
        self.late.is_some()
    }

    /// Offers an skb; false: the qdisc refused it.
    pub fn offer(&mut self, now: Time, mut skb: Skb, agenda: &mut Agenda) -> bool {
        self.skbs += 1;
        skb.packets.iter_mut().for_each(|packet| packet.skb = self.skbs);
        self.advance(now, agenda);
        let taken = self.take(now, skb, agenda);
        self.note_blocked(now);
        taken
    }

    /// Notes whether an skb waits for the ring.
    fn note_blocked(&mut self, now: Time) {
        let waits = !self.qdisc.is_empty() || self.late.as_ref().is_some_and(Late::waits_for_ring);
        match (self.blocked_since, waits) {
            (None, true) => self.blocked_since = Some(now),
            (Some(since), false) => {
                self.blocked.note(since, now);
                self.blocked_since = None;
            }
            _ => {}
        }
    }

    /// Nanoseconds up to `now` in which an skb waited for the ring.
    pub fn blocked_up_to(&mut self, now: Time) -> u64 {
        let going_on = self.blocked_since.map_or(0, |since| now.saturating_sub(since).0);
        self.blocked.up_to(now) + going_on
    }

    fn take(&mut self, now: Time, skb: Skb, agenda: &mut Agenda) -> bool {
        if let Some(late) = &mut self.late {
            let bytes = i64::from(skb.bytes());
            let taken = late.push(now, skb);
            // The qdisc is asked in any case (__dev_xmit_skb).
            let mut change = self.let_go(now, agenda);
            if taken {
                (change.waiting, change.entered) = (change.waiting + 1, 1);
                change.bytes += bytes;
            } else {
                change.dropped = 1;
            }
            self.qdisc_counter.note(now, change);
            return taken;
        }
        let skb = skb.packets;
        if self.qdisc.is_empty() && self.admits(skb.len()) {
            self.qdisc_counter.pass(now);
            self.enter_ring(now, skb, agenda);
        } else if self.qdisc.len() < self.qdisc_limit {
            self.qdisc_counter.enter(now, bytes_of(&skb));
            self.qdisc.push_back(skb);
            if self.qdisc.len() == 1 {
                self.requeue(now);
            }
        } else {
            self.qdisc_counter.drop(now);
            return false;
        }
        true
    }

    /// The driver has no room for the first skb that waits.
    fn requeue(&mut self, now: Time) {
        if self.driver == Driver::Requeues {
            self.qdisc_counter.requeue(now);
        }
    }

    /// Skbs go from the discipline into the ring, as far as both allow it.
    fn let_go(&mut self, now: Time, agenda: &mut Agenda) -> Change {
        let mut change = Change::default();
        loop {
            let (used, size, open) = (self.used(), self.ring_size, self.is_open());
            let lacking = Cell::new(None);
            let fits = |segments| {
                let room = used == 0 || used + segments <= size;
                lacking.set((open && !room).then_some(segments));
                open && room
            };
            let next = self.late.as_mut().and_then(|late| late.pop(now, fits));
            if let Some(segments) = lacking.get() {
                self.stop(segments);
            }
            let Some(skb) = next else { break };
            change.left += 1;
            change.waiting -= 1;
            change.bytes -= i64::from(skb.bytes());
            let (flow, memory, packets) = (skb.flow, skb.memory, skb.packets.len() as u64);
            self.enter_ring(now, skb.packets, agenda);
            if memory > 0 {
                self.gone.push(Gone { flow, leaves: self.last_leaves(now), memory, packets });
            }
        }
        if let Some(due) = self.late.as_ref().and_then(Late::due) {
            agenda.add(due.max(now), Happening::WireDone(self.out.place));
        }
        change
    }

    /// Descriptors in use.
    fn used(&self) -> usize {
        self.ring.len() + self.sent.len()
    }

    fn fits(&self, segments: usize) -> bool {
        self.is_open() && (self.used() == 0 || self.used() + segments <= self.ring_size)
    }

    /// Whether the queue goes on, as far as the driver and byte queue limits are concerned.
    fn is_open(&self) -> bool {
        self.stopped.is_none() && self.bql.as_ref().is_none_or(|bql| bql.open)
    }

    /// Whether an skb that comes to the ring gets into it; else it may stop the queue.
    fn admits(&mut self, segments: usize) -> bool {
        let fits = self.fits(segments);
        if !fits && self.is_open() {
            self.stop(segments);
        }
        fits
    }

    /// The driver stops its queue until there is room for so many segments, and enough.
    fn stop(&mut self, segments: usize) {
        self.stopped = Some(segments.max(self.thresholds[1]).min(self.ring_size));
    }

    /// Descriptors have become free.
    fn look_whether_to_go_on(&mut self) {
        let free = self.ring_size.saturating_sub(self.used());
        if self.stopped.is_some_and(|wanted| free >= wanted) {
            self.stopped = None;
        }
    }

    fn enter_ring(&mut self, now: Time, skb: Vec<Packet>, agenda: &mut Agenda) {
        if let Some(bql) = &mut self.bql {
            bql.enter(bytes_of(&skb) + skb.len() as u32 * bql::HEADER);
        }
        self.bucket.take(now, &skb);
        for segment in skb {
            self.ring_counter.enter(now, segment.ip_len);
            self.ring.push_back(segment);
        }
        if self.driver == Driver::Stops && self.used() + self.thresholds[0] > self.ring_size {
            self.stop(0);
        }
        self.start(now, agenda);
    }

    fn start(&mut self, now: Time, agenda: &mut Agenda) {
        if self.done.is_none()
            && let Some(segment) = self.ring.front()
        {
            let wire_bytes = segment.ip_len + Framing::EthernetWire.overhead();
            let done = now + self.rate.wire_time(u64::from(wire_bytes));
            self.busy.note(now, done);
            self.done = Some(done);
            agenda.add(done, Happening::WireDone(self.out.place));
        }
    }

    /// Everything that the card does up to `now`, segment by segment, and the discipline.
    pub fn advance(&mut self, now: Time, agenda: &mut Agenda) {
        loop {
            let card = self.next_of_card().filter(|next| *next <= now);
            let due = self.late.as_ref().and_then(Late::due).filter(|due| *due <= now);
            match (card, due) {
                (None, None) => return,
                // At one time the NIC is first.
                (card, Some(due)) if card.is_none_or(|card| due < card) => self.ask(due, agenda),
                _ => self.step(agenda),
            }
        }
    }

    /// Time of the card's next work.
    fn next_of_card(&self) -> Option<Time> {
        self.done.into_iter().chain(self.interrupt).min()
    }

    /// Ends a transmission, or else raises the interrupt: at one time a segment ends first.
    fn step(&mut self, agenda: &mut Agenda) {
        match (self.done, self.interrupt) {
            (Some(done), interrupt) if interrupt.is_none_or(|at| done <= at) => {
                self.end_segment(done, agenda);
            }
            (_, interrupt) => {
                self.inform_driver(interrupt.expect("something is to happen"), agenda)
            }
        }
    }

    /// Asks the discipline.
    fn ask(&mut self, now: Time, agenda: &mut Agenda) {
        let left = self.let_go(now, agenda);
        if left.left > 0 {
            self.qdisc_counter.note(now, left);
        }
        self.note_blocked(now);
    }

    /// A segment is on the wire.
    fn end_segment(&mut self, done: Time, agenda: &mut Agenda) {
        self.done = None;
        let segment = self.ring.pop_front().expect("it was on the wire");
        self.sent.push(segment.ip_len);
        self.complete(&segment);
        let Out { place, way, several } = self.out;
        let enters = match several {
            true => Happening::Entry(place, segment),
            false => Happening::Arrival(way, 0, segment),
        };
        agenda.add(done, enters);
        if self.tx_coalesce == Time::ZERO {
            self.inform_driver(done, agenda);
        } else if self.interrupt.is_none() {
            let at = done + self.tx_coalesce;
            self.interrupt = Some(at);
            agenda.add(at, Happening::WireDone(place));
        }
        self.start(done, agenda);
    }

    /// The driver learns what was sent, and skbs enter the ring.
    fn inform_driver(&mut self, now: Time, agenda: &mut Agenda) {
        self.interrupt = None;
        for ip_len in self.sent.drain(..) {
            self.ring_counter.leave(now, ip_len);
        }
        let bytes = std::mem::take(&mut self.not_reported);
        if let Some(bql) = self.bql.as_mut().filter(|_| bytes > 0) {
            bql.sent(now, bytes);
        }
        self.look_whether_to_go_on();
        while let Some(skb) = self.qdisc.front()
            && self.fits(skb.len())
        {
            let skb = self.qdisc.pop_front().expect("it was there");
            self.qdisc_counter.leave(now, bytes_of(&skb));
            self.enter_ring(now, skb, agenda);
            if self.qdisc.front().is_some_and(|next| !self.fits(next.len())) {
                self.requeue(now);
            }
        }
        if let Some(segments) = self.qdisc.front().map(Vec::len) {
            self.admits(segments);
        }
        if self.late.as_ref().is_some_and(Late::waits_for_ring) {
            self.ask(now, agenda);
        }
        self.note_blocked(now);
    }

    /// A segment has been sent; the skb, if it is its last one.
    fn complete(&mut self, segment: &Packet) {
        self.sent_of_skb += segment.ip_len + bql::HEADER;
        if self.ring.front().is_none_or(|next| next.skb != segment.skb) {
            self.not_reported += std::mem::take(&mut self.sent_of_skb);
        }
    }

    /// Time at which the last offered skb is in the NIC's own buffer, or moderated interrupts report it to the driver.
    /// A copy runs the NIC until then.
    pub fn last_leaves(&self, offered: Time) -> Time {
        let mut copy = self.copy();
        let mut at = Time::ZERO;
        let is_moderated = self.tx_coalesce > Time::ZERO;
        while !copy.qdisc.is_empty() || is_moderated && copy.used() > 0 {
            at = copy.next_of_card().expect("the ring is not empty");
            copy.step(&mut Agenda::default());
        }
        let fetched = if is_moderated { Time::ZERO } else { copy.bucket.lets_go() };
        offered.max(fetched).max(at)
    }

    /// The ring and what waits for it, without a discipline.
    fn copy(&self) -> Transmit {
        Transmit {
            late: None,
            gone: Vec::new(),
            qdisc: self.qdisc.clone(),
            ring: self.ring.clone(),
            sent: self.sent.clone(),
            bql: self.bql.clone(),
            qdisc_counter: Counter::default(),
            ring_counter: Counter::default(),
            busy: Busy::default(),
            blocked: Busy::default(),
            ..*self
        }
    }

    /// Number of times that byte queue limits stopped the ring, and became smaller.
    pub fn limited(&self) -> [u64; 2] {
        self.bql.as_ref().map_or([0; 2], |bql| bql.happened)
    }

    /// Sizes of qdisc and ring.
    pub fn sizes(&self) -> (u64, u64) {
        (self.qdisc_limit as u64, self.ring_size as u64)
    }
}
