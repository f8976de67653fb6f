//! Random duplication: the copy leaves directly behind the packet.

use super::{Chance, Impairment, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{Name, Probability};
use fullpipe_sim::config;
use serde::Serialize;

pub use fullpipe_sim::config::Duplicate;

group! {
    /// Random duplication: the copy leaves directly behind the packet.
    DuplicateElement "a duplication" {
        /// "duplicate".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Probability that a packet is duplicated.
        probability: Probability, Required;
        /// Share c of a packet's random number r that comes from r' of the packet before, as in netem: r = (1 - c) u + c r'. Here u is uniform from 0 to 1. A packet is duplicated if r is at most the probability. So duplicates come in bursts. As r lies closer to the middle than u, fewer packets are duplicated than a probability below a half says, and more than one above it says. With 1 all are, or none.
        correlation: Probability, Is("0");
    }
}

/// The keys as they are saved.
#[derive(Serialize)]
#[serde(remote = "Duplicate")]
pub(super) struct Shown {
    name: String,
    probability: f64,
    correlation: f64,
}

impl Written for DuplicateElement {
    type Meaning = Duplicate;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, _cx: &mut Context) -> Option<Duplicate> {
        Some(Duplicate {
            name: needed(&self.name)?.0.clone(),
            probability: needed(&self.probability)?.0,
            correlation: needed(&self.correlation)?.0,
        })
    }
}

impl Meaning for Duplicate {
    fn impairment(&self, _run: &Surroundings) -> Impairment {
        let Duplicate { probability, correlation, .. } = *self;
        Impairment::Copy(Chance { probability, correlation })
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Duplicate(self.clone())
    }
}
