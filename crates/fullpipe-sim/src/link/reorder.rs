//! Reordering, as netem's `reorder` with `gap`. Unit of decision: the segment.
//!
//! Packets have one delay, chosen packets another. In netem's case chosen packets have no delay and overtake the held
//! ones. In the opposite case chosen packets arrive late. After a chosen packet the next `gap` - 1 cannot be chosen.
//! Each later one is chosen with a probability, until one is (Linux 6.1 `netem_enqueue`). The element holds any number
//! of packets.

use super::chain::Stage;
use super::holding::{Holding, Law};
use super::{Configuration, info};
use crate::bounds::{LONGEST, demand, probability};
use crate::rng::Correlated;
use crate::stage::Samples;
use crate::units::Time;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

/// Random delays.
#[derive(Clone, Debug, PartialEq)]
pub struct Reorder {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Delay of packets that are not chosen.
    pub delay: Time,
    /// Delay of chosen packets.
    pub chosen_delay: Time,
    /// Probability that a packet is chosen (0 to 1), where there is no correlation.
    pub probability: f64,
    /// Correlation with the packet looked at before, see [`Correlated`] (0 to 1).
    pub correlation: f64,
    /// Packets from one that may be chosen to the next (at least 1).
    pub gap: u32,
}

impl Configuration for Reorder {
    const KIND: &'static str = "reorder";

    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        probability(self.probability, name, "probability")?;
        probability(self.correlation, name, "correlation")?;
        demand(self.gap > 0, format!("{name}: gap 0"))?;
        let longest = self.delay.max(self.chosen_delay);
        demand(longest <= LONGEST, format!("{name}: delay of at most {LONGEST}"))
    }

    fn in_order(&self) -> bool {
        self.delay == self.chosen_delay
    }

    fn build(&self, seed: u64, samples: Samples) -> Box<dyn Stage> {
        let law = Reorderer {
            config: self.clone(),
            random: Correlated::new(seed, &self.name, self.correlation),
            since: 0,
        };
        let info = info::<Reorder>(&self.name, "segment", None);
        Box::new(Holding::new(info, law, samples))
    }
}

/// State of a reordering element.
struct Reorderer {
    config: Reorder,
    random: Correlated,
    /// Packets since the last chosen one.
    since: u32,
}

impl Reorderer {
    fn chooses(&mut self) -> bool {
        let chosen =
            self.since >= self.config.gap - 1 && self.random.next() <= self.config.probability;
        self.since = if chosen { 0 } else { self.since.saturating_add(1) };
        chosen
    }
}

impl Law for Reorderer {
    fn leaving(&mut self, now: Time, _flow: u16) -> Time {
        now + if self.chooses() { self.config.chosen_delay } else { self.config.delay }
    }
}
