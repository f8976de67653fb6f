//! The guest's output: a file of records, written as it samples.
//!
//! A record is a head of 16 bytes and a body, both in the machine's byte order; the body's length is a multiple of 8,
//! with zeros at the end. Bodies are the kernel's own structures, so that the guest has little to do; the engine reads
//! them. Records of one kind and index are in the order of their times.
//!
//! | kind | index | body |
//! |---|---|---|
//! | [`SENDER`] | flow | bytes that wait to be read, bytes not acknowledged (u32 each, `idiag_rqueue` and `idiag_wqueue`), memory (u32 each, SK_MEMINFO_, then zeros: [`MEMORY_SIZE`] bytes), then `struct tcp_info`, of the sender's socket; after it is closed, the last |
//! | [`RECEIVER`] | flow | the same of the receiver's |
//! | [`QDISCS`] | namespace: 0 the sender, 1 and on the routers, last the receiver | netlink messages of RTM_GETQDISC |
//! | [`EVENT`] | flow | number of the event (u64), value (u64); of [`ESTABLISHED`] also how many SYNs were sent again before (u64), and the congestion control that the socket has ([`CONGESTION_SIZE`] bytes, then zeros) |
//! | [`NAMES`] | source | text: on the first line the host, then a line with the name of each counter; once |
//! | [`COUNTERS`] | source | number of the name, from 0 (u64), value (u64), of each counter that has changed; before that all are 0 |
//! | [`DROPPED`] | router | flow, 0 for forward or 1 for back, packets with data that came, those dropped, ACKs that came, those dropped; 1 if they were not dropped, but marked (u64 each), at the end |
//! | [`FAILED`] | 0 | text: what went wrong; the run ends |
//! | [`REFUSED`] | 0 | JSON: a value that the kernel does not take ([`crate::refusal::Refusal`]); the run ends |
//! | [`DONE`] | 0 | nothing: the run went to its end |

/// Name of the records' file in the guest's root.
pub const FILE: &str = "records";
/// Name of the file that holds the virtual time reached in its first 8 bytes, ns from the run's start.
pub const PROGRESS: &str = "progress";

/// State of a sender.
pub const SENDER: u16 = 1;
/// State of a receiver.
pub const RECEIVER: u16 = 2;
/// Bytes of a socket's state for its queues.
pub const QUEUES_SIZE: usize = 8;
/// Bytes of a socket's state for its memory.
pub const MEMORY_SIZE: usize = 40;
/// Bytes of a socket's state before `struct tcp_info`.
pub const SOCKET_SIZE: usize = QUEUES_SIZE + MEMORY_SIZE;
/// Qdiscs of a namespace.
pub const QDISCS: u16 = 3;
/// Something that happened to a flow.
pub const EVENT: u16 = 4;
/// Names of the counters of one source.
pub const NAMES: u16 = 5;
/// Counters that have changed.
pub const COUNTERS: u16 = 6;
/// Number of the first source that is a program with datagrams. The order is the sender of those of index 0, then their
/// reader, and so on.
pub const DATAGRAM_SOURCES: u16 = 0x8000;
/// Counters of a list of packets to lose or to mark.
pub const DROPPED: u16 = 7;
/// The run cannot go on.
pub const FAILED: u16 = 8;
/// The run went to its end.
pub const DONE: u16 = 9;
/// The kernel refuses a value.
pub const REFUSED: u16 = 10;

/// connect() returned; value: ns since it was called.
pub const ESTABLISHED: u64 = 1;
/// Bytes of a congestion control's name with the zeros behind it (Linux: TCP_CA_NAME_MAX).
pub const CONGESTION_SIZE: usize = 16;
/// accept() returned; value 0.
pub const ACCEPTED: u64 = 2;
/// All that the flow writes was read; value: bytes.
pub const FINISHED: u64 = 3;
/// The kernel gave the connection up, and reported it to the sender or the receiver; value: errno.
pub const ABORTED: u64 = 4;
/// An answer was read as a whole; value: ns since its request was begun.
pub const ANSWERED: u64 = 5;
/// A program opens the next connection of a loop; value 0.
pub const BEGAN: u64 = 6;
/// A message that nobody answers was read as a whole; value: ns since it was begun.
pub const MESSAGE_READ: u64 = 7;

/// Before each body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Kind of the record.
    pub kind: u16,
    /// Owner of the record: flow, namespace, source or router, by the kind.
    pub index: u16,
    /// Bytes of the body.
    pub len: u32,
    /// ns of virtual time from the run's start.
    pub time_ns: u64,
}

impl Head {
    /// Bytes of a head.
    pub const SIZE: usize = 16;

    /// The head as it is written.
    pub fn to_bytes(self) -> [u8; Head::SIZE] {
        let mut bytes = [0; Head::SIZE];
        bytes[..2].copy_from_slice(&self.kind.to_ne_bytes());
        bytes[2..4].copy_from_slice(&self.index.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.len.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time_ns.to_ne_bytes());
        bytes
    }

    /// The head that begins `bytes`; none if they are too few.
    pub fn from_bytes(bytes: &[u8]) -> Option<Head> {
        Some(Head {
            kind: u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?),
            index: u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?),
            len: u32::from_ne_bytes(bytes.get(4..8)?.try_into().ok()?),
            time_ns: u64::from_ne_bytes(bytes.get(8..16)?.try_into().ok()?),
        })
    }
}

/// Head of a socket's state: its queues and its memory, as much of both as there is room for.
pub fn socket_head(queues: &[u8], memory: &[u8]) -> [u8; SOCKET_SIZE] {
    let mut head = [0; SOCKET_SIZE];
    let (to_queues, to_memory) = head.split_at_mut(QUEUES_SIZE);
    for (to, from) in [(to_queues, queues), (to_memory, memory)] {
        let len = to.len().min(from.len());
        to[..len].copy_from_slice(&from[..len]);
    }
    head
}

/// Number (ifindex) of the device that looks to the sender, in each namespace that has one.
pub const LEFT_DEVICE: u32 = 2;
/// Number of the device that looks to the receiver.
pub const RIGHT_DEVICE: u32 = 3;

/// Handle of the ingress qdisc of a device; its packets are all that arrived.
pub const INCOMING_HANDLE: u32 = 0xffff_0000;

/// Handle of the qdisc of that number (from 0, the root) in the chain of a device, for [`QDISCS`].
pub fn qdisc_handle(number: usize) -> u32 {
    (number as u32 + 1) << 16
}
