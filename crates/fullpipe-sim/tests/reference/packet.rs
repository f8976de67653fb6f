//! A packet on its way.

use fullpipe_sim::tcp::Ack;

/// What a packet is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Bytes `[seq, seq + len)`; without bytes: the handshake's third packet, or a window probe.
    Data {
        /// First byte.
        seq: u64,
        /// Bytes.
        len: u32,
        /// Timestamp, and the one echoed.
        tsval: u32,
        tsecr: u32,
        /// Whether it ends an skb of several.
        push: bool,
        /// Whether it is an skb of its own.
        alone: bool,
    },
    /// A pure ACK.
    Ack(Ack),
    /// Connection request.
    Syn,
    /// Its answer.
    SynAck {
        /// Unscaled window, bytes.
        window: u64,
    },
}

/// A packet of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Index of the flow.
    pub flow: usize,
    /// Number of the skb that it was part of; the qdisc counts them.
    pub skb: u32,
    /// Size of the IP packet, bytes.
    pub ip_len: u32,
    /// What it is.
    pub body: Body,
}
