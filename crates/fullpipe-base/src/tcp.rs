//! States of TCP that a trace shows and its readers interpret.

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
