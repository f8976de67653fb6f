//! Agreements of a guest in real time with the process that gives verdicts on its packets.

/// Argument with which the guest runs on this machine's kernel, as the first process of its own namespaces.
pub const REAL_TIME: &str = "--real-time";

/// Descriptor of the socket by which a guest in real time hands its packets over.
pub const SOCKET: i32 = 3;

/// Port at which the receiver waits for the first connection; the next one has the next port.
pub const FIRST_PORT: u16 = 5001;

/// Number of the queue with packets as TCP hands them down (GSO).
pub const WHOLE_QUEUE: u16 = 0;
/// Number of the queue with the segments of packets whose segments differ in their fate.
pub const SEGMENTS_QUEUE: u16 = 1;

/// Bytes of each packet that the process with the verdicts sees: the headers of IP and TCP.
pub const SEEN_BYTES: u32 = 120;
