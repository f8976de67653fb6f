//! A packet on its way.

use fullpipe_sim::tcp::{Ack, Segment};
use fullpipe_sim::units::Time;

/// Content of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A segment; without bytes: the handshake's third packet, or a window probe.
    Data(Segment),
    /// A pure ACK.
    Ack(Ack),
    /// Connection request.
    Syn {
        /// Whether it asks for ECN.
        asks: bool,
        /// Timestamp of the SYN.
        tsval: u32,
    },
    /// Answer to a SYN.
    SynAck {
        /// Unscaled window, bytes.
        window: u64,
        /// Timestamp of the SYN-ACK.
        tsval: u32,
        /// The one it echoes.
        tsecr: u32,
        /// Whether it agrees to ECN.
        agrees: bool,
    },
    /// No segment of TCP.
    Datagram(Datagram),
}

/// A datagram, an echo request or the answer to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Number of the datagram.
    pub number: u64,
    /// Time at which the data, or the data that it answers, was written.
    pub written: Time,
    /// Payload, bytes.
    pub size: u32,
    /// Whether it asks for an answer, or is one.
    pub asks: bool,
    pub answers: bool,
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
    /// Content of the packet.
    pub body: Body,
}

impl Packet {
    /// Bytes of data.
    pub fn data_len(&self) -> u32 {
        match &self.body {
            Body::Data(segment) => segment.len,
            _ => 0,
        }
    }
}
