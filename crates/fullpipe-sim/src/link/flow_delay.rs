//! A delay of one connection's packets; packets of other connections pass at once and overtake them. Unit of decision:
//! the segment. The element holds any number of packets.

use super::chain::Stage;
use super::holding::{Holding, Law};
use super::{Configuration, info};
use crate::bounds::{LONGEST, demand};
use crate::stage::Samples;
use crate::units::Time;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A delay of one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowDelay {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Indices of the connection's flows: two where data goes both ways.
    pub flows: Vec<u16>,
    /// The delay of each of its packets.
    pub delay: Time,
}

impl Configuration for FlowDelay {
    const KIND: &'static str = "flow-delay";

    fn check(&self) -> Result<(), String> {
        demand(self.delay <= LONGEST, format!("{}: delay of at most {LONGEST}", self.name))
    }

    fn in_order(&self) -> bool {
        self.delay == Time::ZERO
    }

    fn build(&self, _seed: u64, samples: Samples) -> Box<dyn Stage> {
        let info = info::<FlowDelay>(&self.name, "segment", None);
        Box::new(Holding::new(info, self.clone(), samples))
    }
}

impl Law for FlowDelay {
    fn leaving(&mut self, now: Time, flow: u16) -> Time {
        if self.flows.contains(&flow) { now + self.delay } else { now }
    }
}
