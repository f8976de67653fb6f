//! Loss in bursts: the model of Gilbert and Elliott as netem has it (`loss gemodel`). Unit of decision:
//! the segment, or the skb.
//!
//! The probability of loss is that of the state, good or bad, in which a unit finds the model. After each unit the
//! state may change (Linux 6.1 `loss_gilb_ell`, where the state before the change decides). The model begins in the
//! good state. Random numbers decide how many units a state lasts and when it next loses: the law stays the same.

use super::chain::Stage;
use super::dropping::{Dropping, Pattern, UnitRun};
use super::unit::Unit;
use super::{Configuration, info};
use crate::bounds::probability;
use crate::rng::Rng;
use crate::stage::Samples;
use alloc::boxed::Box;
use alloc::string::String;

/// Loss in bursts. In the long run p / (p + r) of the units find the bad state.
#[derive(Clone, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Probability that the good state ends with a unit (0 to 1).
    pub p: f64,
    /// Probability that the bad state ends with a unit (0 to 1).
    pub r: f64,
    /// Probability that a unit is lost in the bad state (0 to 1): netem's 1-h.
    pub loss_bad: f64,
    /// Probability that a unit is lost in the good state (0 to 1): netem's 1-k.
    pub loss_good: f64,
    /// Unit that is lost as a whole.
    pub unit: Unit,
}

impl Configuration for GilbertElliott {
    const KIND: &'static str = "gilbert-elliott";

    fn check(&self) -> Result<(), String> {
        probability(self.p, &self.name, "p")?;
        probability(self.r, &self.name, "r")?;
        probability(self.loss_bad, &self.name, "loss_bad")?;
        probability(self.loss_good, &self.name, "loss_good")
    }

    fn per_skb(&self) -> bool {
        self.unit == Unit::Skb
    }

    fn build(&self, seed: u64, samples: Samples) -> Box<dyn Stage> {
        let rng = Rng::new(seed, &self.name);
        let model = Model { config: self.clone(), rng, bad: true, stay: 0, lose_next: false };
        let info = info::<GilbertElliott>(&self.name, "segment", None);
        Box::new(Dropping::new(info, model, self.unit, samples))
    }
}

/// State of the model.
struct Model {
    config: GilbertElliott,
    rng: Rng,
    bad: bool,
    /// Units that will still find this state; `u64::MAX` for ever.
    stay: u64,
    /// Whether the unit after the last run is lost.
    lose_next: bool,
}

impl Model {
    fn change(&mut self) {
        self.bad = !self.bad;
        let ends = if self.bad { self.config.r } else { self.config.p };
        self.stay = self.rng.geometric(ends).saturating_add(1);
    }

    fn spend(&mut self, units: u64) {
        if self.stay != u64::MAX {
            self.stay -= units;
        }
    }
}

impl Pattern for Model {
    fn next(&mut self) -> UnitRun {
        // The last call has passed the units before a loss; this one loses.
        if core::mem::take(&mut self.lose_next) {
            return UnitRun { units: 1, lost: true };
        }
        if self.stay == 0 {
            self.change();
        }

        // loss_gilb_ell: the state that a unit finds decides on its loss.
        let loss = if self.bad { self.config.loss_bad } else { self.config.loss_good };
        let until = self.rng.geometric(loss);
        self.lose_next = until < self.stay;
        let units = until.min(self.stay);
        self.spend(units + u64::from(self.lose_next));
        UnitRun { units, lost: false }
    }
}
