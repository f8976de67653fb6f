//! Random choices.

use fullpipe::sim::rng::Rng;

/// A stream of choices.
pub struct Draw(Rng);

impl Draw {
    /// The stream of this name in a set with `seed`.
    pub fn new(seed: u64, name: &str) -> Draw {
        Draw(Rng::new(seed, name))
    }

    /// A number between two bounds, each scale equally likely.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.0.unit() * (high.ln() - low.ln())).exp()
    }

    /// A number between two bounds, each equally likely.
    pub fn linear(&mut self, low: f64, high: f64) -> f64 {
        low + self.0.unit() * (high - low)
    }

    /// Picks a value.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// An index below `count`, which is at least 1.
    pub fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count as u64) as usize
    }

    /// True with this probability.
    pub fn often(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }
}
