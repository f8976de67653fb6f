//! The TCP endpoint, split by concern. Pure: time is an argument, and packets leave through [`Output`].
//!
//! Limits:
//! - No profile has thin streams or TCP Fast Open.
//! - No connection is aborted. A SYN is repeated for ever, in the end every two minutes (`tcp_syn_retries`).

mod ack;
pub mod counters;
pub mod ecn;
mod kernel;
pub(crate) mod memory;
mod min_rtt;
mod oow_ratelimit;
pub mod page_frag;
mod paws;
pub mod rack;
pub mod rate;
pub mod receiver;
mod recovery;
pub mod rtt;
pub mod scoreboard;
pub mod sender;
pub mod skb;
mod truesize;

use crate::config::{Config, Host};
use crate::packet::Ecn;
use crate::ranges::SeqRange;
use crate::units::Time;
pub use fullpipe_base::tcp::CaState;
pub use kernel::{behaviour, modelled, profile};
use page_frag::PageFrag;

/// Bytes of IP and TCP headers without options.
pub const HEADERS: u32 = 40;
/// Bytes of an IP header without options.
pub const IP_HEADER: u32 = 20;
/// Bytes that timestamps add to every segment (RFC 7323, padded).
pub const TIMESTAMP_OPTION: u32 = 12;

/// MSS that a host announces on a path of `mtu` bytes, without options: that of its NIC (`tcp_advertise_mss`).
pub(crate) fn announced_mss(host: &Host, mtu: u32) -> u32 {
    host.mtu.unwrap_or(mtu).saturating_sub(HEADERS)
}

/// MSS that a SYN or SYN-ACK of `host` announces as it arrives, bytes without options: routers may have lowered it, which never
/// raise it (iptables `TCPMSS`, nft `tcp option maxseg size set`; 6.12 `tcpmss_mangle_packet`).
pub(crate) fn received_mss(config: &Config, host: &Host) -> u32 {
    let announced = announced_mss(host, config.mtu);
    config.mss_clamp().map_or(announced, |most| announced.min(most))
}

/// Bytes of IP and TCP headers of a data segment.
pub fn headers(timestamps: bool) -> u32 {
    HEADERS + if timestamps { TIMESTAMP_OPTION } else { 0 }
}

/// Bytes of a SYN or SYN-ACK with IP and TCP headers, and padded options (6.12 `tcp_syn_options`). Options are the MSS,
/// timestamps, SACK, and the window scale. SACK takes the padding of timestamps where there are any.
pub fn opening_len(host: &Host) -> u32 {
    let sack_alone = host.sysctl.tcp_sack && !host.timestamps;
    let options = [host.timestamps.then_some(TIMESTAMP_OPTION), sack_alone.then_some(4)];
    let scale = host.sysctl.tcp_window_scaling.then_some(4);
    HEADERS + 4 + options.into_iter().chain([scale]).flatten().sum::<u32>()
}

/// Bytes of the longest option with SACK blocks: four, aligned (6.12 `tcp_established_options`).
pub const LONGEST_SACK_OPTION: u32 = 4 + 8 * 4;

/// SACK blocks, most recent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sacks {
    /// Start and end of each block.
    pub blocks: [SeqRange; 4],
    /// Blocks in use.
    pub count: usize,
}

/// Content of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Sequence number: next byte that this end sends, where data goes both ways (tcp_acceptable_seq); else 0.
    pub seq: u64,
    /// Next byte expected.
    pub ack: u64,
    /// Advertised window in bytes, after scaling.
    pub window: u64,
    /// SACK blocks, where something arrived out of order or twice (a D-SACK block comes first).
    pub sacks: Option<Sacks>,
    /// Timestamp echoed, jiffies of the sender; 0 without timestamps.
    pub tsecr: u32,
    /// Timestamp, jiffies of the receiver; 0 without timestamps.
    pub tsval: u32,
    /// Whether a marked segment has arrived, and no CWR since (ECE).
    pub ece: bool,
    /// Whether the packet is the FIN of a reader that sends no data.
    pub fin: bool,
}

impl Ack {
    /// Bytes of the option with SACK blocks.
    pub fn option_bytes(&self) -> u32 {
        sack_option(self.sacks.map_or(0, |sacks| sacks.count))
    }
}

