//! Remote procedure calls over connections with data both ways: what clients ask of servers, and in which records.
//!
//! A client writes a file to a server or reads one from it by calls of a record each (NFS), and has so many of them out at
//! a time as it has slots. A server has threads, one of which reads a call from a connection, works on it and writes the
//! reply. What the two know of each other goes through the bytes of the connections only: a message is known to the host
//! that reads it when its bytes are there.
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

/// Bytes of the marker before each record, which has its length (RFC 5531, section 11).
pub const MARKER: u64 = 4;

/// All remote procedure calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rpc {
    /// Clients, each with connections of its own.
    pub clients: Vec<RpcClient>,
    /// Servers, one on a host at most.
    pub servers: Vec<RpcServer>,
}

/// A client: a file that it writes or reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcClient {
    /// Name, unlike those of others.
    pub name: String,
    /// Its connections (nconnect): the indices of the flows that carry its calls. Each is answered by a flow with the
    /// replies ([`Flow::answers`](crate::config::Flow::answers)); of both neither `bytes` nor `duration` is set. They
    /// take turns, with respect to how many calls each has (`xprt_switch_find_next_entry_roundrobin`).
    pub connections: Vec<usize>,
    /// When it begins. The connections exist by then if their flows start a round trip before; a call waits for its own.
    pub start: Time,
    /// Calls that go before, one after the other over the first connection: bytes of each, and of its reply. So does a mount.
    /// The application begins when the last one is answered and all connections are there; where there are none, at `start`.
    pub before: Vec<[u32; 2]>,
    /// What it does with the file.
    pub operation: Operation,
    /// Bytes of the file (at least 1).
    pub bytes: u64,
    /// Most data of one call, bytes: wsize or rsize (at least 1, at most 1 GiB).
    pub record: u32,
    /// How many calls may be out at a time.
    pub slots: Slots,
    /// When a call is sent again that was not answered; none: never, as with NFSv4.
    pub retry: Option<Retry>,
    /// What its records have besides data.
    pub sizes: Sizes,
    /// Calls that follow one after the other when all of these are answered: bytes of each, and of its reply. COMMIT after
    /// unstable writes (a file of one record needs none, `nfs_initiate_write`: stable), and NFSv4's CLOSE.
    pub after: Vec<[u32; 2]>,
}

/// What a client does with its file, from the beginning to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// All of it is written to the page cache, as much as that takes at once, and then flushed: calls with data, as many as
    /// there are slots for.
    Write {
        /// What the page cache takes; none: all at once.
        cache: Option<WriteBack>,
    },
    /// An application that takes no time reads it in order, through the page cache.
    Read(ReadAhead),
}

/// Bounds of a page cache that a program fills faster than it is written to the server, in calls (6.12 `nfs_writepages`,
/// `balance_dirty_pages`). While the program waits for room, `out` calls are not answered at most; when all that is left fits
/// into `dirty` the program has written its last byte and flushes the file: the rest goes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBack {
    /// Calls that are written back at a time (fs.nfs.nfs_congestion_kb), at least 1.
    pub out: u32,
    /// Calls of which the data may be dirty (vm.dirty_ratio).
    pub dirty: u32,
}

/// How a file is read through a page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAhead {
    /// Bytes of one call of read(2), at least 1.
    pub call: u32,
    /// How far the cache reads ahead (read_ahead_kb), bytes; rounded down to pages.
    pub window: u64,
}

/// How many calls may be out at a time (at least 1). A slot is taken until the reply is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// Of each connection: sunrpc.tcp_max_slot_table_entries since 3.1, which the table reaches at once
    /// (`xprt_dynamic_alloc_slot`); sunrpc.tcp_slot_table_entries before.
    PerConnection(u32),
    /// Of all connections together: a session of NFSv4.1.
    Session(u32),
}

/// When calls are sent again (nfs(5) `timeo`, `retrans`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// First wait for a reply, above 0; each minor timeout makes it so much longer.
    pub timeo: Time,
    /// Minor timeouts before a major one.
    pub retrans: u32,
}

/// Bytes of records, with their marker, besides the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Of a call that reads or writes data.
    pub call: u32,
    /// Of its reply.
    pub reply: u32,
}

/// A server: the threads of a host, which serve all connections that come to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcServer {
    /// Its host, by name.
    pub host: String,
    /// How many threads it has (at least 1).
    pub threads: u32,
    /// How they take calls from a socket.
    pub taking: Taking,
    /// How long a thread works on a call that reads or writes data, without the CPU.
    pub service: Time,
    /// The same of the first call after all of these, where they write.
    pub commit: Time,
}

/// How a server's thread takes a call from the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// What is there of it, as it comes (6.12 `svc_tcp_recvfrom`).
    AsItComes,
    /// After the marker nothing, until all of it is in the socket's buffer (`svc_tcp_recvfrom` of kernels before and after
    /// 2.6.25). One that the buffer does not hold never gets there.
    WholeRecords,
}

/// What a 2.6.25 server asks for each socket of a connection, bytes: three messages (`svc_tcp_init`), which the kernel
/// doubles. `max_payload`: largest rsize and wsize (1 MiB), to which a page is added (`svc_create_pooled`).
pub const fn server_buffer_2008(max_payload: u64) -> u64 {
    3 * message_2008(max_payload)
}

/// What it asks for to send, bytes: a message for each thread, and three (`svc_tcp_recvfrom`).
pub const fn server_send_buffer_2008(max_payload: u64, threads: u32) -> u64 {
    (threads as u64 + 3) * message_2008(max_payload)
}

const fn message_2008(max_payload: u64) -> u64 {
    max_payload + 4096
}

/// A record on its way: what its bytes say, once they are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Where it ends among the bytes of its flow.
    pub(crate) end: u64,
    /// Its bytes, with the marker.
    pub(crate) len: u32,
    /// Which call of the client it is, or answers.
    pub(crate) call: u64,
    /// Of a call: bytes of its reply, with the marker.
    pub(crate) reply: u32,
    /// What the server has to do for it.
    pub(crate) work: Work,
}

/// What a server has to do for a call, besides reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing that takes time.
    Nothing,
    /// It reads or writes data ([`RpcServer::service`]).
    Data,
    /// It commits what was written ([`RpcServer::commit`]).
    Commit,
}

/// Bytes of data in a record: XDR fills up to four (RFC 4506, section 4.10).
pub(crate) fn padded(bytes: u32) -> u32 {
    bytes.next_multiple_of(4)
}
