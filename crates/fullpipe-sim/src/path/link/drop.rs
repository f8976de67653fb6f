//! A list of packets to lose, for experiments that must be equal wherever they run. Unit of decision:
//! the segment.

use super::{Configuration, info};
use crate::bounds::demand;
use crate::drops::Drops;
use crate::path::Stage;
use crate::tally::{Samples, Tally};
use crate::trace::{StageInfo, StageSample};
use crate::train::{Kind, Train, append};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::format;
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
        let rising = |list: &[u64]| list.windows(2).all(|pair| pair[0] < pair[1]);
        let rise = rising(&self.segments) && rising(&self.acks);
        demand(rise, format!("{}: numbers do not rise", self.name))
    }

    fn build(&self, _seed: u64, _samples: Samples) -> Box<dyn Stage> {
        Box::new(DropList {
            config: self.clone(),
            segments: Place::default(),
            acks: Place::default(),
            left: Tally::default(),
            dropped: Drops::default(),
        })
    }
}

/// How far a list has been gone through.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Packets that came.
    come: u64,
    /// Entries of the list that are over.
    over: usize,
}

/// See the module's description.
struct DropList {
    config: Drop,
    segments: Place,
    acks: Place,
    left: Tally,
    dropped: Drops,
}

impl DropList {
    /// The list that a train is looked up in.
    fn list(&mut self, train: &Train) -> Option<(&mut Place, &[u64])> {
        if train.flow != self.config.flow {
            return None;
        }
        match train.kind {
            Kind::Data if train.len > 0 => Some((&mut self.segments, &self.config.segments)),
            Kind::Ack => Some((&mut self.acks, &self.config.acks)),
            _ => None,
        }
    }

    /// How many of `train` pass before one is dropped; all if none is.
    fn passing(&mut self, train: &Train) -> u32 {
        let Some((place, list)) = self.list(train) else { return train.count };
        let next = list.get(place.over).map_or(u64::MAX, |number| number - place.come);
        let passing = next.min(u64::from(train.count)) as u32;
        place.come += u64::from(passing);
        if passing < train.count {
            place.come += 1;
            place.over += 1;
        }
        passing
    }
}

impl Stage for DropList {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        let mut rest = *train;
        loop {
            let passing = self.passing(&rest);
            if passing > 0 {
                let part = rest.part(0, passing);
                self.left.add(part.first, part.spacing, passing, part.ip_len);
                append(out, part);
            }
            if passing < rest.count {
                self.dropped.lose(&rest.part(passing, 1), rest.ip_len);
            }
            if passing + 1 >= rest.count {
                return;
            }
            rest = rest.part(passing + 1, rest.count - passing - 1);
        }
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.dropped
    }

    fn info(&self) -> StageInfo {
        info::<Drop>(&self.config.name, "segment", None)
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.left.advance(now);
        self.dropped.advance(now);
        StageSample {
            entered: self.left.count,
            left: self.left.count,
            dropped: self.dropped.count,
            ..StageSample::default()
        }
    }
}
