//! State of a connection's sockets at a sample, as Linux shows it: `struct tcp_info`, `skmem` and the queues of `inet_diag`.
//!
//! Fields keep the names of Linux without `tcpi_`, with their units. Before the connection is there they are 0.
//! Source: Linux 6.12 `tcp_get_info`, `sk_get_meminfo`.
//!
//! Limits:
//! - A kernel that lacks a field shows 0 on engine `linux`. Engine `sim` shows the value of the next kernel that has
//!   it. 6.1 lacks `rcv_wnd`; it lacks `total_rto` too, which engine `linux` counts by `retransmits` there.
//! - Left out: `delivery_rate` and its bit `app_limited`. The simulator takes no rate samples.

/// Bits of [`SenderSocket::options`] (TCPI_OPT_ of include/uapi/linux/tcp.h).
pub mod option {
    /// Timestamps (RFC 7323).
    pub const TIMESTAMPS: u8 = 1;
    /// Selective acknowledgements (RFC 2018).
    pub const SACK: u8 = 2;
    /// Window scale (RFC 7323).
    pub const WSCALE: u8 = 4;
    /// Explicit congestion notification (RFC 3168).
    pub const ECN: u8 = 8;
    /// All options that the trace records.
    pub const ALL: u8 = TIMESTAMPS | SACK | WSCALE | ECN;
}

/// The socket that sends a flow's data. [`FlowSample`](super::FlowSample) has more of it: cwnd, ssthresh, srtt, RTO, the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderSocket {
    /// Least RTT of the last 300 s, microseconds; `u32::MAX` before the first sample.
    pub min_rtt_us: u32,
    /// Mean deviation of the RTT, microseconds (mdev).
    pub rttvar_us: u32,
    /// Packets sent and not acknowledged cumulatively (packets_out).
    pub unacked: u32,
    /// Packets of these that SACKs report; without SACK, duplicate ACKs (sacked_out).
    pub sacked: u32,
    /// Packets of these that are taken for lost (lost_out).
    pub lost: u32,
    /// Packets of these that were sent again and are taken to be in flight (retrans_out).
    pub retrans_out: u32,
    /// Packets by which another one may be overtaken before it counts as lost.
    pub reordering: u32,
    /// Times that reordering was seen.
    pub reord_seen: u64,
    /// Segments that D-SACKs have reported as received twice.
    pub dsack_dups: u64,
    /// Pacing rate, bytes per second; `u64::MAX` before the first one.
    pub pacing_rate: u64,
    /// Largest pacing rate that the application allows, bytes per second; `u64::MAX`: any.
    pub max_pacing_rate: u64,
    /// Time in which something was unsent or unacknowledged, microseconds in whole jiffies; includes the next two.
    pub busy_time_us: u64,
    /// Time in which the receiver's window stopped the sender, microseconds in whole jiffies.
    pub rwnd_limited_us: u64,
    /// Time in which the send buffer stopped the sender, microseconds in whole jiffies.
    pub sndbuf_limited_us: u64,
    /// Most bytes of data in one segment now (mss_cache).
    pub snd_mss: u32,
    /// MTU of the path, bytes.
    pub pmtu: u32,
    /// Packets that have arrived; a packet that arrives twice counts twice.
    pub delivered: u64,
    /// Packets of these with ACKs that reported a mark.
    pub delivered_ce: u64,
    /// Memory in the send buffer, bytes.
    pub wmem_queued: u64,
    /// Limit of that memory, bytes.
    pub sndbuf: u64,
    /// Memory of skbs in the host's queue and card, bytes.
    pub wmem_alloc: u64,
    /// Options that both ends agreed to, see [`option`].
    pub options: u8,
    /// Bits by which windows from the peer are shifted.
    pub snd_wscale: u8,
    /// Bits by which windows to the peer are shifted.
    pub rcv_wscale: u8,
    /// Times that the timeout was doubled, or a window probed, since the last RTT sample.
    pub backoff: u8,
    /// Timeouts in a row.
    pub retransmits: u8,
    /// Timeouts, including SYN timeouts.
    pub total_rto: u64,
}

/// The socket that receives a flow's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverSocket {
    /// RTT as the receiver estimates it, microseconds; 0 before the first estimate.
    pub rcv_rtt_us: u32,
    /// Bytes that the application has read in one RTT (autotuning).
    pub rcv_space: u64,
    /// Packets that arrived beyond a hole.
    pub rcv_ooopack: u64,
    /// Window last advertised, bytes.
    pub rcv_wnd: u64,
    /// Limit of the receive buffer's memory, bytes.
    pub rcvbuf: u64,
    /// Memory in the receive buffer, bytes.
    pub rmem_alloc: u64,
    /// Bytes in order that wait for the reader (Recv-Q).
    pub unread: u64,
    /// Bytes that a segment is taken to have.
    pub rcv_mss: u32,
    /// MSS announced to the peer, bytes without options.
    pub advmss: u32,
    /// Window that the socket means to offer at most now, bytes.
    pub rcv_ssthresh: u64,
    /// Bytes received in order.
    pub bytes_received: u64,
}
