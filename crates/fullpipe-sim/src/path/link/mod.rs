//! Link elements, one file each. A new element is a new file, a configuration and one line here.

mod delay;
mod loss;
mod rate;

use super::Stage;
use crate::config::Element;
use crate::tally::Samples;
use alloc::boxed::Box;

/// Builds the element that `config` describes.
pub fn build(config: &Element, seed: u64, samples: Samples) -> Box<dyn Stage> {
    match config {
        Element::Link(c) => Box::new(rate::RateLink::new(c, samples)),
        Element::Delay(c) => Box::new(delay::DelayLine::new(c, samples)),
        Element::Loss(c) => Box::new(loss::RandomLoss::new(c, seed)),
    }
}
