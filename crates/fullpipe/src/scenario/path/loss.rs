//! Independent random loss.

use super::{Meaning, Whole, Written, needed};
use crate::scenario::Resolved;
use crate::scenario::format::context::Context;
use crate::scenario::format::keys::Default::Required;
use crate::scenario::format::keys::{At, group};
use crate::scenario::format::values::{Name, Probability};
use fullpipe_sim::config;
use serde::Serialize;

group! {
    /// Independent random loss.
    LossElement "a loss" {
        /// "loss".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Probability that a segment is lost.
        probability: Probability, Required;
    }
}

/// Independent random loss.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Stage name.
    pub name: String,
    /// Probability that a segment is lost (0 to 1).
    pub probability: f64,
}

impl Written for LossElement {
    type Meaning = Loss;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, _cx: &mut Context) -> Option<Loss> {
        let (name, probability) = (needed(&self.name)?.0.clone(), needed(&self.probability)?.0);
        Some(Loss { name, probability })
    }
}

impl Meaning for Loss {
    fn config(&self, _run: &Resolved) -> config::Element {
        config::Element::Loss(config::Loss {
            name: self.name.clone(),
            probability: self.probability,
        })
    }
}
