//! Names of what can hold a flow back: the sender's predicates and what is derived from a trace.

use fullpipe_base::trace::Limit;

/// What is derived: documents have it, traces do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Derived {
    /// The bottleneck link.
    Link = Limit::COUNT,
    /// The rate of the sender's card.
    Nic,
    /// The ring of the sender's card.
    TxRing,
    /// The receiver's CPU.
    ReceiverCpu,
    /// Nobody attributed this time.
    Unknown,
    /// A link of the ACKs' way.
    AckPath,
    /// The handshake.
    Connecting,
    /// Everything was sent.
    Done,
}

/// Names of what is derived and when it is said, in its order.
pub const DERIVED: [(Derived, &str, &str); 8] = [
    (
        Derived::Link,
        "link",
        "the window (cwnd, receive window, send buffer, or the calls that may be out) was exhausted, or the host's own queue had no \
         room, but the bottleneck link was busy for at least 99 % of the last smoothed round-trip time",
    ),
    (Derived::Nic, "nic", "the same where no link, but the wire of the sender's card was busy"),
    (
        Derived::TxRing,
        "tx_ring",
        "the same where that wire had pauses, but the card's ring had no room for an skb that waited: the driver had not heard of \
         what was sent",
    ),
    (
        Derived::ReceiverCpu,
        "receiver_cpu",
        "a window (cwnd, the receive window or the send buffer) was exhausted, but the receiver's CPU was busy for at least 99 % of the \
         last smoothed round-trip time",
    ),
    (Derived::Unknown, "unknown", "the sender attributed this time to nothing"),
    (
        Derived::AckPath,
        "ack_path",
        "a window was exhausted and nothing of the data's way was busy, but a link of the ACKs' way was, and the smoothed \
         round-trip time was 25 % or more above the one without queues",
    ),
    (Derived::Connecting, "connecting", "the connection was not yet established"),
    (Derived::Done, "done", "everything was sent, and the program had no more"),
];

/// Number of limits, both kinds together.
pub const COUNT: usize = Limit::COUNT + DERIVED.len();

/// All names that shares have, by their index: the sender's predicates, then what is derived.
pub fn limit_names() -> impl Iterator<Item = &'static str> {
    Limit::NAMES.into_iter().chain(DERIVED.map(|(_, name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_derived_stands_at_its_index() {
        for (derived, name, _) in DERIVED {
            assert_eq!(limit_names().nth(derived as usize), Some(name));
        }
        assert_eq!(limit_names().count(), COUNT);
    }
}
