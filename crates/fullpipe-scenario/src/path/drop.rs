//! Packets of a flow to lose, by their number among those that come here, counted from 0; for experiments that must be equal wherever they run. Retransmissions count; the packets of the handshake and window probes do not.

use super::{Impairment, Listed, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Absent, Required};
use crate::format::keys::{At, group};
use crate::format::values::{Integers, Name};
use fullpipe_sim::config;
use serde::Serialize;
use std::collections::BTreeSet;

group! {
    /// Packets of a flow to lose, by their number among those that come here, counted from 0; for experiments that must be equal wherever they run. Retransmissions count; the packets of the handshake and window probes do not.
    DropElement "a drop list" {
        /// "drop".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// The flow.
        flow: String, Required;
        /// Numbers of data segments to lose, on the way forward.
        segments: Integers<0, { u32::MAX as i64 }>, Absent("none");
        /// Numbers of ACKs to lose, on the way back.
        acks: Integers<0, { u32::MAX as i64 }>, Absent("none");
    }
}

/// Packets of a flow to lose, by their number among those that come here, counted from 0; for experiments that must be equal wherever they run. Retransmissions count; the packets of the handshake and window probes do not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drop {
    /// Stage name.
    pub name: String,
    /// Name of the flow.
    pub flow: String,
    /// Numbers of data segments, rising.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<u64>,
    /// Numbers of ACKs, rising.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acks: Vec<u64>,
}

impl Written for DropElement {
    type Meaning = Drop;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<Drop> {
        let flow = whole.flow(self.flow.as_ref()?, cx);
        let data = whole.brings_data(&flow);

        // Data passes in one direction of a flow, its ACKs in the other.
        let (here, there) = match data {
            true => (&self.segments, ("acks", &self.acks, "segments")),
            false => (&self.acks, ("segments", &self.segments, "acks")),
        };

        // Keys of the other direction would never act.
        if let (key, Some(wrong), other) = there {
            cx.error("conflict", wrong.place, format!("`{key}` do not pass on this way"))
                .expected(format!("`{other}` here, or the element on the other way"));
        } else if here.is_none() && !self.wrong {
            let key = if data { "segments" } else { "acks" };
            cx.error("missing-key", self.place, format!("a drop list needs `{key}`"))
                .expected("an array of integers such as [10, 11, 25]");
        }
        Some(Drop {
            name: needed(&self.name)?.0.clone(),
            flow,
            segments: rising(&self.segments),
            acks: rising(&self.acks),
        })
    }
}

impl Meaning for Drop {
    fn impairment(&self, run: &Surroundings) -> Impairment {
        Impairment::LoseListed(Listed {
            flow: run.flow_index(&self.flow),
            segments: self.segments.clone(),
            acks: self.acks.clone(),
        })
    }

    fn config(&self, run: &Surroundings) -> config::Element {
        config::Element::Drop(config::Drop {
            name: self.name.clone(),
            flow: run.flow_index(&self.flow),
            segments: self.segments.clone(),
            acks: self.acks.clone(),
        })
    }
}

/// Numbers of a list, rising, each once.
pub(super) fn rising<const MIN: i64, const MAX: i64>(
    at: &Option<At<Integers<MIN, MAX>>>,
) -> Vec<u64> {
    let numbers = at.iter().flat_map(|at| &at.value.0);
    let numbers: BTreeSet<u64> = numbers.map(|n| n.unsigned_abs()).collect();
    numbers.into_iter().collect()
}
