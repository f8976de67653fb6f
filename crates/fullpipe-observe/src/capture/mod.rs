//! Captured packets: files, frames, TCP segments, and connections.
//!
//! | file | concern |
//! |---|---|
//! | `file.rs` | pcap and pcapng, plain or compressed, as frames |
//! | `frame.rs` | headers around IP, and IP itself |
//! | `segment.rs` | the header of TCP, and its options |
//! | `sequence.rs` | sequence numbers without wrap, and the parts of a stream that were seen |
//! | `connections.rs` | all connections of a capture, with counts |
//! | `place.rs` | the place of the capture on the path |
//! | `parts.rs` | parts of a stream, in their order and apart |
//! | `epochs.rs` | losses, and what is in flight before and behind each |
//! | `rounds.rs` | round trips of a connection |
//! | `trains.rs` | data between two pauses |
//! | `timeline.rs` | one connection over time, as its sender saw it: rows of a trace |
//! | `echo.rs` | the moments at which ACKs reached a sender that is far from the capture |
//!
//! A capture is read twice: once for a table of all connections in bounded memory, and once for each connection in
//! detail. The second reading knows the round trip and the place from the first one.

pub mod connections;
mod echo;
pub mod epochs;
pub mod file;
pub mod frame;
mod parts;
pub mod place;
pub mod rounds;
pub mod segment;
pub mod sequence;
pub mod timeline;
pub mod trains;
