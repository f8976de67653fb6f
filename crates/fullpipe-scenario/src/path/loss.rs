//! Independent random loss.

use super::{Impairment, Losses, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{Name, Probability, choices};
use crate::show;
use fullpipe_sim::config::{self, Unit};
use serde::Serialize;

pub use fullpipe_sim::config::Loss;

group! {
    /// Independent random loss.
    LossElement "a loss" {
        /// "loss".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Probability that a unit is lost.
        probability: Probability, Required;
        /// What is lost as one: a segment, or an skb as the sender handed it down (with TSO up to 64 KB).
        unit: Unit, Is("segment");
    }
}

/// The keys as they are saved.
#[derive(Serialize)]
#[serde(remote = "Loss")]
pub(super) struct Shown {
    name: String,
    probability: f64,
    #[serde(serialize_with = "show::choice")]
    unit: Unit,
}

choices! {
    Unit { "segment" = Unit::Segment, "skb" = Unit::Skb }
}

impl Written for LossElement {
    type Meaning = Loss;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, _cx: &mut Context) -> Option<Loss> {
        let (name, probability) = (needed(&self.name)?.0.clone(), needed(&self.probability)?.0);
        Some(Loss { name, probability, unit: *needed(&self.unit)? })
    }
}

impl Meaning for Loss {
    fn impairment(&self, _run: &Surroundings) -> Impairment {
        Impairment::Lose { law: Losses::Independent(self.probability), unit: self.unit }
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Loss(self.clone())
    }
}
