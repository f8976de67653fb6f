//! Remote procedure calls over connections with data both ways: requests of clients to servers, and their records.
//!
//! A client writes a file to a server, or reads one from it (NFS). Each call is one record, and slots bound the calls
//! that are out. A server has threads. One of them reads a call from a connection, works on it and writes the reply.
//! Client and server learn of each other only through the bytes of the connections. A host knows a message when it has
//! read the message's bytes.
//!
//! Source: Linux 6.12 net/sunrpc/xprt.c, xprtsock.c, xprtmultipath.c, svc_xprt.c, svcsock.c.
//!
//! Limits:
//! - docs/nfs.md lists what the model of NFS leaves out.

mod check;
pub(crate) mod client;
pub mod nfs3;
pub mod nfs4;
mod readahead;
pub(crate) mod server;
pub(crate) mod time;
pub(crate) mod timeouts;

use crate::units::Time;
use alloc::string::String;
use alloc::vec::Vec;

/// Bytes of the marker before each record, which holds its length (RFC 5531, section 11).
pub const MARKER: u64 = 4;

/// All remote procedure calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rpc {
    /// Clients, each with connections of its own.
    pub clients: Vec<RpcClient>,
    /// Servers, at most one per host.
    pub servers: Vec<RpcServer>,
}

/// A client, which writes or reads one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcClient {
    /// Name, unique among clients.
    pub name: String,
    /// Connections of the client (nconnect): indices of the flows that carry its calls. A flow with the replies answers
    /// each of them ([`Flow::answers`](crate::config::Flow::answers)). Both have neither `bytes` nor `duration`. The
    /// connections take turns, depending on how many calls each has (`xprt_switch_find_next_entry_roundrobin`).
    pub connections: Vec<usize>,
    /// Start of the client. Connections exist by then if their flows start a round trip before; a call waits for its
    /// own connection.
    pub start: Time,
    /// Calls before the application, one after the other over the first connection: bytes of each, and of its reply. A
    /// mount makes such calls. The application begins when the last call is answered and all connections are
    /// established; without such calls, at `start`.
    pub before: Vec<[u32; 2]>,
    /// Use of the file.
    pub operation: Operation,
    /// Bytes of the file (at least 1).
    pub bytes: u64,
    /// Most data bytes of one call: wsize or rsize (at least 1, at most 1 GiB).
    pub record: u32,
    /// Bound of the calls that are out at a time.
    pub slots: Slots,
    /// Timeouts after which a call is sent again; none: never, as with NFSv4.
    pub retry: Option<Retry>,
    /// Bytes of records besides data.
    pub sizes: Sizes,
    /// Calls after all of these are answered, one after the other: bytes of each, and of its reply. COMMIT follows
    /// unstable writes, then NFSv4's CLOSE. A file of one record needs no COMMIT (`nfs_initiate_write`: stable).
    pub after: Vec<[u32; 2]>,
}

/// Use of a file, from beginning to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The program writes all data to the page cache, as fast as the cache accepts it, and then flushes it. Calls carry
    /// the data, as many as there are slots.
    Write {
        /// Bounds of the page cache; none: it accepts all data at once.
        cache: Option<WriteBack>,
    },
    /// The program takes no time and reads the file in order, through the page cache.
    Read(ReadAhead),
}

/// Bounds, in calls, of a page cache that a program fills faster than the server accepts data (6.12 `nfs_writepages`,
/// `balance_dirty_pages`). While the program waits for room, at most `out` calls are unanswered. When the rest fits
/// into `dirty`, the program has written its last byte. It then flushes the file, and the rest is sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBack {
    /// Most calls under writeback at a time (fs.nfs.nfs_congestion_kb), at least 1.
    pub out: u32,
    /// Most calls of dirty data (vm.dirty_ratio).
    pub dirty: u32,
}

/// Parameters of reading a file through a page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAhead {
    /// Bytes of one call of read(2), at least 1.
    pub call: u32,
    /// Readahead window of the cache (read_ahead_kb), bytes; rounded down to pages.
    pub window: u64,
}

/// Most calls that may be out at a time (at least 1). A call occupies its slot until the reply is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// Bound for each connection. Since 3.1 sunrpc.tcp_max_slot_table_entries, which the table reaches at once
    /// (`xprt_dynamic_alloc_slot`); before, sunrpc.tcp_slot_table_entries.
    PerConnection(u32),
    /// Bound for all connections together: a session of NFSv4.1.
    Session(u32),
}

/// Timeouts after which calls are sent again (nfs(5) `timeo`, `retrans`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// First wait for a reply, above 0; each minor timeout lengthens the wait by as much.
    pub timeo: Time,
    /// Minor timeouts before a major one.
    pub retrans: u32,
}

/// Bytes of records besides their data, with the marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// A call that reads or writes data.
    pub call: u32,
    /// The reply.
    pub reply: u32,
}

/// A server: the threads of a host, which serve all its connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcServer {
    /// Host, by name.
    pub host: String,
    /// Number of threads (at least 1).
    pub threads: u32,
    /// Rule by which a thread takes a call from a socket.
    pub taking: Taking,
    /// Time of a thread for a call that reads or writes data, without the CPU.
    pub service: Time,
    /// Time of a thread for the first call after all of these, where they write.
    pub commit: Time,
}

/// Rule by which a server's thread takes a call from the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// The thread takes bytes as they arrive (6.12 `svc_tcp_recvfrom`).
    AsItComes,
    /// The thread takes the marker, then waits until the whole record is in the socket's buffer (`svc_tcp_recvfrom` of
    /// kernels before and after 2.6.25). A record larger than the buffer is never taken.
    WholeRecords,
}

/// Receive buffer that a 2.6.25 server asks for on a connection's socket, bytes: three messages (`svc_tcp_init`); the
/// kernel doubles it. `max_payload`: largest rsize and wsize (1 MiB), to which a page is added (`svc_create_pooled`).
pub const fn server_buffer_2008(max_payload: u64) -> u64 {
    3 * message_2008(max_payload)
}

/// Send buffer that such a server asks for, bytes: a message for each thread, and three (`svc_tcp_recvfrom`).
pub const fn server_send_buffer_2008(max_payload: u64, threads: u32) -> u64 {
    (threads as u64 + 3) * message_2008(max_payload)
}

const fn message_2008(max_payload: u64) -> u64 {
    max_payload + 4096
}

/// A record on its way: its content, which the reader knows once the bytes have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// End of the record among the bytes of its flow.
    pub(crate) end: u64,
    /// Bytes of the record, with the marker.
    pub(crate) len: u32,
    /// Number of the client's call that it is, or answers.
    pub(crate) call: u64,
    /// Bytes of the reply to a call, with the marker.
    pub(crate) reply: u32,
    /// Work of the server for it.
    pub(crate) work: ServerWork,
}

/// Work of a server for a call, besides reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerWork {
    /// No work that takes time.
    Nothing,
    /// Reads or writes data ([`RpcServer::service`]).
    Data,
    /// Commits written data ([`RpcServer::commit`]).
    Commit,
}

/// Bytes of data in a record: XDR pads to a multiple of four (RFC 4506, section 4.10).
pub(crate) fn padded(bytes: u32) -> u32 {
    bytes.next_multiple_of(4)
}
