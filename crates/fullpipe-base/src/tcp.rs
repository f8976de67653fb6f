//! Words and sizes of TCP that engines, traces and their readers share.

use crate::units::Framing;

/// Slow start threshold that is not set, packets (Linux `TCP_INFINITE_SSTHRESH`).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Congestion state, Linux's `enum tcp_ca_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing unusual.
    Open = 0,
    /// SACKs or duplicate ACKs were seen.
    Disorder = 1,
    /// cwnd is being reduced without a loss (local congestion).
    Cwr = 2,
    /// Fast retransmit and recovery.
    Recovery = 3,
    /// After a retransmission timeout.
    Loss = 4,
}

/// Largest skb of a card with TSO, bytes (Linux `GSO_MAX_SIZE`, `GSO_LEGACY_MAX_SIZE`).
pub const GSO_MAX_SIZE: u32 = 65_536;

/// Bytes on a wire of the largest skb of packets of at most `mtu` bytes: `many` segments, or one.
pub fn largest_skb(mtu: u32, many: bool, framing: Framing) -> u32 {
    let segments = if many { GSO_MAX_SIZE.div_ceil(mtu.max(1)) + 1 } else { 1 };
    segments * (mtu + framing.overhead())
}
