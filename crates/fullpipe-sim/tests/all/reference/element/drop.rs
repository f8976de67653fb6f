//! Lists of packets to lose or to mark.

use super::super::agenda::Agenda;
use super::super::counter::Counter;
use super::super::packet::{Body, Packet};
use super::{Element, Place, info};
use fullpipe_sim::config;
use fullpipe_sim::packet::Ecn;
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;

/// A drop element, with the number of packets that have arrived.
pub struct Drop {
    config: config::Drop,
    segments: u64,
    acks: u64,
    counter: Counter,
}

impl Drop {
    /// Nothing has come.
    pub fn new(config: &config::Drop) -> Drop {
        Drop { config: config.clone(), segments: 0, acks: 0, counter: Counter::default() }
    }
}

impl Element for Drop {
    fn info(&self) -> StageInfo {
        info(&self.config.name, "drop", "segment", None)
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        let mine = packet.flow == usize::from(self.config.flow);
        let lost = match packet.body {
            Body::Data(segment) if mine && segment.len > 0 => {
                self.segments += 1;
                self.config.segments.contains(&(self.segments - 1))
            }
            Body::Ack(_) if mine => {
                self.acks += 1;
                self.config.acks.contains(&(self.acks - 1))
            }
            _ => false,
        };
        if lost {
            self.counter.drop(now);
        } else {
            self.counter.pass(now);
            place.send_on(now, packet, agenda);
        }
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.counter.sample(now)
    }
}

/// A marking element, with the number of packets that have arrived, and of the marked ones.
pub struct Mark {
    config: config::Mark,
    segments: u64,
    marked: u64,
    counter: Counter,
}

impl Mark {
    /// Nothing has come.
    pub fn new(config: &config::Mark) -> Mark {
        Mark { config: config.clone(), segments: 0, marked: 0, counter: Counter::default() }
    }
}

impl Element for Mark {
    fn info(&self) -> StageInfo {
        info(&self.config.name, "mark", "segment", None)
    }

    fn arrive(&mut self, now: Time, place: Place, mut packet: Packet, agenda: &mut Agenda) {
        if let Body::Data(segment) = &mut packet.body
            && packet.flow == usize::from(self.config.flow)
            && segment.len > 0
        {
            let listed = self.config.segments.contains(&self.segments);
            self.segments += 1;
            if listed && segment.ecn != Ecn::NotEct {
                segment.ecn = Ecn::Ce;
                self.marked += 1;
            }
        }
        self.counter.pass(now);
        place.send_on(now, packet, agenda);
    }

    fn sample(&mut self, now: Time) -> StageSample {
        StageSample { marked: self.marked, ..self.counter.sample(now) }
    }
}
