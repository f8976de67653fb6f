//! The way out of a host: qdisc, transmit ring, wire.
//!
//! The host offers skbs at its CPU's time, which may lie ahead of everything else; nothing but the
//! host feeds this queue, so it may be advanced up to that time to see whether the skb is taken.

use super::agenda::{Agenda, Happening, Side};
use super::counter::{Busy, Counter};
use super::packet::Packet;
use fullpipe_sim::config::Host;
use fullpipe_sim::units::{Framing, Rate, Time};
use std::collections::VecDeque;

/// See the module's description.
pub struct Transmit {
    side: Side,
    rate: Rate,
    qdisc_limit: usize,
    ring_size: usize,
    qdisc: VecDeque<Vec<Packet>>,
    /// Segments with a descriptor; the first one is on the wire until the time in `done`.
    ring: VecDeque<Packet>,
    done: Option<Time>,
    /// skbs offered.
    skbs: u32,
    /// Counters of the qdisc, in skbs.
    pub qdisc_counter: Counter,
    /// Counters of the ring, in segments.
    pub ring_counter: Counter,
    /// The wire's work.
    pub busy: Busy,
}

fn bytes(skb: &[Packet]) -> u32 {
    skb.iter().map(|p| p.ip_len).sum()
}

impl Transmit {
    /// An idle way out.
    pub fn new(side: Side, host: &Host) -> Transmit {
        Transmit {
            side,
            rate: host.nic_rate,
            qdisc_limit: host.qdisc_limit as usize,
            ring_size: host.tx_ring as usize,
            qdisc: VecDeque::new(),
            ring: VecDeque::new(),
            done: None,
            skbs: 0,
            qdisc_counter: Counter::default(),
            ring_counter: Counter::default(),
            busy: Busy::default(),
        }
    }

    /// Offers an skb; false: the qdisc refused it.
    pub fn offer(&mut self, now: Time, mut skb: Vec<Packet>, agenda: &mut Agenda) -> bool {
        self.skbs += 1;
        skb.iter_mut().for_each(|packet| packet.skb = self.skbs);
        self.advance(now, agenda);
        if self.qdisc.is_empty() && self.fits(skb.len()) {
            self.qdisc_counter.pass(now);
            self.enter_ring(now, skb, agenda);
        } else if self.qdisc.len() < self.qdisc_limit {
            self.qdisc_counter.enter(now, bytes(&skb));
            self.qdisc.push_back(skb);
        } else {
            self.qdisc_counter.drop(now);
            return false;
        }
        true
    }

    fn fits(&self, segments: usize) -> bool {
        self.ring.is_empty() || self.ring.len() + segments <= self.ring_size
    }

    fn enter_ring(&mut self, now: Time, skb: Vec<Packet>, agenda: &mut Agenda) {
        for segment in skb {
            self.ring_counter.enter(now, segment.ip_len);
            self.ring.push_back(segment);
        }
        self.start(now, agenda);
    }

    fn start(&mut self, now: Time, agenda: &mut Agenda) {
        if self.done.is_none()
            && let Some(segment) = self.ring.front()
        {
            let wire_bytes = segment.ip_len + Framing::EthernetWire.overhead();
            let done = now + self.rate.time_for(u64::from(wire_bytes));
            self.busy.note(now, done);
            self.done = Some(done);
            agenda.add(done, Happening::WireDone(self.side));
        }
    }

    /// Everything that the card does up to `now`, segment by segment.
    pub fn advance(&mut self, now: Time, agenda: &mut Agenda) {
        while let Some(done) = self.done.filter(|done| *done <= now) {
            self.done = None;
            let segment = self.ring.pop_front().expect("it was on the wire");
            self.ring_counter.leave(done, segment.ip_len);
            agenda.add(done, Happening::Arrival(self.side, 0, segment));
            while let Some(skb) = self.qdisc.front()
                && self.fits(skb.len())
            {
                let skb = self.qdisc.pop_front().expect("it was there");
                self.qdisc_counter.leave(done, bytes(&skb));
                self.enter_ring(done, skb, agenda);
            }
            self.start(done, agenda);
        }
    }
    /// When no more than 64 KB of the skbs offered will be left to put on the wire: the card holds these.
    pub fn last_leaves(&self, offered: Time) -> Time {
        let wire =
            |p: &Packet| self.rate.time_for(u64::from(p.ip_len + Framing::EthernetWire.overhead()));
        let waiting = self.ring.iter().skip(1).chain(self.qdisc.iter().flatten());
        let now = self.done.expect("it is on its way");
        let sent = waiting.fold(now, |at, segment| at + wire(segment));
        offered.max(sent.saturating_sub(self.rate.time_for(65_536) + Time(4_000)))
    }

    /// Sizes of qdisc and ring.
    pub fn sizes(&self) -> (u64, u64) {
        (self.qdisc_limit as u64, self.ring_size as u64)
    }
}
