//! A rate with a queue in front of it.

use super::queue::{PathQueue, Queue, queue};
use super::{Impairment, Meaning, RateStep, Sending, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Empty, Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{AnyRate, Name};
use crate::show;
use fullpipe_base::units::{Framing, Rate, Time};
use fullpipe_sim::config;
use serde::Serialize;

group! {
    /// A rate with a queue in front of it.
    LinkElement "a link" {
        /// "link".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Serialisation rate.
        rate: AnyRate, Required;
        /// What the rate and a queue in bytes count.
        framing: Framing, Is("ethernet-wire");
        /// Its queue.
        queue: PathQueue, Empty;
    }
}

/// A rate with a queue in front of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Stage name.
    pub name: String,
    /// Serialisation rate.
    #[serde(serialize_with = "show::shown")]
    pub rate: Rate,
    /// Bytes that the rate counts for each packet.
    #[serde(serialize_with = "show::framing")]
    pub framing: Framing,
    /// The queue.
    pub queue: Queue,
}

impl Written for LinkElement {
    type Meaning = Link;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<Link> {
        let rate = Rate(needed(&self.rate)?.0);
        let (name, framing) = (&needed(&self.name)?.0, *needed(&self.framing)?);
        let queue = queue(needed(&self.queue)?, whole.mtu + framing.overhead(), cx)?;
        Some(Link { name: name.clone(), rate, framing, queue })
    }
}

impl Meaning for Link {
    fn rate(&self) -> Option<(Rate, Framing)> {
        Some((self.rate, self.framing))
    }

    fn queue(&self) -> Option<&Queue> {
        Some(&self.queue)
    }

    fn complete(&mut self, whole: &Whole) {
        self.queue.complete(self.rate, self.framing, whole);
    }

    fn impairment(&self, _run: &Surroundings) -> Impairment {
        Impairment::Rate(Sending {
            steps: vec![RateStep { at: Time::ZERO, rate: self.rate }],
            framing: self.framing,
            queue: self.queue.clone(),
        })
    }

    fn config(&self, run: &Surroundings) -> config::Element {
        config::Element::Link(config::Link {
            name: self.name.clone(),
            rate: self.rate,
            framing: self.framing,
            limit: self.queue.limit,
            discipline: self.queue.config(self.rate, self.framing, run.mtu),
        })
    }
}
