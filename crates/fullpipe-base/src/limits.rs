//! The table of limits of a flow, each with its name, label, group, place and colour.
//!
//! A limit is a variant of [`Limit`] or [`Derived`] and a row of [`TABLE`]. Other code charges time to it: the engine
//! for [`Limit`], the analysis for [`Derived`].

/// Why the sender did not send, by the predicate that stopped it. Index into `FlowSample::limits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Limit {
    /// Connection not yet established, or everything sent and acknowledged.
    Idle = 0,
    /// cwnd, in slow start (cwnd at or below ssthresh).
    CwndSlowStart = 1,
    /// cwnd, in congestion avoidance.
    CwndAvoidance = 2,
    /// cwnd, in fast recovery, CWR or after a timeout.
    CwndRecovery = 3,
    /// The receiver's advertised window.
    ReceiveWindow = 4,
    /// No unsent data because the send buffer is full of unacknowledged data.
    SendBuffer = 5,
    /// No unsent data because the application has none to give.
    Application = 6,
    /// No unsent data because the CPU is still copying or busy otherwise.
    SenderCpu = 7,
    /// The host's own queue refused a packet (local congestion).
    Qdisc = 8,
    /// Nagle's rule held back a partial segment.
    Nagle = 9,
    /// The pace: the time between packets that the pacing rate asks for.
    Pacing = 10,
    /// Remote procedure calls: the client has more to ask, and as many calls out as it has slots (`fullpipe_sim::rpc`).
    RpcSlots = 11,
    /// The client's page cache asks for no more: read-ahead, or the bound of concurrent write-back.
    PageCache = 12,
    /// Calls wait for a thread of the server.
    ServerThreads = 13,
    /// The receive window, while the server leaves a partial record in the socket until all of it has arrived.
    RecordGate = 14,
    /// The host holds as much of the flow as TCP small queues allow: in the qdisc, or in the ring, until the driver
    /// cleans up sent packets.
    SmallQueues = 15,
}

/// Limits that the analysis derives from a trace: documents have them, traces do not.
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
    /// No part of the engine or the analysis attributed this time.
    Unknown,
    /// A link of the ACKs' way.
    AckPath,
    /// The handshake.
    Connecting,
    /// Everything was sent.
    Done,
    /// The program on the receiving host.
    Reader,
}

/// Limits that count as one where time is moved or summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The congestion window.
    Cwnd,
    /// A socket buffer, or the window that it allows.
    Buffer,
    /// Remote procedure calls: the bound on calls that are out.
    Calls,
    /// Remote procedure calls: the server's threads.
    Server,
    /// The program.
    Program,
    /// A CPU.
    Cpu,
    /// A queue of the sender's own host.
    HostQueue,
    /// A pace.
    Pace,
    /// A rule of TCP that waits for an ACK.
    Nagle,
    /// A busy link, card or ring.
    Busy,
    /// The handshake.
    Handshake,
    /// Nothing to send, or nothing known.
    Quiet,
}

