//! A rate, which may change, and its queue.

use super::super::agenda::Agenda;
use super::super::counter::{Busy, Change, Counter};
use super::super::packet::Packet;
use super::{Element, Place, info};
use fullpipe_sim::config::{self, QueueLimit};
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::{Framing, Rate, Time};
use std::collections::VecDeque;

/// Packets in the queue, and the one in transmission.
pub struct Link {
    name: String,
    kind: &'static str,
    /// Rates, each with the time at which it begins; the first one at 0.
    rates: Vec<(Time, Rate)>,
    framing: Framing,
    limit: QueueLimit,
    queue: VecDeque<Packet>,
    sending: Option<Packet>,
    counter: Counter,
    busy: Busy,
}

impl Link {
    /// An idle link.
    pub fn new(config: &config::Link) -> Link {
        let rates = vec![(Time::ZERO, config.rate)];
        Link::with((&config.name, "link"), rates, config.framing, config.limit)
    }

    /// An idle link whose rate changes.
    pub fn varying(config: &config::VaryingLink) -> Link {
        let rates = config.steps.iter().map(|step| (step.at, step.rate)).collect();
        Link::with((&config.name, "varying-link"), rates, config.framing, config.limit)
    }

    fn with(
        (name, kind): (&str, &'static str),
        rates: Vec<(Time, Rate)>,
        framing: Framing,
        limit: QueueLimit,
    ) -> Link {
        Link {
            name: name.into(),
            kind,
            rates,
            framing,
            limit,
            queue: VecDeque::new(),
            sending: None,
            counter: Counter::default(),
            busy: Busy::default(),
        }
    }

    fn bytes(&self, packet: &Packet) -> u32 {
        packet.ip_len + self.framing.overhead()
    }

    /// When a packet is sent whose transmission starts at `start`.
    fn done(&self, start: Time, packet: &Packet) -> Time {
        let (mut now, mut left) = (start, u128::from(self.bytes(packet)) * 8_000_000_000);
        for (i, (_, rate)) in self.rates.iter().enumerate() {
            let Some((end, _)) = self.rates.get(i + 1) else {
                return now + Time(left.div_ceil(u128::from(rate.0)) as u64);
            };
            let sent = u128::from(rate.0) * u128::from(end.saturating_sub(now).0);
            if left <= sent {
                return now + Time(left.div_ceil(u128::from(rate.0)) as u64);
            }
            left -= sent;
            now = now.max(*end);
        }
        unreachable!("there is a rate")
    }

    fn has_room(&self, packet: &Packet) -> bool {
        let held: u64 = self.queue.iter().map(|p| u64::from(self.bytes(p))).sum();
        match self.limit {
            QueueLimit::Packets(limit) => self.queue.len() < limit as usize,
            QueueLimit::Bytes(limit) => held + u64::from(self.bytes(packet)) <= limit,
        }
    }

    fn start(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        let done = self.done(now, &packet);
        self.busy.note(now, done);
        self.sending = Some(packet);
        place.due(done, agenda);
    }
}

impl Element for Link {
    fn info(&self) -> StageInfo {
        match self.limit {
            QueueLimit::Packets(n) => info(&self.name, self.kind, "segment", Some(n.into())),
            QueueLimit::Bytes(n) => info(&self.name, self.kind, "byte", Some(n)),
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
