//! Programs of eBPF: their instructions, and programs other than lists of losses.

pub mod clamp;
pub mod classify;
pub mod instruction;
pub mod kernel;
pub mod packet;
pub mod police;
