//! A link that sends at given times: it is looked at at each opportunity, as mahimahi does.

use super::super::agenda::Agenda;
use super::super::counter::{Busy, Change, Counter};
use super::super::packet::Packet;
use super::{Element, Place, has_room, limited};
use fullpipe_sim::config;
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

/// Packets in the queue, and the one that is sent next.
pub struct TraceLink {
    config: config::TraceLink,
    queue: VecDeque<Packet>,
    /// The packet in turn with the bytes left, and the time since which it has its turn.
    next: Option<(Packet, u32, Time)>,
    /// Number of the next opportunity over all repetitions.
    opportunity: usize,
    counter: Counter,
    busy: Busy,
}

fn bytes(packet: &Packet) -> u32 {
    packet.ip_len + 4
}

impl TraceLink {
    /// An idle link.
    pub fn new(config: &config::TraceLink) -> TraceLink {
        TraceLink {
            config: config.clone(),
            queue: VecDeque::new(),
            next: None,
            opportunity: 0,
            counter: Counter::bounded(config.limit),
            busy: Busy::default(),
        }
    }

    /// Time of the next opportunity.
    fn time(&self) -> Time {
        let list = &self.config.opportunities;
        let period = u64::from(*list.last().expect("there is one"));
        let (round, at) = (self.opportunity / list.len(), self.opportunity % list.len());
        Time::ms(round as u64 * period + u64::from(list[at]))
    }

    fn take_next(&mut self, now: Time) {
        if let Some(packet) = self.queue.pop_front() {
            let bytes_now = bytes(&packet);
            let gone = -i64::from(bytes_now);
            self.counter.note(now, Change { waiting: -1, bytes: gone, ..Change::default() });
            self.next = Some((packet, bytes_now, now));
        }
    }
}

impl Element for TraceLink {
    fn info(&self) -> StageInfo {
        limited(&self.config.name, "trace-link", self.config.limit)
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        if self.next.is_none() {
            self.counter.note(now, Change { entered: 1, ..Change::default() });
            let bytes = bytes(&packet);
            self.next = Some((packet, bytes, now));
            while self.time() <= now {
                self.opportunity += 1;
            }
            place.due(self.time(), agenda);
        } else if has_room(self.config.limit, &self.queue, &packet, bytes) {
            self.counter.enter(now, bytes(&packet));
            self.queue.push_back(packet);
        } else {
            self.counter.drop_coming(now, bytes(&packet));
        }
    }

    fn due(&mut self, now: Time, place: Place, agenda: &mut Agenda) {
        self.opportunity += 1;
        let mut room = 1504;
        while let Some((packet, left, since)) = self.next.take() {
            if left > room {
                self.next = Some((packet, left - room, since));
                break;
            }
            room -= left;
            self.busy.note(since, now);
            self.counter.note(now, Change { left: 1, ..Change::default() });
            place.send_on(now, packet, agenda);
            self.take_next(now);
        }
        if self.next.is_some() {
            place.due(self.time(), agenda);
        }
    }

    fn sample(&mut self, now: Time) -> StageSample {
        let going_on = self.next.as_ref().map_or(0, |(_, _, since)| (now - *since).0);
        StageSample { busy_ns: self.busy.up_to(now) + going_on, ..self.counter.sample(now) }
    }
}
