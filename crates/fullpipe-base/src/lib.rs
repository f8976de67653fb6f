//! What engines and readers of a trace share: units, ECN codepoints, socket options, and what an engine tells.
//!
//! Without `std` the compiler proves that nothing here reads a clock, opens a file or starts a thread.
#![no_std]
extern crate alloc;

pub mod ecn;
pub mod limits;
pub mod sockopt;
pub mod trace;
pub mod units;
