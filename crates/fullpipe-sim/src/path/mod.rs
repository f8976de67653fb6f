//! The stages of a host on the way of its packets.

pub mod host;
