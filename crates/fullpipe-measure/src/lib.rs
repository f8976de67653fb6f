//! Measured transfers between two hosts, by the protocol of iperf3 at both ends.
//!
//! | file | concern |
//! |---|---|
//! | `state.rs`, `inbox.rs` | bytes of the control connection: states, and JSON with a length before it |
//! | `parameters.rs`, `results.rs` | the two JSON messages: what the client asks for, what each end has counted |
//! | `account.rs` | intervals and totals from counts of bytes |
//! | `arrivals.rs` | headers of datagrams, and what their arrival says |
//! | `control.rs`, `data.rs`, `datagrams.rs`, `socket.rs` | sockets: the control connection, streams of TCP and of UDP, options and states |
//! | `running.rs` | the time between start and end of a test, which is alike at both ends |
//! | `client.rs`, `server.rs` | the order of messages at each end |
//!
//! The first four rows read no clock and open no socket. Sources: the protocol as esnet/iperf 3.7 to 3.21 speaks it
//! (src/iperf_api.h, iperf_client_api.c, iperf_server_api.c, iperf_tcp.c).
//!
//! Limits:
//! - No authentication, no SCTP, no MPTCP, no zero copy.

pub mod account;
mod arrivals;
pub mod client;
mod control;
mod data;
mod datagrams;
pub mod inbox;
pub mod outcome;
pub mod parameters;
pub mod results;
mod running;
pub mod server;
mod socket;
pub mod state;
mod wrong;

pub use wrong::Wrong;