/// The place of a limit in the picture of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// None: a state of the sender, or a time without traffic.
    Nowhere,
    /// This stage of the sending host.
    Sender(&'static str),
    /// This stage of the receiving host.
    Receiver(&'static str),
    /// The qdisc or ring of the sending host, whichever holds more.
    SenderCard,
    /// The qdisc of the sending host that has a rate.
    SenderShaper,
    /// The busiest link of the data's way.
    Link,
    /// The busiest ring of a host on the data's way.
    HostRing,
    /// The busiest link of the ACKs' way.
    LinkBack,
}

/// A row of [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Index in [`Limit`] or [`Derived`].
    pub index: usize,
    /// Name in tables and JSON.
    pub name: &'static str,
    /// Name in figures and texts.
    pub label: &'static str,
    /// Group.
    pub group: Group,
    /// Place.
    pub at: At,
    /// Colour on light and on dark paper, CSS.
    pub colour: [&'static str; 2],
    /// When time counts as held by this limit.
    pub meaning: &'static str,
}

/// Number of limits, both kinds together.
pub const COUNT: usize = Derived::Reader as usize + 1;

/// All limits in the order in which reports stack and colour them. A new one is added at the end.
#[rustfmt::skip]
pub const TABLE: [About; COUNT] = [
    About {
        index: Limit::CwndSlowStart as usize, name: "cwnd_slow_start", label: "cwnd, slow start",
        group: Group::Cwnd, at: At::Nowhere, colour: ["#a9cbe4", "#6f9dbf"],
        meaning: "cwnd in slow start (cwnd at or below ssthresh)",
    },
    About {
        index: Limit::CwndAvoidance as usize, name: "cwnd_avoidance", label: "cwnd, avoidance",
        group: Group::Cwnd, at: At::Nowhere, colour: ["#4b8dbf", "#3f78a6"],
        meaning: "cwnd in congestion avoidance",
    },
    About {
        index: Limit::CwndRecovery as usize, name: "cwnd_recovery", label: "cwnd, recovery",
        group: Group::Cwnd, at: At::Nowhere, colour: ["#174f7d", "#1f4f78"],
        meaning: "cwnd in fast recovery, in CWR or after a timeout",
    },
    About {
        index: Limit::ReceiveWindow as usize, name: "receive_window", label: "receive window",
        group: Group::Buffer, at: At::Receiver("receive_buffer"), colour: ["#e8a95b", "#c58938"],
        meaning: "the receiver's advertised window",
    },
    About {
        index: Limit::SendBuffer as usize, name: "send_buffer", label: "send buffer",
        group: Group::Buffer, at: At::Sender("send_buffer"), colour: ["#6dbb9d", "#4a9a7c"],
        meaning: "no unsent data, because unacknowledged data fills the send buffer",
    },
    About {
        index: Limit::SenderCpu as usize, name: "sender_cpu", label: "sender CPU",
        group: Group::Cpu, at: At::Sender("cpu"), colour: ["#c07a9f", "#a35f84"],
        meaning: "no unsent data, because the sender's CPU is still copying or busy otherwise",
    },
    About {
        index: Limit::Application as usize, name: "application", label: "application",
        group: Group::Program, at: At::Sender("application"), colour: ["#c9bfa9", "#7d7563"],
        meaning: "no unsent data, because the application has none to give",
    },
    About {
        index: Limit::Qdisc as usize, name: "qdisc", label: "qdisc",
        group: Group::HostQueue, at: At::Sender("qdisc"), colour: ["#ddc943", "#a8992d"],
        meaning: "the host's own queue refused a packet",
    },
    About {
        index: Limit::Nagle as usize, name: "nagle", label: "Nagle",
        group: Group::Nagle, at: At::Sender("application"), colour: ["#8f7350", "#7c6340"],
        meaning: "Nagle's rule held back a partial segment",
    },
    About {
        index: Limit::Pacing as usize, name: "pacing", label: "pacing",
        group: Group::Pace, at: At::SenderShaper, colour: ["#5fb0b7", "#3d8a91"],
        meaning: "the pace: the pacing rate asks for time between packets; in documents also the rate of the host's fq, where that was never empty",
    },
    About {
        index: Limit::Idle as usize, name: "idle", label: "idle",
        group: Group::Quiet, at: At::Nowhere, colour: ["#e9e6df", "#3a3f45"],
        meaning: "not yet established, or everything is sent and the application has ended",
    },
    About {
        index: Derived::Link as usize, name: "link", label: "link",
        group: Group::Busy, at: At::Link, colour: ["#d77a61", "#b4553c"],
        meaning: "the window (cwnd, receive window, send buffer, or the calls that may be out) was exhausted, or the host's own queue had no \
                  room, but the bottleneck link was busy for at least 99 % of the last smoothed round-trip time",
    },
    About {
        index: Derived::ReceiverCpu as usize, name: "receiver_cpu", label: "receiver CPU",
        group: Group::Cpu, at: At::Receiver("cpu"), colour: ["#8d6bb8", "#7d5cab"],
        meaning: "a window (cwnd, the receive window or the send buffer) was exhausted, but the receiver's CPU was busy for at least 99 % of the \
                  last smoothed round-trip time",
    },
    About {
        index: Derived::Unknown as usize, name: "unknown", label: "unknown",
        group: Group::Quiet, at: At::Nowhere, colour: ["#b9bcc0", "#5f6469"],
        meaning: "the sender attributed this time to nothing",
    },
    About {
        index: Limit::RpcSlots as usize, name: "rpc_slots", label: "RPC slots",
        group: Group::Calls, at: At::Nowhere, colour: ["#3f7f6a", "#35695a"],
        meaning: "remote procedure calls: the client has more to ask, and as many calls out as it has slots",
    },
    About {
        index: Limit::PageCache as usize, name: "page_cache", label: "page cache",
        group: Group::Calls, at: At::Nowhere, colour: ["#b5c46a", "#84913f"],
        meaning: "remote procedure calls: the client's page cache asks for no more, by read-ahead or the bound of what is written back at a time",
    },
    About {
        index: Limit::ServerThreads as usize, name: "server_threads", label: "server threads",
        group: Group::Server, at: At::Nowhere, colour: ["#a04f4f", "#8a4343"],
        meaning: "remote procedure calls: what has come to the server waits for a thread",
    },
    About {
        index: Limit::RecordGate as usize, name: "record_gate", label: "record gate",
        group: Group::Calls, at: At::Nowhere, colour: ["#6a6fb0", "#585d99"],
        meaning: "the receiver's advertised window, while the server leaves what it has of a record in the socket until all of it is there",
    },
    About {
        index: Limit::SmallQueues as usize, name: "small_queues", label: "small queues (TSQ)",
        group: Group::HostQueue, at: At::SenderCard, colour: ["#c7a4d6", "#9270a3"],
        meaning: "TCP small queues: the host holds as much of the flow as may wait in its qdisc, and in its ring until the driver hears of what was sent",
    },
    About {
        index: Derived::Nic as usize, name: "nic", label: "sender's card",
        group: Group::Busy, at: At::HostRing, colour: ["#e3925c", "#c0713a"],
        meaning: "as for the link, but no link was busy, and the wire of the sender's card was",
    },
    About {
        index: Derived::TxRing as usize, name: "tx_ring", label: "TX ring",
        group: Group::Busy, at: At::HostRing, colour: ["#b34a3a", "#94392b"],
        meaning: "as for the sender's card, but its wire had pauses, and its ring had no room for an skb that waited: the driver had not heard of \
                  what was sent",
    },
    About {
        index: Derived::AckPath as usize, name: "ack_path", label: "ACKs' way",
        group: Group::Busy, at: At::LinkBack, colour: ["#7ea6a0", "#5c827c"],
        meaning: "a window was exhausted and nothing of the data's way was busy, but a link of the ACKs' way was, and the smoothed \
                  round-trip time was 25 % or more above the one without queues",
    },
    About {
        index: Derived::Connecting as usize, name: "connecting", label: "connecting",
        group: Group::Handshake, at: At::Nowhere, colour: ["#d9c4b0", "#a08a74"],
        meaning: "the connection was not yet established",
    },
    About {
        index: Derived::Done as usize, name: "done", label: "done",
        group: Group::Quiet, at: At::Nowhere, colour: ["#cfd3d8", "#565b61"],
        meaning: "everything was sent, and the program had no more",
    },
    About {
        index: Derived::Reader as usize, name: "reader", label: "reader",
        group: Group::Program, at: At::Receiver("receive_buffer"), colour: ["#7f8f3a", "#68762c"],
        meaning: "the receive window was exhausted, and the program had not read all that was acknowledged: it reads slowly",
    },
];

/// The row's place in [`TABLE`] by index. A table that lacks a limit, or has one twice, does not compile.
const ROW: [usize; COUNT] = {
    let mut row = [COUNT; COUNT];
    let mut at = 0;
    while at < COUNT {
        assert!(row[TABLE[at].index] == COUNT, "two rows for one limit");
        row[TABLE[at].index] = at;
        at += 1;
    }
    row
};

impl Limit {
    /// Number of limits that a trace has.
    pub const COUNT: usize = Limit::SmallQueues as usize + 1;
    /// Limits of the first format of traces. A trace may lack the columns of later ones.
    pub const FIRST_FORMAT: usize = Limit::SmallQueues as usize;

    /// The row of this limit.
    #[must_use]
    pub const fn about(self) -> &'static About {
        about(self as usize)
    }
}

