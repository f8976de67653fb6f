//! Random loss.

use super::super::agenda::Agenda;
use super::super::counter::Counter;
use super::super::packet::Packet;
use super::{Element, Place, info};
use fullpipe_sim::config::{self, Unit};
use fullpipe_sim::rng::Rng;
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;

/// Losing by a law; each skb, or each segment as if it were an skb.
pub struct Loss {
    name: String,
    kind: &'static str,
    unit: Unit,
    law: Law,
    /// The last skb, and whether it is lost.
    last: Option<(u32, bool)>,
    counter: Counter,
}

/// Law of the lost units, one after the other.
enum Law {
    /// Units that pass before the next one is lost.
    Bernoulli { rng: Rng, probability: f64, passing: u64 },
    /// The state, units that still find it, units before the next loss in it.
    GilbertElliott { rng: Rng, config: config::GilbertElliott, bad: bool, stay: u64, until: u64 },
}

impl Loss {
    /// Independent loss. It draws from the stream of (`seed`, its name).
    pub fn new(config: &config::Loss, seed: u64) -> Loss {
        let mut rng = Rng::new(seed, &config.name);
        let passing = rng.geometric(config.probability);
        let law = Law::Bernoulli { rng, probability: config.probability, passing };
        Loss::by(law, &config.name, "loss", config.unit)
    }

    /// Loss in bursts.
    pub fn in_bursts(config: &config::GilbertElliott, seed: u64) -> Loss {
        let mut rng = Rng::new(seed, &config.name);
        let stay = rng.geometric(config.p).saturating_add(1);
        let until = rng.geometric(config.loss_good);
        let config = config.clone();
        let (name, unit) = (config.name.clone(), config.unit);
        let law = Law::GilbertElliott { rng, config, bad: false, stay, until };
        Loss::by(law, &name, "gilbert-elliott", unit)
    }

    fn by(law: Law, name: &str, kind: &'static str, unit: Unit) -> Loss {
        Loss { name: name.into(), kind, unit, law, last: None, counter: Counter::default() }
    }
}

/// One less, but never is never.
fn less(n: &mut u64) {
    if *n != u64::MAX {
        *n = n.saturating_sub(1);
    }
}

impl Law {
    /// Whether the next unit is lost.
    fn loses(&mut self) -> bool {
        match self {
            Law::Bernoulli { rng, probability, passing } => {
                let lost = *passing == 0;
                less(passing);
                if lost {
                    *passing = rng.geometric(*probability);
                }
                lost
            }
            Law::GilbertElliott { rng, config, bad, stay, until } => {
                if *stay == 0 {
                    *bad = !*bad;
                    let ends = if *bad { config.r } else { config.p };
                    *stay = rng.geometric(ends).saturating_add(1);
                    *until = rng.geometric(if *bad { config.loss_bad } else { config.loss_good });
                }
                less(stay);
                let lost = *until == 0;
                less(until);
                if lost && *stay > 0 {
                    *until = rng.geometric(if *bad { config.loss_bad } else { config.loss_good });
                }
                lost
            }
        }
    }
}

impl Element for Loss {
    fn info(&self) -> StageInfo {
        info(&self.name, self.kind, "segment", None)
    }

    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda) {
        let lost = match self.last {
            Some((skb, lost)) if self.unit == Unit::Skb && skb == packet.skb => lost,
            _ => self.law.loses(),
        };
        self.last = Some((packet.skb, lost));
        if lost {
            self.counter.drop(now);
        } else {
            self.counter.pass(now);
            place.send_on(now, packet, agenda);
        }
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.counter.sample(now)
    }
}
