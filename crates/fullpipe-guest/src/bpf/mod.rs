//! Programs of eBPF: what they are written with, and those that are not lists of losses.

pub mod classify;
pub mod instruction;
pub mod kernel;
pub mod packet;
pub mod police;