impl Derived {
    /// The row of this limit.
    #[must_use]
    pub const fn about(self) -> &'static About {
        about(self as usize)
    }
}

/// The row of the limit with this index, which is below [`COUNT`].
#[must_use]
pub const fn about(index: usize) -> &'static About {
    const ROWS: &[About; COUNT] = &TABLE;
    &ROWS[ROW[index]]
}

/// The row of the limit with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static About> {
    by_index().find(|own| own.name == name)
}

/// The row of the limit with this label, as tables print it.
#[must_use]
pub fn labelled(label: &str) -> Option<&'static About> {
    by_index().find(|own| own.label.eq_ignore_ascii_case(label))
}

/// The label of the limit with this name; an unknown name is its own label.
#[must_use]
pub fn label(name: &str) -> &str {
    named(name).map_or(name, |own| own.label)
}

/// The limit's place in [`TABLE`], so that it has the same colour everywhere. Unknown names share [`COUNT`].
#[must_use]
pub fn place(name: &str) -> usize {
    TABLE.iter().position(|own| own.name == name).unwrap_or(COUNT)
}

/// The group of the limit with this name; none of an unknown name.
#[must_use]
pub fn group(name: &str) -> Option<Group> {
    named(name).map(|own| own.group)
}

/// All rows by index: first the sender's predicates, then the derived limits.
pub fn by_index() -> impl Iterator<Item = &'static About> + Clone {
    (0..COUNT).map(about)
}

/// Names by index.
pub fn limit_names() -> impl Iterator<Item = &'static str> + Clone {
    by_index().map(|own| own.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_labels_and_colours_are_of_one_limit_each() {
        for (at, own) in TABLE.iter().enumerate() {
            assert_eq!(about(own.index).name, own.name);
            assert_eq!(place(own.name), at);
            for other in &TABLE[..at] {
                assert!(own.name != other.name && own.label != other.label, "{}", own.name);
                assert!(
                    own.colour[0] != other.colour[0] && own.colour[1] != other.colour[1],
                    "{}",
                    own.name
                );
            }
        }
        assert_eq!((label("something_new"), place("something_new")), ("something_new", COUNT));
    }

    #[test]
    fn names_stand_at_their_index() {
        assert_eq!(Limit::SmallQueues.about().name, "small_queues");
        assert_eq!(limit_names().nth(Derived::Link as usize), Some("link"));
        assert_eq!(limit_names().count(), COUNT);
    }
}
