//! The elements of a path, each a queue of packets.

use super::agenda::{Agenda, Happening, Side};
use super::counter::{Busy, Change, Counter};
use super::packet::Packet;
use fullpipe_sim::config::{self, QueueLimit, Timer};
use fullpipe_sim::rng::Rng;
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

/// A link element.
pub enum Element {
    /// A rate with its queue.
    Link(Link),
    /// A delay line.
    Delay(Delay),
    /// Random loss.
    Loss(Loss),
}

/// Packets in the queue, and the one in transmission.
pub struct Link {
    config: config::Link,
    queue: VecDeque<Packet>,
    sending: Option<Packet>,
    counter: Counter,
    busy: Busy,
}

/// Packets inside, each with the time at which it is due.
pub struct Delay {
    config: config::Delay,
    inside: VecDeque<(Time, Packet)>,
    counter: Counter,
}

/// Packets that pass before the next one is lost.
pub struct Loss {
    config: config::Loss,
    rng: Rng,
    passing: u64,
    counter: Counter,
}

/// Where an element stands: whose packets pass, and its number on their way.
#[derive(Clone, Copy)]
struct Place {
    from: Side,
    at: usize,
}

impl Place {
    fn send_on(self, time: Time, packet: Packet, agenda: &mut Agenda) {
        agenda.add(time, Happening::Arrival(self.from, self.at + 1, packet));
    }
    fn due(self, time: Time, agenda: &mut Agenda) {
        agenda.add(time, Happening::Due(self.from, self.at));
    }
}

impl Element {
    /// The element that `config` describes.
    pub fn new(config: &config::Element, seed: u64) -> Element {
        match config {
            config::Element::Link(c) => Element::Link(Link {
                config: c.clone(),
                queue: VecDeque::new(),
                sending: None,
                counter: Counter::default(),
                busy: Busy::default(),
            }),
            config::Element::Delay(c) => Element::Delay(Delay {
                config: c.clone(),
                inside: VecDeque::new(),
                counter: Counter::default(),
            }),
            config::Element::Loss(c) => {
                let mut rng = Rng::new(seed, &c.name);
                let passing = rng.geometric(c.probability);
                Element::Loss(Loss { config: c.clone(), rng, passing, counter: Counter::default() })
            }
        }
    }

    /// A packet comes.
    pub fn arrive(&mut self, now: Time, from: Side, at: usize, p: Packet, agenda: &mut Agenda) {
        let place = Place { from, at };
        match self {
            Element::Link(link) => link.arrive(now, place, p, agenda),
            Element::Delay(delay) => delay.arrive(now, place, p, agenda),
            Element::Loss(loss) => loss.arrive(now, place, p, agenda),
        }
    }

    /// A moment has come for which the element asked.
    pub fn due(&mut self, now: Time, from: Side, at: usize, agenda: &mut Agenda) {
        let place = Place { from, at };
        match self {
            Element::Link(link) => link.done(now, place, agenda),
            Element::Delay(delay) => delay.due(now, place, agenda),
            Element::Loss(_) => unreachable!("loss asks for nothing"),
        }
    }

    /// Its description, but for index and direction.
    pub fn info(&self) -> StageInfo {
        let (name, kind, unit, capacity) = match self {
            Element::Link(l) => match l.config.limit {
                QueueLimit::Packets(n) => (&l.config.name, "link", "segment", Some(n.into())),
                QueueLimit::Bytes(n) => (&l.config.name, "link", "byte", Some(n)),
            },
            Element::Delay(d) => {
                (&d.config.name, "delay", "segment", Some(u64::from(d.config.limit)))
            }
            Element::Loss(l) => (&l.config.name, "loss", "segment", None),
        };
        StageInfo { index: 0, name: name.clone(), kind, direction: "", unit, capacity }
    }

    /// Its counters.
    pub fn sample(&mut self, now: Time) -> StageSample {
        match self {
            Element::Link(link) => {
                StageSample { busy_ns: link.busy.up_to(now), ..link.counter.sample(now) }
            }
            Element::Delay(delay) => delay.counter.sample(now),
            Element::Loss(loss) => loss.counter.sample(now),
        }
    }
}

impl Link {
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

    fn start(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        let done = now + self.config.rate.time_for(u64::from(self.bytes(&packet)));
        self.busy.note(now, done);
        self.sending = Some(packet);
        place.due(done, agenda);
    }

    fn done(&mut self, now: Time, place: Place, agenda: &mut Agenda) {
        let packet = self.sending.take().expect("something was sent");
        self.counter.note(now, Change { left: 1, ..Change::default() });
        place.send_on(now, packet, agenda);
        if let Some(next) = self.queue.pop_front() {
            let bytes = -i64::from(self.bytes(&next));
            self.counter.note(now, Change { waiting: -1, bytes, ..Change::default() });
            self.start(now, place, next, agenda);
        }
    }
}

impl Delay {
    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        if self.inside.len() >= self.config.limit as usize {
            self.counter.drop(now);
        } else if self.config.timer.is_none() && self.config.delay == Time::ZERO {
            self.counter.pass(now);
            place.send_on(now, packet, agenda);
        } else {
            let due = now + self.config.delay;
            let looked_at = self.config.timer.map_or(due, |timer| first_tick_after(timer, due));
            place.due(looked_at, agenda);
            self.counter.enter(now, packet.ip_len);
            self.inside.push_back((due, packet));
        }
        if self.config.timer.is_some() {
            self.let_out(now, place, agenda);
        }
    }

    fn due(&mut self, now: Time, place: Place, agenda: &mut Agenda) {
        self.let_out(now, place, agenda);
    }

    /// Without a timer a packet leaves when it is due; with one, when it has been due.
    fn let_out(&mut self, now: Time, place: Place, agenda: &mut Agenda) {
        let exact = self.config.timer.is_none();
        while let Some((due, _)) = self.inside.front()
            && (*due < now || exact && *due == now)
        {
            let (_, packet) = self.inside.pop_front().expect("it was there");
            self.counter.leave(now, packet.ip_len);
            place.send_on(now, packet, agenda);
        }
    }
}

fn first_tick_after(timer: Timer, time: Time) -> Time {
    let mut tick = timer.phase;
    if time > tick {
        tick += Time((time - tick).0 / timer.period.0 * timer.period.0);
    }
    while tick <= time {
        tick += timer.period;
    }
    tick
}

impl Loss {
    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        if self.passing == 0 {
            self.counter.drop(now);
            self.passing = self.rng.geometric(self.config.probability);
            return;
        }
        if self.config.probability > 0.0 {
            self.passing -= 1;
        }
        self.counter.pass(now);
        place.send_on(now, packet, agenda);
    }
}
