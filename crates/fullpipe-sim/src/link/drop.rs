//! A list of packets to lose, for experiments that must be equal wherever they run. Unit of decision:
//! the segment.

use super::chain::Stage;
use super::listed::{self, Listed};
use super::passing::Passing;
use super::{Configuration, info};
use crate::packet::Train;
use crate::stage::{Drops, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Packets of a flow to lose, by their number among those that come here, counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Drop {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Index of the flow.
    pub flow: u16,
    /// Data segments, rising; retransmissions count, the packets of the handshake and window probes do not.
    pub segments: Vec<u64>,
    /// Pure ACKs, rising.
    pub acks: Vec<u64>,
}

impl Configuration for Drop {
    const KIND: &'static str = "drop";

    fn check(&self) -> Result<(), String> {
        listed::check(&self.name, &self.segments)?;
        listed::check(&self.name, &self.acks)
    }

    fn build(&self, _seed: u64, _samples: Samples) -> Box<dyn Stage> {
        Box::new(DropList {
            name: self.name.clone(),
            listed: Listed::new(self.flow, &self.segments, &self.acks),
            passing: Passing::default(),
        })
    }
}

/// State of a list of packets to lose.
struct DropList {
    name: String,
    listed: Listed,
    passing: Passing,
}

impl Stage for DropList {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        let passing = &mut self.passing;
        self.listed.part(train, |part, lost| match lost {
            true => passing.lose(&part),
            false => passing.pass(part, out),
        });
    }

    fn drops(&mut self) -> &mut Drops {
        self.passing.drops()
    }

    fn info(&self) -> StageInfo {
        info::<Drop>(&self.name, "segment", None)
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.passing.sample(now)
    }
}
