//! Plan of a run, in the kernel's own terms: hosts joined by routers, a queueing discipline on each device, flows. The
//! plan knows nothing of scenarios.
//!
//! ```text
//! sender ── router 0 ── router 1 ── ... ── receiver
//! beside ──────┘
//! ```
//!
//! Each is a network namespace; neighbours are joined by a pair of veth devices. Data moves to the right and ACKs to
//! the left, except those of backward flows. A device's qdisc acts on packets that leave through the device. Namespaces
//! are numbered from the sender to the receiver, then those of the extra hosts at the sender's end (`beside` in the
//! picture).

mod datagrams;
mod flow;
mod real_time;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use datagrams::{DATAGRAM, DatagramReader, Datagrams};
pub use flow::{After, Flow, Messages, Reader};
pub use real_time::{FIRST_PORT, REAL_TIME, SEEN_BYTES, SEGMENTS_QUEUE, SOCKET, WHOLE_QUEUE};

/// Name of the plan's file in the guest's root.
pub const FILE: &str = "plan.json";

/// Most flows of a run. Each has two threads, and each page of these is a mapping on the host. A process has 65,530
/// mappings at most (vm.max_map_count).
pub const MAX_FLOWS: usize = 2_000;

/// Most routers and extra hosts: each of the links between hosts and routers has a network of its own.
pub const MAX_ROUTERS: usize = 249;

/// Bytes of the Ethernet header, which Linux counts with a packet; the IP header follows.
pub const ETHERNET_HEADER: i32 = 14;

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Length of the run, ns of virtual time from its start.
    pub end_ns: u64,
    /// Interval of samples, ns (100,000 or more).
    pub sample_ns: u64,
    /// Interval of the kernel's counters, rounded up to samples, ns.
    pub counters_ns: u64,
    /// Largest IP packet, bytes (68 to 65,535).
    pub mtu: u32,
    /// Whether packets stay on the links as TCP hands them down; else they are split before the first one.
    pub gso: bool,
    /// Seed of the choices that the guest makes (local ports).
    pub seed: u64,
    /// sysctls of the whole kernel: path below /proc/sys, value.
    pub sysctl: Vec<(String, String)>,
    /// The host that sends the data of forward flows, and the ACKs of backward ones.
    pub sender: Host,
    /// At least one.
    pub routers: Vec<Router>,
    /// The other one.
    pub receiver: Host,
    /// Extra hosts at the sender's end, joined to the first router, which then only forwards.
    #[serde(default)]
    pub beside: Vec<Beside>,
    /// Flows, in order of their index.
    pub flows: Vec<Flow>,
    /// Mounts of one file system, a host each, with connections numbered after the flows.
    #[serde(default)]
    pub nfs: Vec<Nfs>,
    /// Datagrams of UDP, in order of their index.
    #[serde(default)]
    pub datagrams: Vec<Datagrams>,
    /// Qdiscs with sampled counters.
    pub watched: Vec<Watch>,
    /// Whether the kernel is this machine's, in real time: the packets of router 0 wait for verdicts of another process.
    #[serde(default)]
    pub real_time: bool,
}

impl Plan {
    /// Connections that are sampled: first those of the flows, then those of mounts.
    pub fn connections(&self) -> usize {
        self.mounts().last().map_or(self.flows.len(), |(_, own)| own.end)
    }

    /// The mounts, each with the numbers of its connections.
    pub fn mounts(&self) -> impl Iterator<Item = (&Nfs, Range<usize>)> {
        let mut next = self.flows.len();
        self.nfs.iter().map(move |nfs| {
            let first = next;
            next += usize::from(nfs.connections);
            (nfs, first..next)
        })
    }

    /// The mount that a connection is of, if it is of one.
    pub fn mount_of(&self, connection: usize) -> Option<&Nfs> {
        self.mounts().find(|(_, own)| own.contains(&connection)).map(|(nfs, _)| nfs)
    }

