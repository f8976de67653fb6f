//! Packets as they are seen at one point between the hosts.

use crate::ecn::Ecn;
use crate::units::Time;
use alloc::vec::Vec;

/// Where packets are seen, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// In the host at this index of [`Config::hosts`](crate::config::Config::hosts), where Linux lets a capture program
    /// listen.
    ///
    /// Outgoing packets are skbs as they pass from the qdisc to the driver (`dev_queue_xmit_nit`, called by
    /// `dev_hard_start_xmit`, Linux 2.6.20). So a TSO skb is one packet, and packets that the qdisc refused are not
    /// seen. Incoming packets are seen as the softirq hands them to IP (`netif_receive_skb`).
    Qdisc(usize),
    /// On the cable of the host at this place, each packet when its last bit has passed. Arriving packets are seen
    /// before the receive ring decides about them.
    Wire(usize),
    /// Forward packets at the input of the element with this index, before it decides. Packets of the way back as they
    /// leave it, at a host's cable: the way back has no element that belongs to this one.
    Element(usize),
}

/// A packet of TCP over IPv4, seen at a [`Point`]. Sequence numbers count from the connection's
/// start, without wrapping: the SYN is 0, the first data byte 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// When.
    pub time: Time,
    /// Index of the flow.
    pub flow: u16,
    /// From a host at the sender's end of the path to one at the other, whichever end of the flow is where, or back.
    pub forward: bool,
    /// Identification of the IP packet; for an skb of several segments, of the first one.
    pub ip_id: u16,
    /// Segments in it: 1 except for a TSO skb that is not cut yet, and for an skb that GRO has joined.
    pub segments: u32,
    /// Its first sequence number.
    pub seq: u64,
    /// Acknowledgment number; none in a SYN.
    pub ack: Option<u64>,
    /// Bytes of data, all of them 0.
    pub len: u32,
    /// Codepoint of the IP header, as the packet bears it here.
    pub ecn: Ecn,
    /// ECE flag: the receiver reports a mark; in a SYN, whether ECN is asked for or agreed to.
    pub ece: bool,
    /// CWR flag: the sender has reduced cwnd; in a SYN with ECE, whether ECN is asked for.
    pub cwr: bool,
    /// Whether it opens the connection.
    pub syn: bool,
    /// Whether it ends the sender's stream.
    pub fin: bool,
    /// The window field on the wire: scaled, except in a SYN.
    pub window: u16,
    /// Options of a SYN.
    pub offers: Option<Offers>,
    /// The timestamps option.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks, as the receiver reported them.
    pub sacks: Vec<(u64, u64)>,
    /// Which of its segments were dropped later on.
    pub dropped: Vec<Dropped>,
    /// Whether it has data that TCP had sent before, in a packet that its host's qdisc took.
    pub resent: bool,
    /// Whether the same packet was seen at this point before: the driver refused it and got it again (a "hardware
    /// duplicate"), or the path made a copy.
    pub again: bool,
}

/// The timestamps option (RFC 7323).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// Clock of the host that sends the packet.
    pub value: u32,
    /// Latest clock of the other host that it has received.
    pub echo: u32,
}

/// Options that a SYN offers, except timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Maximum segment size, bytes.
    pub mss: u16,
    /// Window scale, bits; none: no scaling.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack: bool,
}

/// Segments of a packet that one stage dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// [`super::StageInfo::index`].
    pub stage: u16,
    /// Number of segments.
    pub segments: u32,
}
