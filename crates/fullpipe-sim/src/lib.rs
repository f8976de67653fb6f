//! The simulator: hosts, links and TCP packet by packet, as Linux behaves.
//!
//! Without `std` the compiler proves that nothing here reads a clock, opens a file or starts a thread. Time and
//! randomness are arguments.
#![no_std]
extern crate alloc;

mod bounds;
pub mod cc;
pub mod config;
pub mod gap_buffer;
pub mod host;
pub mod jiffy_clock;
pub mod link;
pub mod packet;
pub mod qdisc;
pub mod ranges;
pub mod rpc;
mod search_hint;
pub mod sim;
pub mod stage;
pub mod tcp;
pub use fullpipe_base::{rng, trace, units};