    /// Whether the data of that connection travels from the receiver to the sender.
    pub fn is_backward(&self, connection: usize) -> bool {
        match self.flows.get(connection) {
            Some(flow) => flow.backward,
            None => self.mount_of(connection).is_some_and(|nfs| nfs.reads),
        }
    }

    /// Name of the host that mounts.
    pub fn host_of(&self, nfs: &Nfs) -> &str {
        nfs.beside.and_then(|host| self.beside.get(host)).map_or("sender", |own| &own.name)
    }

    /// Number of the receiver's namespace.
    pub fn receiver_at(&self) -> usize {
        self.routers.len() + 1
    }
}

/// A qdisc of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Number of the namespace.
    pub namespace: u16,
    /// Number of its device ([`crate::record::LEFT_DEVICE`], [`crate::record::RIGHT_DEVICE`]).
    pub device: u32,
    /// Its handle ([`crate::record::qdisc_handle`]).
    pub handle: u32,
}

/// A host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// sysctls of its network namespace: path below /proc/sys, value.
    pub sysctl: Vec<(String, String)>,
    /// Largest number of segments that TCP puts into one packet for the card to split; 1: it splits itself. None: the
    /// device's own value. Packets that TCP does not split are split behind the qdisc.
    pub gso_max_segs: Option<u32>,
    /// First cwnd of its route to the other host, packets; none: the kernel's.
    pub initcwnd: Option<u32>,
    /// MTU of its device, bytes; none: the path's.
    #[serde(default)]
    pub mtu: Option<u32>,
    /// Time that arriving packets may wait to be joined with others (GRO), ns; 0: each is handed up by itself.
    pub gro_flush_timeout_ns: u64,
    /// The way out.
    pub out: Way,
}

/// An extra host at the sender's end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Its name, unlike "sender", "receiver" and other names.
    pub name: String,
    /// Settings of the host.
    pub host: Host,
}

/// Between the hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Router {
    /// Towards the receiver.
    pub forward: Way,
    /// Towards the sender.
    pub back: Way,
}

/// Elements that a packet passes on its way out of one device, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// Packets to lose or to mark, where they enter this router (a host: not allowed).
    pub drops: Vec<Drops>,
    /// Largest IP packet that goes on, bytes; the router answers a larger one by ICMP (a host: not allowed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// Largest MSS that SYNs announce behind this router, bytes, whichever way they go (a host: not allowed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss_clamp: Option<u16>,
    /// A token bucket, behind the lists, where packets come into this router (a host: not allowed).
    pub police: Option<Police>,
    /// Flows that have a qdisc of their own, 15 at most; packets of others pass at once. Then there are no `qdiscs`.
    pub apart: Vec<Apart>,
    /// The root qdisc, its child, and so on. None: the device has none.
    pub qdiscs: Vec<Qdisc>,
    /// Later settings of the qdiscs, in order of time.
    pub changes: Vec<Change>,
}

/// Largest bucket, bytes: twice its tokens, in billionths of a bit, and the tokens of a nanosecond fit into 64 bits.
pub const LARGEST_BURST: u64 = 1_000_000_000;

/// A token bucket: a packet passes at once or is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Police {
    /// Bits per second of new tokens, 1 or more.
    pub rate: u64,
    /// Bytes that it holds, 1 to [`LARGEST_BURST`]; it begins full.
    pub burst: u64,
    /// Bytes that a packet counts beyond its IP bytes.
    pub overhead: i32,
    /// Largest IP packet that passes, bytes: there is no bucket, and neither rate nor burst counts. None: any that has tokens.
    #[serde(default)]
    pub largest: Option<u32>,
}

/// A qdisc for a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Apart {
    /// Index of the flow.
    pub flow: u16,
    /// Qdisc of its packets.
    pub qdisc: Qdisc,
}

/// New settings of a qdisc, of the same kind. Waiting packets stay in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// ns from the run's start.
    pub at_ns: u64,
    /// Its number in the chain.
    pub number: usize,
    /// The new qdisc.
    pub qdisc: Qdisc,
}

