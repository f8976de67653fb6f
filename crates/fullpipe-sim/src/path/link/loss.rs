//! Independent random loss (Bernoulli). Unit of decision: the segment.
//!
//! The number of packets up to the next loss is drawn, not a number per packet: the same law, and
//! a train without loss costs one comparison.

use super::{Configuration, info};
use crate::bounds::demand;
use crate::drops::Drops;
use crate::path::Stage;
use crate::rng::Rng;
use crate::tally::{Samples, Tally};
use crate::trace::{StageInfo, StageSample};
use crate::train::{Train, append};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Independent loss per segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Probability that a segment is lost (0 to 1).
    pub probability: f64,
}

impl Configuration for Loss {
    const KIND: &'static str = "loss";

    fn check(&self) -> Result<(), String> {
        let bounded = (0.0..=1.0).contains(&self.probability);
        demand(bounded, format!("{}: probability beyond 0 to 1", self.name))
    }

    fn build(&self, seed: u64, _samples: Samples) -> Box<dyn Stage> {
        Box::new(RandomLoss::new(self, seed))
    }
}

/// See the module's description.
struct RandomLoss {
    config: Loss,
    rng: Rng,
    /// Packets that pass before the next one is lost.
    passing: u64,
    left: Tally,
    dropped: Drops,
}

impl RandomLoss {
    /// Draws from the stream of (`seed`, the element's name).
    fn new(config: &Loss, seed: u64) -> RandomLoss {
        let mut rng = Rng::new(seed, &config.name);
        let passing = rng.geometric(config.probability);
        RandomLoss {
            config: config.clone(),
            rng,
            passing,
            left: Tally::default(),
            dropped: Drops::default(),
        }
    }
}

impl Stage for RandomLoss {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        let mut at = 0;
        while at < train.count {
            let run = u64::from(train.count - at).min(self.passing) as u32;
            if run > 0 {
                let part = train.part(at, run);
                self.left.add(part.first, part.spacing, run, train.ip_len);
                append(out, part);
                at += run;
                if self.passing != u64::MAX {
                    self.passing -= u64::from(run);
                }
            }
            if at < train.count {
                self.dropped.lose(&train.part(at, 1), train.ip_len);
                self.passing = self.rng.geometric(self.config.probability);
                at += 1;
            }
        }
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.dropped
    }

    fn info(&self) -> StageInfo {
        info::<Loss>(&self.config.name, "segment", None)
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
