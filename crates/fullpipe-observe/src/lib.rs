//! TCP connections as a kernel shows them, and live ones as a trace.
//!
//! | file | concern |
//! |---|---|
//! | `message.rs`, `diag.rs` | messages of netlink, and those of `sock_diag` about connections |
//! | `tcp_info.rs`, `qdisc.rs` | `struct tcp_info`, and the counters of qdiscs |
//! | `flow.rs` | the rows of a trace that these states make |
//! | `netlink.rs`, `sockets.rs`, `device.rs` | questions to this kernel |
//! | `namespace.rs`, `process.rs`, `counters.rs`, `sysctls.rs` | what `/proc` shows |
//! | `ss.rs` | the text of `ss -tinm` |
//! | `text/` | texts that people paste, `ss.rs` among them |
//! | `capture/` | files of captured packets, and their TCP connections |
//! | `live/` | live connections, and looks of others, as a trace |
//!
//! The guest of the engine `linux` sends the same messages, and that engine reads the same states. Nothing here knows
//! scenarios or verdicts.

#[cfg(feature = "capture")]
pub mod capture;
pub mod counters;
pub mod device;
pub mod diag;
pub mod flow;
pub mod live;
pub mod message;
pub mod namespace;
pub mod netlink;
pub mod process;
pub mod qdisc;
pub mod sockets;
pub mod ss;
pub mod sysctls;
pub mod tcp_info;
pub mod text;
mod unable;

pub use unable::Unable;
