//! A delay that varies from packet to packet; a delay that would be negative is none.

use super::{Impairment, Meaning, Spread, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{AnyTime, Name, Probability, choices};
use crate::show;
use fullpipe_base::units::Time;
use fullpipe_sim::config::{self, Distribution};
use serde::Serialize;

pub use fullpipe_sim::config::Jitter;

group! {
    /// A delay that varies from packet to packet; a delay that would be negative is none.
    JitterElement "a jitter" {
        /// "jitter".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Mean delay.
        delay: AnyTime, Required;
        /// Half the width of the uniform distribution, or the standard deviation of the normal one.
        jitter: AnyTime, Required;
        /// Correlation with the packet before; the distribution stays. netem means the same, but next to nothing of its correlation is left in what it does.
        correlation: Probability, Is("0");
        /// How delays are distributed.
        distribution: Distribution, Is("uniform");
        /// Whether packets leave in the order in which they come: then one that is held holds those behind it. Without it packets overtake each other, as in netem.
        keep_order: bool, Is("false");
    }
}

/// The keys as they are saved.
#[derive(Serialize)]
#[serde(remote = "Jitter")]
pub(super) struct Shown {
    name: String,
    #[serde(serialize_with = "show::shown")]
    delay: Time,
    #[serde(serialize_with = "show::shown")]
    jitter: Time,
    correlation: f64,
    #[serde(serialize_with = "show::choice")]
    distribution: Distribution,
    keep_order: bool,
}

impl Written for JitterElement {
    type Meaning = Jitter;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, _cx: &mut Context) -> Option<Jitter> {
        Some(Jitter {
            name: needed(&self.name)?.0.clone(),
            delay: Time::ns(needed(&self.delay)?.0),
            jitter: Time::ns(needed(&self.jitter)?.0),
            correlation: needed(&self.correlation)?.0,
            distribution: *needed(&self.distribution)?,
            keep_order: *needed(&self.keep_order)?,
        })
    }
}

impl Meaning for Jitter {
    fn delay(&self) -> Time {
        self.delay
    }

    fn impairment(&self, _run: &Surroundings) -> Impairment {
        let Jitter { delay: mean, jitter: width, distribution, correlation, keep_order, .. } =
            *self;
        Impairment::Spread(Spread { mean, width, distribution, correlation, keep_order })
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Jitter(self.clone())
    }
}

choices! {
    Distribution { "uniform" = Distribution::Uniform, "normal" = Distribution::Normal }
}
