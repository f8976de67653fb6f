//! Random choices.

use fullpipe_sim::rng::Rng;

/// Probability of each uncommon option.
pub const RARELY: f64 = 0.09;

/// Between two values, each scale equally likely.
pub fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.unit() * (high.ln() - low.ln())).exp()
}

/// Picks a value.
pub fn pick<T: Clone>(rng: &mut Rng, of: &[T]) -> T {
    of[(rng.next_u64() % of.len() as u64) as usize].clone()
}

/// True so often.
pub fn often(rng: &mut Rng, probability: f64) -> bool {
    rng.unit() < probability
}

/// True as often as an uncommon option is drawn.
pub fn rarely(rng: &mut Rng) -> bool {
    often(rng, RARELY)
}
