//! TCP connections as a kernel shows them.
//!
//! | file | concern |
//! |---|---|
//! | `message.rs`, `diag.rs` | messages of netlink, and those of `sock_diag` about connections |
//! | `tcp_info.rs`, `qdisc.rs` | `struct tcp_info`, and the counters of qdiscs |
//! | `flow.rs` | the rows of a trace that these states make |
//!
//! The guest of the engine `linux` sends the same messages, and that engine reads the same states. Nothing here knows
//! scenarios or verdicts.

pub mod diag;
pub mod flow;
pub mod message;
pub mod qdisc;
pub mod tcp_info;
