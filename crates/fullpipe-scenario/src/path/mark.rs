//! Data segments of a flow to mark (CE), by their number among those that come here, counted from 0; for experiments with ECN that must be equal wherever they run. Retransmissions count, but cannot be marked; the packets of the handshake and window probes do not count.

use super::drop::rising;
use super::{Impairment, Listed, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::Required;
use crate::format::keys::{At, group};
use crate::format::values::{Integers, Name};
use fullpipe_sim::config;
use serde::Serialize;

group! {
    /// Data segments of a flow to mark (CE), by their number among those that come here, counted from 0; for experiments with ECN (`net.ipv4.tcp_ecn` = 1 at the sender) that must be equal wherever they run. Retransmissions count, but cannot be marked; the packets of the handshake and window probes do not count.
    MarkElement "a list of marks" {
        /// "mark".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// The flow.
        flow: String, Required;
        /// Numbers of data segments to mark, on the way forward.
        segments: Integers<0, { u32::MAX as i64 }>, Required;
    }
}

/// Data segments of a flow to mark (CE), by their number among those that come here, counted from 0; for experiments with ECN that must be equal wherever they run. Retransmissions count, but cannot be marked; the packets of the handshake and window probes do not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// Stage name.
    pub name: String,
    /// Name of the flow.
    pub flow: String,
    /// Numbers of data segments, rising.
    pub segments: Vec<u64>,
}

impl Written for MarkElement {
    type Meaning = Mark;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<Mark> {
        let flow = whole.flow(self.flow.as_ref()?, cx);
        if !whole.brings_data(&flow) {
            cx.error("conflict", self.place, "ACKs cannot be marked")
                .expected("the element on the way of the flow's data");
        }
        let name = needed(&self.name)?.0.clone();
        Some(Mark { name, flow, segments: rising(&self.segments) })
    }
}

impl Meaning for Mark {
    fn impairment(&self, run: &Surroundings) -> Impairment {
        let (flow, segments) = (run.flow_index(&self.flow), self.segments.clone());
        Impairment::MarkListed(Listed { flow, segments, acks: Vec::new() })
    }

    fn config(&self, run: &Surroundings) -> config::Element {
        config::Element::Mark(config::Mark {
            name: self.name.clone(),
            flow: run.flow_index(&self.flow),
            segments: self.segments.clone(),
        })
    }
}
