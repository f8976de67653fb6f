//! Types that engines and readers of a trace share: units, words of a path and of TCP, limits, bounds, socket options,
//! random streams, and the records of a run.
//!
//! Without `std` the compiler proves that nothing here reads a clock, opens a file or starts a thread.
#![no_std]
extern crate alloc;

pub mod bounds;
pub mod ecn;
pub mod limits;
pub mod path;
pub mod received;
pub mod rng;
pub mod sockopt;
pub mod tcp;
pub mod trace;
pub mod units;
