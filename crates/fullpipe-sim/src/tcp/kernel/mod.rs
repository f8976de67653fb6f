//! Kernel versions: how each behaves, row by row, and what a scenario may override.

#[macro_use]
mod choice;
#[macro_use]
mod rows;

pub mod behaviour;
pub mod profile;
mod versions;
