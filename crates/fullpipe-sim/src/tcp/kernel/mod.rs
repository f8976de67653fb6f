//! Kernel versions: how each behaves, row by row, and what a scenario may override.

pub mod behaviour;
mod choices;
pub mod profile;
mod profiles;
