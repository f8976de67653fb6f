//! Names of what can hold a flow back: the sender's predicates and what is derived from a trace.

use fullpipe_sim::trace::Limit;

/// Name of the time in which the bottleneck link was the limit.
const LINK: &str = "link";
/// Name of the time in which the rate of the sender's card was the limit.
const NIC: &str = "nic";
/// Name of the time in which the ring of the sender's card was the limit.
const TX_RING: &str = "tx_ring";
/// Name of the time in which the receiver's CPU was the limit.
const RECEIVER_CPU: &str = "receiver_cpu";
/// Name of the time that nobody attributed.
const UNKNOWN: &str = "unknown";

/// All names that shares have: the sender's predicates, "link", "nic", "tx_ring", "receiver_cpu", "unknown".
pub fn limit_names() -> impl Iterator<Item = &'static str> {
    Limit::NAMES.into_iter().chain([LINK, NIC, TX_RING, RECEIVER_CPU, UNKNOWN])
}
