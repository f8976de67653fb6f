//! A delay of one flow; others pass at once. Flows with round trips of their own have one each.

use super::{Impairment, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::Required;
use crate::format::keys::{At, group};
use crate::format::values::{AnyTime, Name};
use crate::show;
use fullpipe_base::units::Time;
use fullpipe_sim::config;
use serde::Serialize;

group! {
    /// A delay of one flow, with that which answers it; others pass at once. Flows with round trips of their own have one each.
    FlowDelayElement "a flow's delay" {
        /// "flow-delay".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// The flow; of several copies, and of several connections of a mount, each has a delay of its own (NAME-1, NAME-2).
        flow: String, Required;
        /// Delay of each of its packets, those of the handshake included. What the path's delay is by default (for queues without a limit) does not count it.
        delay: AnyTime, Required;
    }
}

/// A delay of one flow; others pass at once. Flows with round trips of their own have one each. Of a connection with data both ways all packets are delayed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowDelay {
    /// Stage name.
    pub name: String,
    /// Name of the flow.
    pub flow: String,
    /// Delay of each of its packets.
    #[serde(serialize_with = "show::shown")]
    pub delay: Time,
}

impl Written for FlowDelayElement {
    type Meaning = FlowDelay;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<FlowDelay> {
        let flow = whole.flow(self.flow.as_ref()?, cx);
        let (name, delay) = (needed(&self.name)?.0.clone(), Time::ns(needed(&self.delay)?.0));
        Some(FlowDelay { name, flow, delay })
    }
}

impl Meaning for FlowDelay {
    fn impairment(&self, run: &Surroundings) -> Impairment {
        Impairment::DelayFlow { flow: run.flow_index(&self.flow), delay: self.delay }
    }

    fn config(&self, run: &Surroundings) -> config::Element {
        config::Element::FlowDelay(config::FlowDelay {
            name: self.name.clone(),
            flows: run.connection_of(&self.flow),
            delay: self.delay,
        })
    }
}
