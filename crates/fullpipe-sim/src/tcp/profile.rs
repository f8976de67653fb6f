//! How a kernel version behaves: per concern a choice among strategies, and constants.
//!
//! Versions differ in this table, not in code.

/// Initial congestion window in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialCwnd {
    /// 2 above an MSS of 1460, 3 above 1095, else 4 (Linux 2.6.20 `tcp_init_cwnd`, RFC 2414).
    ByMss,
    /// 10 (Linux 2.6.39, RFC 6928).
    Ten,
}

impl InitialCwnd {
    /// Packets for `mss` bytes.
    pub fn packets(self, mss: u32) -> u32 {
        match self {
            InitialCwnd::ByMss if mss > 1460 => 2,
            InitialCwnd::ByMss if mss > 1095 => 3,
            InitialCwnd::ByMss => 4,
            InitialCwnd::Ten => 10,
        }
    }
}

/// What the congestion control's `pkts_acked` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PktsAcked {
    /// Fully acknowledged skbs (Linux 2.6.20 `tcp_clean_rtx_queue`).
    Skbs,
    /// Segments (Linux 2.6.24).
    Segments,
}

/// The behaviour of one kernel version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name in scenarios.
    pub name: &'static str,
    /// Initial congestion window.
    pub initial_cwnd: InitialCwnd,
    /// Unit of `pkts_acked`.
    pub pkts_acked: PktsAcked,
    /// Whether a data segment that raises `rcv_ssthresh` is acknowledged at once
    /// (Linux 2.6.20 `tcp_grow_window`).
    pub quick_ack_on_growth: bool,
    /// Whether an skb is at most half the largest window seen from the peer
    /// (Linux 2.6.20 `tcp_current_mss`).
    pub size_goal_half_window: bool,
    /// Whether a dubious ACK limits cwnd to the packets in flight plus a small burst
    /// (Linux 2.6.20 `tcp_moderate_cwnd`).
    pub moderate_cwnd: bool,
    /// Duplicate ACKs, or packets below the highest SACKed one, that count as loss.
    pub reordering: u32,
    /// Least retransmission timeout, ms (Linux 2.6.20 `TCP_RTO_MIN`).
    pub rto_min_ms: u64,
    /// `tcp_tso_win_divisor`: share of cwnd below which a sender with TSO still counts as limited.
    pub tso_win_divisor: u32,
}

/// All known profiles, oldest first.
pub const PROFILES: &[Profile] = &[Profile {
    name: "2.6.20",
    initial_cwnd: InitialCwnd::ByMss,
    pkts_acked: PktsAcked::Skbs,
    quick_ack_on_growth: true,
    size_goal_half_window: true,
    moderate_cwnd: true,
    reordering: 3,
    rto_min_ms: 200,
    tso_win_divisor: 3,
}];

/// The profile called `name`.
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|p| p.name == name)
}
