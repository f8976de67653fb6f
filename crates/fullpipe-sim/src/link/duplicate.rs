//! Duplication, as netem's `duplicate`. Unit of decision: the segment.
//!
//! The copy leaves directly behind the packet, at the same time. So more leaves than enters: the
//! difference is the number of copies.

use super::chain::Stage;
use super::{Configuration, info};
use crate::bounds::probability;
use crate::packet::{Train, append};
use crate::rng::Correlated;
use crate::stage::{Drops, DueCounter, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Random duplication.
#[derive(Clone, Debug, PartialEq)]
pub struct Duplicate {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Probability that a packet is duplicated (0 to 1), where there is no correlation.
    pub probability: f64,
    /// Correlation with the packet before, see [`Correlated`] (0 to 1).
    pub correlation: f64,
}

impl Configuration for Duplicate {
    const KIND: &'static str = "duplicate";

    fn check(&self) -> Result<(), String> {
        probability(self.probability, &self.name, "probability")?;
        probability(self.correlation, &self.name, "correlation")
    }

    fn in_order(&self) -> bool {
        false
    }

    fn build(&self, seed: u64, _samples: Samples) -> Box<dyn Stage> {
        Box::new(Duplicator {
            config: self.clone(),
            random: Correlated::new(seed, &self.name, self.correlation),
            entered: DueCounter::default(),
            left: DueCounter::default(),
            none: Drops::default(),
        })
    }
}

/// State of a duplicating element.
struct Duplicator {
    config: Duplicate,
    random: Correlated,
    entered: DueCounter,
    left: DueCounter,
    /// Drops, which stay empty.
    none: Drops,
}

impl Duplicator {
    fn send(&mut self, part: Train, out: &mut Vec<Train>) {
        if part.count > 0 {
            self.left.add(part.first, part.spacing, part.count, part.ip_len);
            append(out, part);
        }
    }
}

impl Stage for Duplicator {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        self.entered.add(train.first, train.spacing, train.count, train.ip_len);
        // The train is cut behind each packet that gets a copy.
        let mut sent = 0;
        for i in 0..train.count {
            if self.random.next() <= self.config.probability {
                self.send(train.part(sent, i + 1 - sent), out);
                self.send(train.part(i, 1), out);
                sent = i + 1;
            }
        }
        self.send(train.part(sent, train.count - sent), out);
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.none
    }

    fn info(&self) -> StageInfo {
        info::<Duplicate>(&self.config.name, "segment", None)
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.entered.advance(now);
        self.left.advance(now);
        StageSample {
            entered: self.entered.count,
            left: self.left.count,
            ..StageSample::without_room(now)
        }
    }
}
