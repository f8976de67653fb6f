//! A packet on its way.

use fullpipe_sim::tcp::{Ack, Segment};
use fullpipe_sim::units::Time;

/// What a packet is.
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
        /// Its timestamp.
        tsval: u32,
    },
    /// Its answer.
    SynAck {
        /// Unscaled window, bytes.
        window: u64,
        /// Its timestamp.
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
    /// Its number.
    pub number: u64,
    /// When it, or what it answers, was written.
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
    /// What it is.
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
