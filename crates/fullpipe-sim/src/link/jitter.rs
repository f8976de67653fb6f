//! A delay that varies. Unit of decision: the segment.
//!
//! Deviations from the mean follow a first-order autoregression of normal numbers. A correlation does not change their
//! width. `uniform` takes the rank of each number. netem means the same, but takes the remainder of a correlated
//! number, which destroys nearly all of the correlation (Linux 6.1 `tabledist`).
//!
//! A negative delay counts as 0. As in netem packets overtake each other, unless the element keeps their order: then a
//! packet leaves no earlier than the packet before it. The element holds any number of packets.

use super::chain::Stage;
use super::holding::{Holding, Law};
use super::{Configuration, info};
use crate::bounds::{LONGEST, demand, probability};
use crate::rng::Rng;
use crate::stage::Samples;
use crate::units::Time;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

/// A varying delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Jitter {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Mean delay, before negative delays become 0.
    pub delay: Time,
    /// Half the width of the uniform distribution, or the standard deviation of the normal one.
    pub jitter: Time,
    /// Correlation of the normal numbers with the packet before (0 to 1).
    pub correlation: f64,
    /// Distribution of the delays.
    pub distribution: Distribution,
    /// Whether packets leave in the order in which they come.
    pub keep_order: bool,
}

/// A distribution of delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Evenly between two bounds.
    Uniform,
    /// Gaussian.
    Normal,
}

impl Configuration for Jitter {
    const KIND: &'static str = "jitter";

    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        probability(self.correlation, name, "correlation")?;
        let longest = self.delay.max(self.jitter);
        demand(longest <= LONGEST, format!("{name}: delay and jitter of at most {LONGEST}"))
    }

    fn in_order(&self) -> bool {
        self.keep_order || self.jitter == Time::ZERO
    }

    fn build(&self, seed: u64, samples: Samples) -> Box<dyn Stage> {
        let mut rng = Rng::new(seed, &self.name);
        let normal = rng.normal();
        let law = Jitterer { config: self.clone(), rng, normal, last: Time::ZERO };
        let info = info::<Jitter>(&self.name, "segment", None);
        Box::new(Holding::new(info, law, samples))
    }
}

/// State of a varying delay.
struct Jitterer {
    config: Jitter,
    rng: Rng,
    /// The normal number of the last packet.
    normal: f64,
    /// Time at which the last packet leaves, where order is kept.
    last: Time,
}

impl Jitterer {
    /// The next deviation from the mean, in units of the jitter.
    fn deviation(&mut self) -> f64 {
        let rho = self.config.correlation;
        self.normal = rho * self.normal + libm::sqrt(1.0 - rho * rho) * self.rng.normal();
        match self.config.distribution {
            Distribution::Normal => self.normal,
            // Twice the distribution function, less one: even from -1 to 1.
            Distribution::Uniform => libm::erf(self.normal / core::f64::consts::SQRT_2),
        }
    }
}

impl Law for Jitterer {
    fn leaving(&mut self, now: Time, _flow: u16) -> Time {
        let (mean, jitter) = (self.config.delay.0 as f64, self.config.jitter.0 as f64);
        // A float becomes an integer by truncation; negative values become 0.
        let leaving = now + Time((mean + jitter * self.deviation()) as u64);
        if self.config.keep_order {
            self.last = self.last.max(leaving);
            return self.last;
        }
        leaving
    }
}
