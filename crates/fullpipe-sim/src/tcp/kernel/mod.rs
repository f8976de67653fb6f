//! Kernel versions: their behaviour, row by row, and the rows that a scenario may override.

#[macro_use]
mod choice;
#[macro_use]
mod rows;

pub mod behaviour;
pub mod modelled;
pub mod profile;
mod versions;
