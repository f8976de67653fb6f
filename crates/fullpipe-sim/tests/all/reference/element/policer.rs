//! A token bucket, seen from its other side: what was taken from it and has not come back yet.

use super::super::agenda::Agenda;
use super::super::counter::Counter;
use super::super::packet::Packet;
use super::{Element, Place, info};
use fullpipe_sim::config;
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;

/// Tokens missing in the bucket, in billionths of a bit, and the time of the last look at it.
pub struct Policer {
    config: config::Policer,
    missing: u128,
    looked_at: Time,
    counter: Counter,
}

impl Policer {
    /// A full bucket.
    pub fn new(config: &config::Policer) -> Policer {
        let config = config.clone();
        Policer { config, missing: 0, looked_at: Time::ZERO, counter: Counter::default() }
    }
}

impl Element for Policer {
    fn info(&self) -> StageInfo {
        info(&self.config.name, "policer", "segment", None)
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        let back = u128::from(self.config.rate.0) * u128::from((now - self.looked_at).0);
        self.missing = self.missing.saturating_sub(back);
        self.looked_at = now;
        let bytes = u128::from(packet.ip_len + self.config.framing.overhead());
        let then = self.missing + bytes * 8_000_000_000;
        if then <= u128::from(self.config.burst) * 8_000_000_000 {
            self.missing = then;
            self.counter.pass(now);
            place.send_on(now, packet, agenda);
        } else {
            self.counter.drop(now);
        }
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.counter.sample(now)
    }
}
