//! Distances between simulator and Linux as text for a terminal.

mod judged;
mod messages;
mod spread;
mod twins;

pub use judged::{parity, parity_head, so_much, value};
pub use messages::{cells, messages, share, summed};
pub use spread::spreads;
pub use twins::twins;
