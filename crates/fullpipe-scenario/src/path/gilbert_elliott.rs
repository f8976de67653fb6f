//! Loss in bursts, as netem's `loss gemodel`: in a good and in a bad state units are lost with a probability each, and after each unit the state may change. It begins in the good state.

use super::{Impairment, Losses, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{Name, Probability};
use crate::show;
use fullpipe_sim::config::{self, Unit};
use serde::Serialize;

pub use fullpipe_sim::config::GilbertElliott;

group! {
    /// Loss in bursts, as netem's `loss gemodel`: in a good and in a bad state units are lost with a probability each, and after each unit the state may change. It begins in the good state.
    GilbertElliottElement "a loss in bursts" {
        /// "gilbert-elliott".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Probability that the good state ends with a unit.
        p: Probability, Required;
        /// Probability that the bad state ends with a unit.
        r: Probability, Required;
        /// Probability that a unit is lost in the bad state (netem's 1-h).
        loss_bad: Probability, Is("1");
        /// Probability that a unit is lost in the good state (netem's 1-k).
        loss_good: Probability, Is("0");
        /// What is lost as one: a segment, or an skb as the sender handed it down (with TSO up to 64 KB).
        unit: Unit, Is("segment");
    }
}

/// The keys as they are saved.
#[derive(Serialize)]
#[serde(remote = "GilbertElliott")]
pub(super) struct Shown {
    name: String,
    p: f64,
    r: f64,
    loss_bad: f64,
    loss_good: f64,
    #[serde(serialize_with = "show::choice")]
    unit: Unit,
}

impl Written for GilbertElliottElement {
    type Meaning = GilbertElliott;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, _cx: &mut Context) -> Option<GilbertElliott> {
        Some(GilbertElliott {
            name: needed(&self.name)?.0.clone(),
            p: needed(&self.p)?.0,
            r: needed(&self.r)?.0,
            loss_bad: needed(&self.loss_bad)?.0,
            loss_good: needed(&self.loss_good)?.0,
            unit: *needed(&self.unit)?,
        })
    }
}

impl Meaning for GilbertElliott {
    fn impairment(&self, _run: &Surroundings) -> Impairment {
        let GilbertElliott { p, r, loss_bad: bad, loss_good: good, unit, .. } = *self;
        Impairment::Lose { law: Losses::TwoStates { p, r, bad, good }, unit }
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::GilbertElliott(self.clone())
    }
}