/// Packets of a flow to lose or to mark, by their number among the arriving ones, from 0; rising.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drops {
    /// Index of the flow.
    pub flow: u16,
    /// Packets with data; retransmissions count.
    pub segments: Vec<u64>,
    /// Packets without data that are neither SYN nor FIN.
    pub acks: Vec<u64>,
    /// Whether they pass, marked (CE) where their codepoint allows it.
    pub mark: bool,
}

/// A queueing discipline. All sizes of packets are with the Ethernet header of 14 bytes, plus `overhead`
/// where there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Qdisc {
    /// A rate, and a queue in front of it (its child, or one of `limit` bytes).
    Tbf {
        /// Bits per second.
        rate: u64,
        /// Bytes that may go at once, at least the largest packet's.
        burst: u32,
        /// For how long the rate may be exceeded beyond the burst, ns.
        ahead_ns: u64,
        /// Bytes of its own queue.
        limit: u32,
        /// Bytes that are counted beyond the 14 of the header (`tc stab overhead`); may be negative.
        overhead: i32,
    },
    /// A rate, and a queue in front of it, its child. A packet leaves when earlier ones have had their time.
    Htb {
        /// Bits per second; a packet takes less than a minute.
        rate: u64,
        /// Bytes that are counted beyond the 14 of the header (`tc stab overhead`); may be negative.
        overhead: i32,
    },
    /// Passes arriving packets on to its child at once. It peeks by dequeuing a packet (`qdisc_peek_dequeued`).
    Ets,
    /// A queue bounded in packets.
    Pfifo {
        /// Packets.
        limit: u32,
    },
    /// A queue bounded in bytes.
    Bfifo {
        /// Bytes.
        limit: u32,
    },
    /// Delay, loss, copies, another order.
    Netem(Netem),
    /// Fair queueing with pacing.
    Fq {
        /// Packets.
        limit: u32,
        /// Packets of one flow.
        flow_limit: u32,
        /// Bytes of a flow's first turn.
        initial_quantum: Option<u32>,
        /// Bytes per second of each flow at most.
        max_rate: Option<u32>,
    },
    /// Fair queueing with CoDel.
    FqCodel {
        /// Packets.
        limit: u32,
        /// Acceptable delay, us.
        target_us: u32,
        /// us.
        interval_us: u32,
        /// Mark instead of drop, where a flow can be marked.
        ecn: bool,
    },
    /// CoDel.
    Codel {
        /// Packets.
        limit: u32,
        /// Acceptable delay, us.
        target_us: u32,
        /// us.
        interval_us: u32,
        /// Mark instead of drop, where a flow can be marked.
        ecn: bool,
    },
    /// Random early detection: more is dropped the longer the queue is on average.
    Red {
        /// Bytes.
        limit: u32,
        /// Average from which on packets are dropped, bytes.
        min: u32,
        /// Average from which on all are, bytes.
        max: u32,
        /// A packet counts 1 / 2^weight_log in the average.
        weight_log: u8,
        /// Probability of a drop at an average of `max`, 0 to 1.
        probability: f64,
        /// Time of an average packet on the wire, ns: how fast the average falls while the queue is empty.
        packet_ns: u64,
        /// Mark instead of drop, where a flow can be marked.
        ecn: bool,
    },
    /// PIE: the probability of a drop follows the delay of the queue.
    Pie {
        /// Packets.
        limit: u32,
        /// Delay to hold, us.
        target_us: u32,
        /// Interval at which the probability is recomputed, us.
        update_us: u32,
        /// Mark instead of drop, where a flow can be marked.
        ecn: bool,
    },
    /// CAKE: a rate, fair queueing and COBALT, without classes of service. It marks flows that can be marked.
    Cake {
        /// Bits per second; none: as fast as packets are taken.
        rate: Option<u64>,
        /// Round trip time that it is tuned to, us.
        rtt_us: u32,
        /// Bytes that are counted beyond the 14 of the header; may be negative.
        overhead: i32,
        /// Bytes of memory it may use; none: the kernel's choice.
        memory: Option<u32>,
        /// Drop ACKs that later ones of the queue make superfluous.
        ack_filter: bool,
    },
}

