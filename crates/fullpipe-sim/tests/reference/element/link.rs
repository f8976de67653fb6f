//! A rate and its queue.

use super::super::agenda::Agenda;
use super::super::counter::{Busy, Change, Counter};
use super::super::packet::Packet;
use super::{Element, Place, info};
use fullpipe_sim::config::{self, QueueLimit};
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

/// Packets in the queue, and the one in transmission.
pub struct Link {
    config: config::Link,
    queue: VecDeque<Packet>,
    sending: Option<Packet>,
    counter: Counter,
    busy: Busy,
}

impl Link {
    /// An idle link.
    pub fn new(config: &config::Link) -> Link {
        Link {
            config: config.clone(),
            queue: VecDeque::new(),
            sending: None,
            counter: Counter::default(),
            busy: Busy::default(),
        }
    }

    fn bytes(&self, packet: &Packet) -> u32 {
        packet.ip_len + self.config.framing.overhead()
    }

    fn has_room(&self, packet: &Packet) -> bool {
        let held: u64 = self.queue.iter().map(|p| u64::from(self.bytes(p))).sum();
        match self.config.limit {
            QueueLimit::Packets(limit) => self.queue.len() < limit as usize,
            QueueLimit::Bytes(limit) => held + u64::from(self.bytes(packet)) <= limit,
        }
    }

    fn start(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        let done = now + self.config.rate.time_for(u64::from(self.bytes(&packet)));
        self.busy.note(now, done);
        self.sending = Some(packet);
        place.due(done, agenda);
    }
}

impl Element for Link {
    fn info(&self) -> StageInfo {
        match self.config.limit {
            QueueLimit::Packets(n) => info(&self.config.name, "link", "segment", Some(n.into())),
            QueueLimit::Bytes(n) => info(&self.config.name, "link", "byte", Some(n)),
        }
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        if self.sending.is_none() {
            self.counter.note(now, Change { entered: 1, ..Change::default() });
            self.start(now, place, packet, agenda);
        } else if self.has_room(&packet) {
            self.counter.enter(now, self.bytes(&packet));
            self.queue.push_back(packet);
        } else {
            self.counter.drop(now);
        }
    }

    fn due(&mut self, now: Time, place: Place, agenda: &mut Agenda) {
        let packet = self.sending.take().expect("something was sent");
        self.counter.note(now, Change { left: 1, ..Change::default() });
        place.send_on(now, packet, agenda);
        if let Some(next) = self.queue.pop_front() {
            let bytes = -i64::from(self.bytes(&next));
            self.counter.note(now, Change { waiting: -1, bytes, ..Change::default() });
            self.start(now, place, next, agenda);
        }
    }
    fn sample(&mut self, now: Time) -> StageSample {
        StageSample { busy_ns: self.busy.up_to(now), ..self.counter.sample(now) }
    }
}