/// Bytes of the option with that number of SACK blocks (TCPOLEN_SACK_BASE_ALIGNED, TCPOLEN_SACK_PERBLOCK).
fn sack_option(blocks: usize) -> u32 {
    if blocks > 0 { 4 + 8 * blocks as u32 } else { 0 }
}

/// A data segment as it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First byte.
    pub seq: u64,
    /// Bytes; 0 without FIN is a window probe.
    pub len: u32,
    /// Bytes of each packet that GRO has joined, except the last one; 0: one packet.
    pub gso_size: u32,
    /// Bytes that SACK blocks take in the header of each packet.
    pub options: u32,
    /// Timestamp, jiffies of the sender; 0 without timestamps.
    pub tsval: u32,
    /// Timestamp echoed, jiffies of the receiver; 0 without timestamps.
    pub tsecr: u32,
    /// Whether it carries PSH.
    pub push: bool,
    /// Whether the segment ends the stream (FIN), which takes a number behind its data.
    pub fin: bool,
    /// Codepoint on arrival.
    pub ecn: Ecn,
    /// Whether the segment announces a reduction of cwnd (CWR).
    pub cwr: bool,
}

impl Segment {
    /// First number behind the segment.
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len) + u64::from(self.fin)
    }

    /// Bytes of the first packet.
    pub fn packet_len(&self) -> u32 {
        if self.gso_size == 0 { self.len } else { self.gso_size }
    }

    /// Number of packets that GRO has joined.
    pub fn packets(&self) -> u32 {
        if self.gso_size == 0 { 1 } else { self.len.div_ceil(self.gso_size) }
    }

    /// The packets that GRO has joined.
    pub fn split(&self) -> impl Iterator<Item = Segment> {
        let (whole, packets) = (*self, self.packets());
        (0..packets).map(move |i| {
            let (at, last) = (i * whole.gso_size, i + 1 == packets);
            let len = if last { whole.len - at } else { whole.gso_size };
            let (push, fin) = (whole.push && last, whole.fin && last);
            Segment { seq: whole.seq + u64::from(at), len, gso_size: 0, push, fin, ..whole }
        })
    }
}

/// Numbers of a packet without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptySegment {
    /// Number of the next new byte.
    pub seq: u64,
    /// Timestamp echoed, jiffies of the peer; 0 without timestamps.
    pub tsecr: u32,
}

/// A part of the stream for transmission as one skb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// First byte.
    pub seq: u64,
    /// Bytes; 0 without FIN is a window probe.
    pub len: u32,
    /// Bytes of each segment except the last one (gso_size).
    pub segment: u32,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// Departure time, where the host's queue can keep it (skb->tstamp).
    pub departs: Time,
    /// Whether the last segment carries PSH.
    pub push: bool,
    /// Whether the skb ends the stream (FIN), which takes a number behind its data.
    pub fin: bool,
    /// Timestamp, jiffies; 0 without timestamps.
    pub tsval: u32,
    /// Timestamp echoed, jiffies of the receiver; 0 without timestamps.
    pub tsecr: u32,
    /// Codepoint of all segments.
    pub ecn: Ecn,
    /// Whether the first segment announces a reduction of cwnd (CWR; `tcp_gso_segment` of Linux 6.12).
    pub cwr: bool,
}

/// Destination of the sender's packets.
pub trait Output {
    /// Sends one skb; false when the host's queue refused it (NET_XMIT_DROP).
    fn transmit(&mut self, skb: Transmission) -> bool;
    /// Whether the host's queue reported congestion for the last skb (NET_XMIT_CN): it, or one of its flow, was
    /// dropped. The skb counts as sent.
    fn congested(&self) -> bool {
        false
    }
    /// Present time of the CPU.
    fn now(&self) -> Time;
    /// Memory of the flow's skbs that have not left the host yet, bytes (sk_wmem_alloc).
    fn in_host(&mut self) -> u64 {
        0
    }
    /// Reports a change of the memory layout: from `page_frag` on data lies in pieces that are counted anew. The receiver
    /// needs this.
    fn begin_page_frag(&mut self, page_frag: PageFrag) {
        let _ = page_frag;
    }
    /// Bytes that SACK blocks of the same socket take in each segment that is sent now.
    fn option_bytes(&self) -> u32 {
        0
    }
    /// Reports that the CPU has visited `skbs` skbs of the queue to process an ACK.
    fn walked(&mut self, skbs: u32) {
        let _ = skbs;
    }
}
