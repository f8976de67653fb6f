//! A delay line.

use super::super::agenda::Agenda;
use super::super::counter::Counter;
use super::super::packet::Packet;
use super::{Element, Place, info};
use fullpipe_sim::config::{self, Timer};
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

/// Packets inside, each with the time at which it is due.
pub struct Delay {
    config: config::Delay,
    inside: VecDeque<(Time, Packet)>,
    counter: Counter,
}

impl Delay {
    /// An empty line.
    pub fn new(config: &config::Delay) -> Delay {
        let counter = match config.limit {
            u32::MAX => Counter::default(),
            limit => Counter::holding(limit as usize),
        };
        Delay { config: config.clone(), inside: VecDeque::new(), counter }
    }

    /// Lets a packet leave when it is due without a timer; with one, when it has been due.
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

impl Element for Delay {
    fn info(&self) -> StageInfo {
        let capacity = if self.config.limit == u32::MAX { None } else { Some(self.config.limit) };
        info(&self.config.name, "delay", "segment", capacity.map(u64::from))
    }

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

    fn sample(&mut self, now: Time) -> StageSample {
        self.counter.sample(now)
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
