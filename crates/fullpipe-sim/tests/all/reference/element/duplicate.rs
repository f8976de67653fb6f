//! Random duplication.

use super::super::agenda::Agenda;
use super::super::counter::{Change, Counter};
use super::super::packet::Packet;
use super::{Element, Place, info};
use fullpipe_sim::config;
use fullpipe_sim::rng::Correlated;
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;

/// Chance and counters.
pub struct Duplicate {
    config: config::Duplicate,
    random: Correlated,
    counter: Counter,
}

impl Duplicate {
    /// A duplicating element, with random numbers from the stream of (`seed`, its name).
    pub fn new(config: &config::Duplicate, seed: u64) -> Duplicate {
        let random = Correlated::new(seed, &config.name, config.correlation);
        Duplicate { config: config.clone(), random, counter: Counter::default() }
    }
}

impl Element for Duplicate {
    fn info(&self) -> StageInfo {
        info(&self.config.name, "duplicate", "segment", None)
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        self.counter.pass(now);
        place.send_on(now, packet.clone(), agenda);
        if self.random.next() <= self.config.probability {
            self.counter.note(now, Change { left: 1, ..Change::default() });
            place.send_on(now, packet, agenda);
        }
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.counter.sample(now)
    }
}
