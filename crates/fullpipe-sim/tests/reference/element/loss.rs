//! Random loss.

use super::super::agenda::Agenda;
use super::super::counter::Counter;
use super::super::packet::Packet;
use super::{Element, Place, info};
use fullpipe_sim::config;
use fullpipe_sim::rng::Rng;
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;

/// Packets that pass before the next one is lost.
pub struct Loss {
    config: config::Loss,
    rng: Rng,
    passing: u64,
    counter: Counter,
}

impl Loss {
    /// It draws from the stream of (`seed`, its name).
    pub fn new(config: &config::Loss, seed: u64) -> Loss {
        let mut rng = Rng::new(seed, &config.name);
        let passing = rng.geometric(config.probability);
        Loss { config: config.clone(), rng, passing, counter: Counter::default() }
    }
}

impl Element for Loss {
    fn info(&self) -> StageInfo {
        info(&self.config.name, "loss", "segment", None)
    }

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

    fn sample(&mut self, now: Time) -> StageSample {
        self.counter.sample(now)
    }
}
