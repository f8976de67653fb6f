//! Delays that differ from packet to packet: jitter, reordering, those of a flow.

use super::super::agenda::Agenda;
use super::super::counter::Counter;
use super::super::packet::Packet;
use super::{Element, Place, info};
use fullpipe_sim::config::{self, Distribution};
use fullpipe_sim::rng::{Correlated, Rng};
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;

/// Packets inside in the order of arrival, each with its time of departure.
pub struct Late {
    name: String,
    kind: &'static str,
    law: Law,
    inside: Vec<(Time, Packet)>,
    counter: Counter,
}

/// Law of the time that packets stay.
enum Law {
    /// Jitter, with the normal number of the last packet.
    Jitter(config::Jitter, Rng, f64),
    /// Reordering, with the packets since the last chosen one.
    Reorder(config::Reorder, Correlated, u64),
    Flow(config::FlowDelay),
}

impl Late {
    /// A varying delay. It draws from the stream of (`seed`, its name).
    pub fn jitter(config: &config::Jitter, seed: u64) -> Late {
        let config = config.clone();
        let name = config.name.clone();
        let mut rng = Rng::new(seed, &name);
        let last = rng.normal();
        let law = Law::Jitter(config, rng, last);
        Late { name, kind: "jitter", law, inside: Vec::new(), counter: Counter::default() }
    }

    /// Chosen packets and others.
    pub fn reorder(config: &config::Reorder, seed: u64) -> Late {
        let name = config.name.clone();
        let random = Correlated::new(seed, &name, config.correlation);
        let law = Law::Reorder(config.clone(), random, 0);
        Late { name, kind: "reorder", law, inside: Vec::new(), counter: Counter::default() }
    }

    /// One flow late.
    pub fn flow(config: &config::FlowDelay) -> Late {
        let (name, law) = (config.name.clone(), Law::Flow(config.clone()));
        Late { name, kind: "flow-delay", law, inside: Vec::new(), counter: Counter::default() }
    }

    /// Time at which a packet of this flow leaves that arrives now.
    fn leaving(&mut self, now: Time, flow: usize) -> Time {
        let (leaving, in_order) = match &mut self.law {
            Law::Jitter(config, rng, last) => {
                let rho = config.correlation;
                *last = rho * *last + libm::sqrt(1.0 - rho * rho) * rng.normal();
                let deviation = match config.distribution {
                    Distribution::Uniform => libm::erf(*last / std::f64::consts::SQRT_2),
                    Distribution::Normal => *last,
                };
                let delay = config.delay.0 as f64 + config.jitter.0 as f64 * deviation;
                (now + Time(delay.max(0.0) as u64), config.keep_order)
            }
            Law::Flow(config) if config.flows.contains(&(flow as u16)) => {
                (now + config.delay, false)
            }
            Law::Flow(_) => (now, false),
            Law::Reorder(config, random, since) => {
                *since += 1;
                if *since >= config.gap.into() && random.next() <= config.probability {
                    *since = 0;
                    (now + config.chosen_delay, false)
                } else {
                    (now + config.delay, false)
                }
            }
        };
        let last = self.inside.iter().map(|(time, _)| *time).max();
        if in_order { leaving.max(last.unwrap_or(now)) } else { leaving }
    }
}

impl Element for Late {
    fn info(&self) -> StageInfo {
        info(&self.name, self.kind, "segment", None)
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        let leaving = self.leaving(now, packet.flow);
        if leaving <= now {
            self.counter.pass(now);
            place.send_on(now, packet, agenda);
        } else {
            self.counter.enter(now, packet.ip_len);
            self.inside.push((leaving, packet));
            place.due(leaving, agenda);
        }
    }

    fn due(&mut self, now: Time, place: Place, agenda: &mut Agenda) {
        let first = self.inside.iter().position(|(time, _)| *time == now);
        let (_, packet) = self.inside.remove(first.expect("something is due"));
        self.counter.leave(now, packet.ip_len);
        place.send_on(now, packet, agenda);
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.counter.sample(now)
    }
}
