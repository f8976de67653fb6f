//! Independent random loss (Bernoulli). Unit of decision: the segment, or the skb.

use super::chain::Stage;
use super::dropping::{Dropping, Pattern, UnitRun};
use super::unit::Unit;
use super::{Configuration, info};
use crate::bounds::probability;
use crate::rng::Rng;
use crate::stage::Samples;
use alloc::boxed::Box;
use alloc::string::String;

/// Independent loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Probability that a unit is lost (0 to 1).
    pub probability: f64,
    /// Unit that is lost as a whole.
    pub unit: Unit,
}

impl Configuration for Loss {
    const KIND: &'static str = "loss";

    fn check(&self) -> Result<(), String> {
        probability(self.probability, &self.name, "probability")
    }

    fn per_skb(&self) -> bool {
        self.unit == Unit::Skb
    }

    fn build(&self, seed: u64, samples: Samples) -> Box<dyn Stage> {
        let rng = Rng::new(seed, &self.name);
        let pattern = Bernoulli { rng, probability: self.probability, lose: true };
        let info = info::<Loss>(&self.name, "segment", None);
        Box::new(Dropping::new(info, pattern, self.unit, samples))
    }
}

/// State of independent loss.
struct Bernoulli {
    rng: Rng,
    probability: f64,
    /// Whether the last run lost its units.
    lose: bool,
}

impl Pattern for Bernoulli {
    fn next(&mut self) -> UnitRun {
        self.lose = !self.lose;
        match self.lose {
            true => UnitRun { units: 1, lost: true },
            false => UnitRun { units: self.rng.geometric(self.probability), lost: false },
        }
    }
}
