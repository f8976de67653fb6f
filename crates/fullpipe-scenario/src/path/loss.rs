//! Independent random loss.

use super::{Ask, Losses, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{Name, Probability, choices};
use crate::show;
use fullpipe_sim::config::{self, Unit};
use serde::Serialize;

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

/// Independent random loss.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Stage name.
    pub name: String,
    /// Probability that a unit is lost (0 to 1).
    pub probability: f64,
    /// What is lost as one.
    #[serde(serialize_with = "show::choice")]
    pub unit: Unit,
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
    fn ask(&self, _run: &Surroundings) -> Ask {
        Ask::Lose { law: Losses::Independent(self.probability), unit: self.unit }
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Loss(config::Loss {
            name: self.name.clone(),
            probability: self.probability,
            unit: self.unit,
        })
    }
}
