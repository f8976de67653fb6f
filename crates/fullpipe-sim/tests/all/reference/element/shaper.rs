//! A token bucket with a queue: tokens are counted whenever something happens, as `tbf` does.

use super::super::agenda::Agenda;
use super::super::counter::{Busy, Change, Counter};
use super::super::packet::Packet;
use super::{Element, Place, has_room, limited};
use fullpipe_sim::config;
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

/// Packets that wait, and tokens in nanoseconds at some time. Negative tokens are the debt of a packet larger than the
/// bucket.
pub struct Shaper {
    config: config::Shaper,
    size: i64,
    tokens: i64,
    counted: Time,
    queue: VecDeque<Packet>,
    counter: Counter,
    busy: Busy,
}

impl Shaper {
    /// A full bucket and an empty queue.
    pub fn new(config: &config::Shaper) -> Shaper {
        let size = config.rate.wire_time(config.burst).0 as i64;
        Shaper {
            config: config.clone(),
            size,
            tokens: size,
            counted: Time::ZERO,
            queue: VecDeque::new(),
            counter: Counter::bounded(config.limit),
            busy: Busy::default(),
        }
    }

    fn bytes(&self, packet: &Packet) -> u32 {
        packet.ip_len + self.config.framing.overhead()
    }

    /// Tokens that a packet takes.
    fn price(&self, packet: &Packet) -> i64 {
        self.config.rate.wire_time(self.bytes(packet).into()).0 as i64
    }

    /// Tokens that have to be there for it.
    fn asked(&self, packet: &Packet) -> i64 {
        self.price(packet).min(self.size)
    }

    fn count(&mut self, now: Time) {
        self.tokens = (self.tokens + (now - self.counted).0 as i64).min(self.size);
        self.counted = now;
    }

    /// Takes the tokens of a packet, if they are there.
    fn pay(&mut self, now: Time, packet: &Packet) -> bool {
        if self.tokens < self.asked(packet) {
            return false;
        }
        let missing = |tokens: i64| now + Time((self.size - tokens) as u64);
        let rest = self.tokens - self.price(packet);
        self.busy.note(missing(self.tokens), missing(rest));
        self.tokens = rest;
        true
    }

    /// Looks again when there are tokens for the first packet.
    fn wait(&self, now: Time, place: Place, agenda: &mut Agenda) {
        if let Some(first) = self.queue.front() {
            place.due(now + Time((self.asked(first) - self.tokens) as u64), agenda);
        }
    }
}

impl Element for Shaper {
    fn info(&self) -> StageInfo {
        limited(&self.config.name, "shaper", self.config.limit)
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        self.count(now);
        if self.queue.is_empty() && self.pay(now, &packet) {
            self.counter.note(now, Change { entered: 1, left: 1, ..Change::default() });
            place.send_on(now, packet, agenda);
        } else if has_room(self.config.limit, &self.queue, &packet, |p| self.bytes(p)) {
            self.counter.enter(now, self.bytes(&packet));
            self.queue.push_back(packet);
            if self.queue.len() == 1 {
                self.wait(now, place, agenda);
            }
        } else {
            self.counter.drop_coming(now, self.bytes(&packet));
        }
    }

    fn due(&mut self, now: Time, place: Place, agenda: &mut Agenda) {
        self.count(now);
        while let Some(first) = self.queue.pop_front() {
            if !self.pay(now, &first) {
                self.queue.push_front(first);
                break;
            }
            self.counter.leave(now, self.bytes(&first));
            place.send_on(now, first, agenda);
        }
        self.wait(now, place, agenda);
    }

    fn sample(&mut self, now: Time) -> StageSample {
        StageSample { busy_ns: self.busy.up_to(now), ..self.counter.sample(now) }
    }
}