/// netem. Without anything set packets pass at once; `limit` has to be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Netem {
    /// ns.
    pub delay_ns: u64,
    /// Distribution of the delay.
    pub spread: Option<Spread>,
    /// A wire that packets pass before they wait.
    pub wire: Option<Wire>,
    /// Packets it holds.
    pub limit: u32,
    /// Loss.
    pub loss: Loss,
    /// Packets that are duplicated.
    pub duplicate: Option<Chance>,
    /// Packets that leave at once, ahead of those that wait.
    pub overtake: Option<Overtake>,
    /// Seed of its random numbers (since Linux 6.6; earlier kernels use their own).
    pub seed: u64,
}

/// The time of a packet on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wire {
    /// Bits per second, 8 or more.
    pub rate: u64,
    /// Bytes that a packet counts beyond the 14 of the Ethernet header; may be negative.
    pub overhead: i32,
}

/// A delay that varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Half the width or the standard deviation, ns, up to 2,147,483,647.
    pub width_ns: u64,
    /// Whether it is normal; else it is uniform.
    pub normal: bool,
    /// Whether packets keep their order: each waits for earlier ones.
    pub keep_order: bool,
}

/// A choice by chance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chance {
    /// 0 to 1.
    pub probability: f64,
    /// Share of the previous random number in the next one, 0 to 1.
    pub correlation: f64,
}

/// Packets that go ahead.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overtake {
    /// Chance that a packet goes ahead, of those that may.
    pub chance: Chance,
    /// Packets from one that does to the next that may, 1 or more.
    pub gap: u32,
}

/// Law of random losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Loss {
    /// Not.
    #[default]
    None,
    /// Each with this probability.
    Random {
        /// 0 to 1.
        probability: f64,
    },
    /// Two states (Gilbert-Elliott).
    GilbertElliott {
        /// Good to bad, per packet.
        p: f64,
        /// Bad to good, per packet.
        r: f64,
        /// Loss in the bad state.
        bad: f64,
        /// Loss in the good state.
        good: f64,
    },
}

/// A file system in the receiver's memory. The kernel's own server exports it, and the kernel's own client mounts it at
/// the sender or at an extra host. A program there writes files to it, or reads them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nfs {
    /// The extra host that mounts it; none: the sender.
    #[serde(default)]
    pub beside: Option<usize>,
    /// Version of the protocol.
    pub version: NfsVersion,
    /// Whether the program reads files that the server has; else it writes new ones.
    pub reads: bool,
    /// Files, one thread each.
    pub files: u32,
    /// Bytes of a file.
    pub file: u64,
    /// Bytes of one call of write(2) or read(2), 1 or more.
    pub record: u32,
    /// Bytes of a READ at most (`rsize`).
    pub rsize: u32,
    /// Bytes of a WRITE at most (`wsize`).
    pub wsize: u32,
    /// Concurrent requests: RPC slots of a connection (v3) or slots of the session (v4.2); none: the kernel's default.
    pub slots: Option<u16>,
    /// The server's threads.
    pub threads: u32,
    /// Connections (`nconnect`), 1 to 16.
    pub connections: u16,
    /// Whether the server answers when data is on the disk (`sync`); else at once.
    pub sync: bool,
    /// The mount's `timeo`, tenths of a second; none: the kernel's default.
    #[serde(default)]
    pub timeo: Option<u32>,
    /// The mount's `retrans`; none: the kernel's default.
    #[serde(default)]
    pub retrans: Option<u32>,
    /// KiB that the client reads ahead; none: the kernel's default.
    pub readahead_kib: Option<u32>,
    /// When it is mounted and the program begins, ns from the run's start.
    pub start_ns: u64,
    /// The hosts' congestion control, which the sockets of server and client have.
    pub congestion: String,
}

/// A version of NFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NfsVersion {
    /// 3, with the MOUNT protocol.
    V3,
    /// 4.2, with sessions.
    V4_2,
}
