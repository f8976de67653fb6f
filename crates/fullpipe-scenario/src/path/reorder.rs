//! Delays by chance, so that packets overtake each other. With netem's choice (`chosen_delay` 0) chosen packets go ahead of those that are held; with `delay` 0 and a `chosen_delay` chosen packets come late.

use super::{Chance, Impairment, Meaning, Overtake, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{AnyTime, Int, Name, Probability};
use crate::show;
use fullpipe_base::units::Time;
use fullpipe_sim::config;
use serde::Serialize;

pub use fullpipe_sim::config::Reorder;

group! {
    /// Delays by chance, so that packets overtake each other. With netem's choice (`chosen_delay` 0) chosen packets go ahead of those that are held; with `delay` 0 and a `chosen_delay` chosen packets come late.
    ReorderElement "a reordering" {
        /// "reorder".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Delay of packets that are not chosen.
        delay: AnyTime, Required;
        /// Delay of chosen packets.
        chosen_delay: AnyTime, Is("0s");
        /// Probability that a packet is chosen.
        probability: Probability, Required;
        /// Share c of a packet's random number r that comes from r' of the packet before, as in netem: r = (1 - c) u + c r'. Here u is uniform from 0 to 1. A packet is chosen if r is at most the probability. So chosen packets come in bursts. As r lies closer to the middle than u, fewer packets are chosen than a probability below a half says, and more than one above it says. With 1 all are, or none.
        correlation: Probability, Is("0");
        /// Packets from one that may be chosen to the next: with probability 1 and gap 5 every fifth is chosen.
        gap: Int<1, 1_000_000_000>, Is("1");
    }
}

/// The keys as they are saved.
#[derive(Serialize)]
#[serde(remote = "Reorder")]
pub(super) struct Shown {
    name: String,
    #[serde(serialize_with = "show::shown")]
    delay: Time,
    #[serde(serialize_with = "show::shown")]
    chosen_delay: Time,
    probability: f64,
    correlation: f64,
    gap: u32,
}

impl Written for ReorderElement {
    type Meaning = Reorder;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, cx: &mut Context) -> Option<Reorder> {
        let (delay, chosen) = (needed(&self.delay)?.0, self.chosen_delay.as_ref()?);

        // Equal delays keep all packets in order.
        if delay == chosen.value.0 {
            let message = "`delay` and `chosen_delay` are equal, so nothing is reordered";
            cx.error("conflict", chosen.place, message).expected("two delays that differ");
        }
        Some(Reorder {
            name: needed(&self.name)?.0.clone(),
            delay: Time::ns(delay),
            chosen_delay: Time::ns(chosen.value.0),
            probability: needed(&self.probability)?.0,
            correlation: needed(&self.correlation)?.0,
            gap: needed(&self.gap)?.0 as u32,
        })
    }
}

impl Meaning for Reorder {
    fn delay(&self) -> Time {
        self.delay.min(self.chosen_delay)
    }

    fn impairment(&self, _run: &Surroundings) -> Impairment {
        let Reorder { delay, chosen_delay, probability, correlation, gap, .. } = *self;
        let chosen = Chance { probability, correlation };
        Impairment::Overtake(Overtake { delay, chosen_delay, chosen, gap })
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Reorder(self.clone())
    }
}
