//! A link that lets no large packet through.

use super::super::agenda::Agenda;
use super::super::counter::Counter;
use super::super::packet::Packet;
use super::{Element, Place, info};
use fullpipe_sim::config;
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;

/// An MTU, and counts of packets.
pub struct Mtu {
    config: config::Mtu,
    counter: Counter,
}

impl Mtu {
    pub fn new(config: &config::Mtu) -> Mtu {
        Mtu { config: config.clone(), counter: Counter::default() }
    }
}

impl Element for Mtu {
    fn info(&self) -> StageInfo {
        info(&self.config.name, "mtu", "segment", None)
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        if packet.ip_len > self.config.mtu {
            return self.counter.drop(now);
        }
        self.counter.pass(now);
        place.send_on(now, packet, agenda);
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.counter.sample(now)
    }
}
