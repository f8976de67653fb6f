//! A rate, which may change, and its queue.

use super::super::agenda::Agenda;
use super::super::counter::{Busy, Change, Counter};
use super::super::packet::Packet;
use super::disciplined::Disciplined;
use super::{Element, Place, has_room, limited};
use fullpipe_sim::config::{self, Discipline, QueueLimit};
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
    /// Packets that wait instead, where the queue is not first in, first out.
    disciplined: Option<Disciplined>,
    sending: Option<Packet>,
    counter: Counter,
    busy: Busy,
}

impl Link {
    /// An idle link.
    pub fn new(config: &config::Link, seed: u64) -> Link {
        let rates = vec![(Time::ZERO, config.rate)];
        let link = Link::with(&config.name, "link", rates, config.framing, config.limit);
        link.disciplined(&config.discipline, seed)
    }

    /// An idle link with a changing rate.
    pub fn varying(config: &config::VaryingLink, seed: u64) -> Link {
        let rates = config.steps.iter().map(|step| (step.at, step.rate)).collect();
        let link = Link::with(&config.name, "varying-link", rates, config.framing, config.limit);
        link.disciplined(&config.discipline, seed)
    }

    fn disciplined(mut self, discipline: &Discipline, seed: u64) -> Link {
        if *discipline != Discipline::Fifo {
            let queue = Disciplined::new(discipline, self.limit, seed, &self.name);
            self.disciplined = Some(queue);
        }
        self
    }

    fn with(
        name: &str,
        kind: &'static str,
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
            disciplined: None,
            sending: None,
            counter: Counter::bounded(limit),
            busy: Busy::default(),
        }
    }

    fn bytes(&self, packet: &Packet) -> u32 {
        packet.ip_len + self.framing.overhead()
    }

    /// End of a packet's transmission that starts at `start`.
    fn done(&self, start: Time, packet: &Packet) -> Time {
        let (mut now, mut left) = (start, u128::from(self.bytes(packet)) * 8_000_000_000);
        for (i, (_, rate)) in self.rates.iter().enumerate() {
            let Some((end, _)) = self.rates.get(i + 1) else {
                return now + Time((left / u128::from(rate.0)) as u64);
            };
            let sent = u128::from(rate.0) * u128::from(end.saturating_sub(now).0);
            if left <= sent {
                return now + Time((left / u128::from(rate.0)) as u64);
            }
            left -= sent;
            now = now.max(*end);
        }
        unreachable!("there is a rate")
    }

    /// A packet comes to a discipline, and leaves it at once if nothing is sent.
    fn queue_up(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        let bytes = self.bytes(&packet);
        let mut change = Change {
            waiting: 1,
            bytes: bytes.into(),
            entered: 1,
            came: Some(bytes),
            ..Change::default()
        };
        self.discipline().push(now, packet, bytes);
        if self.sending.is_none() {
            self.start_next(now, place, &mut change, agenda);
        }
        self.note(now, change);
    }

    fn discipline(&mut self) -> &mut Disciplined {
        self.disciplined.as_mut().expect("a discipline")
    }

    /// Notes a change and what the discipline has dropped.
    fn note(&mut self, now: Time, mut change: Change) {
        self.discipline().dropped().into_iter().for_each(|bytes| change.drop_waiting(bytes));
        self.counter.note(now, change);
    }

    fn start_next(&mut self, now: Time, place: Place, change: &mut Change, agenda: &mut Agenda) {
        let Some(next) = self.discipline().pop(now) else { return };
        change.waiting -= 1;
        change.bytes -= i64::from(self.bytes(&next));
        self.start(now, place, next, agenda);
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
        limited(&self.name, self.kind, self.limit)
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        if self.disciplined.is_some() {
            self.queue_up(now, place, packet, agenda);
        } else if self.sending.is_none() {
            self.counter.note(now, Change { entered: 1, ..Change::default() });
            self.start(now, place, packet, agenda);
        } else if has_room(self.limit, &self.queue, &packet, |p| self.bytes(p)) {
            self.counter.enter(now, self.bytes(&packet));
            self.queue.push_back(packet);
        } else {
            self.counter.drop_coming(now, self.bytes(&packet));
        }
    }

    fn due(&mut self, now: Time, place: Place, agenda: &mut Agenda) {
        let packet = self.sending.take().expect("something was sent");
        self.counter.note(now, Change { left: 1, ..Change::default() });
        place.send_on(now, packet, agenda);
        if self.disciplined.is_some() {
            let mut change = Change::default();
            self.start_next(now, place, &mut change, agenda);
            self.note(now, change);
        } else if let Some(next) = self.queue.pop_front() {
            let bytes = -i64::from(self.bytes(&next));
            self.counter.note(now, Change { waiting: -1, bytes, ..Change::default() });
            self.start(now, place, next, agenda);
        }
    }
    fn sample(&mut self, now: Time) -> StageSample {
        StageSample { busy_ns: self.busy.up_to(now), ..self.counter.sample(now) }
    }
}
