//! A list of packets to mark (CE), for experiments that must be equal wherever they run. Unit of decision: the segment.
//! A packet of a flow without ECN passes unmarked.

use super::chain::Stage;
use super::listed::{self, Listed};
use super::{Configuration, info};
use crate::packet::{Train, append};
use crate::stage::{Drops, DueCounter, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Data segments of a flow to mark, by their number among those that come here, counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Index of the flow.
    pub flow: u16,
    /// Data segments, rising; retransmissions count, the packets of the handshake and window probes do not.
    pub segments: Vec<u64>,
}

impl Configuration for Mark {
    const KIND: &'static str = "mark";

    fn check(&self) -> Result<(), String> {
        listed::check(&self.name, &self.segments)
    }

    fn build(&self, _seed: u64, _samples: Samples) -> Box<dyn Stage> {
        Box::new(MarkList {
            name: self.name.clone(),
            listed: Listed::new(self.flow, &self.segments, &[]),
            left: DueCounter::default(),
            marked: DueCounter::default(),
            none: Drops::default(),
        })
    }
}

/// State of a list of packets to mark.
struct MarkList {
    name: String,
    listed: Listed,
    left: DueCounter,
    marked: DueCounter,
    /// Drops, which stay empty.
    none: Drops,
}

impl Stage for MarkList {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        let (left, marked) = (&mut self.left, &mut self.marked);
        self.listed.part(train, |mut part, listed| {
            if listed && part.mark_ce() {
                marked.add(part.first, part.spacing, part.count, part.ip_len);
            }
            left.add(part.first, part.spacing, part.count, part.ip_len);
            append(out, part);
        });
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.none
    }

    fn info(&self) -> StageInfo {
        info::<Mark>(&self.name, "segment", None)
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.left.advance(now);
        self.marked.advance(now);
        StageSample {
            entered: self.left.count,
            left: self.left.count,
            marked: self.marked.count,
            ..StageSample::without_room(now)
        }
    }
}
