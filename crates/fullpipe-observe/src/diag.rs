//! Messages of `sock_diag` about TCP connections: requests for one or for all, and the state that the kernel answers.
//!
//! Sources: Linux 6.12 `include/uapi/linux/netlink.h`, `sock_diag.h`, `inet_diag.h`. Their layout has been the same since
//! Linux 3.3.

use crate::message::{Answer, DUMP, HEAD, Message, attributes, kind, sequence};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Type of requests and answers.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Type of the message that ends a dump.
const DONE: u16 = 3;
/// Flag of a message whose dump met a change of its table.
const DUMP_INTERRUPTED: u16 = 0x10;
/// Bytes of `struct inet_diag_msg`, and the place of its `idiag_rqueue` and `idiag_wqueue`.
const MESSAGE: usize = 72;
const QUEUES: std::ops::Range<usize> = 56..64;
/// Bytes of an address, and those of a cookie that fits any socket.
const ADDRESS: usize = 16;
const ANY_COOKIE: [u8; 8] = [0xff; 8];

// Attributes, INET_DIAG_ of the source.
const INFO: u16 = 2;
const CONGESTION: u16 = 4;
const SKMEMINFO: u16 = 7;

/// `struct tcp_info`, as a bit of a request.
pub const WITH_INFO: u8 = 1 << (INFO - 1);
/// Name of the congestion control, as a bit of a request.
pub const WITH_CONGESTION: u8 = 1 << (CONGESTION - 1);
/// Memory of the socket, as a bit of a request.
pub const WITH_MEMORY: u8 = 1 << (SKMEMINFO - 1);

/// Numbers of TCP's states (include/net/tcp_states.h).
pub mod state {
    /// Both ends may send.
    pub const ESTABLISHED: u8 = 1;
    /// A SYN was sent.
    pub const SYN_SENT: u8 = 2;
    /// A SYN was received.
    pub const SYN_RECV: u8 = 3;
    /// The connection is closed, and the peer has acknowledged that.
    pub const FIN_WAIT2: u8 = 5;
    /// The connection is over, and late packets of it are awaited.
    pub const TIME_WAIT: u8 = 6;
    /// No connection.
    pub const CLOSE: u8 = 7;
    /// The socket waits for connections.
    pub const LISTEN: u8 = 10;
}

/// A request about the connection between two addresses, of one family; its answer bears `number`.
///
/// `with` adds up the `WITH_` bits of what is wanted. A socket with another cookie than `cookie` is not found.
pub fn one(
    number: u32,
    here: SocketAddr,
    there: SocketAddr,
    with: u8,
    cookie: Option<[u8; 8]>,
) -> Vec<u8> {
    let family = if here.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let mut id = Vec::with_capacity(48);
    for end in [here, there] {
        id.extend(end.port().to_be_bytes());
    }
    for end in [here, there] {
        id.extend(address(end.ip()));
    }
    id.extend([0; 4]); // any device
    id.extend(cookie.unwrap_or(ANY_COOKIE));
    request(number, family as u8, with, u32::MAX, 0, &id)
}

/// A request about all connections of a family (`AF_INET`, `AF_INET6`) in these states, a bit each.
///
/// IPv4 connections of a dual-stack socket belong to `AF_INET6`.
pub fn all(number: u32, family: u8, with: u8, states: u32) -> Vec<u8> {
    let mut id = [0; 48];
    id[40..].copy_from_slice(&ANY_COOKIE);
    request(number, family, with, states, DUMP, &id)
}

/// A message with `struct inet_diag_req_v2`.
fn request(number: u32, family: u8, with: u8, states: u32, flags: u16, id: &[u8]) -> Vec<u8> {
    let mut body = vec![family, libc::IPPROTO_TCP as u8, with, 0];
    body.extend(states.to_ne_bytes());
    body.extend(id);
    Message::new(SOCK_DIAG_BY_FAMILY, flags, &body).finish(number).to_vec()
}

/// An address as the kernel writes it: IPv4 has the first four bytes.
fn address(ip: IpAddr) -> [u8; ADDRESS] {
    match ip {
        IpAddr::V6(ip) => ip.octets(),
        IpAddr::V4(ip) => {
            let mut bytes = [0; ADDRESS];
            bytes[..4].copy_from_slice(&ip.octets());
            bytes
        }
    }
}

/// A socket in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket<'a> {
    /// State of TCP, see [`state`].
    pub state: u8,
    /// Own end. IPv4 is IPv4, also of a dual-stack socket.
    pub here: SocketAddr,
    /// The other end.
    pub there: SocketAddr,
    /// Number that no other socket of the kernel has had.
    pub cookie: [u8; 8],
    /// Inode of the socket; 0 where no process has it.
    pub inode: u32,
    /// Bytes that wait to be read, and unacknowledged bytes (u32 each).
    pub queues: &'a [u8],
    /// Memory, an array of u32 (`SK_MEMINFO_`); empty where the kernel does not report it.
    pub memory: &'a [u8],
    /// `struct tcp_info`; empty where the socket has none.
    pub info: &'a [u8],
    /// Name of the congestion control; empty where it was not asked for.
    pub congestion: &'a str,
}

/// A message of the kernel.
#[derive(Debug)]
pub enum Reply<'a> {
    /// A socket.
    Socket(Socket<'a>),
    /// There is no such socket.
    None,
    /// The end of a dump.
    Done,
    /// The request failed.
    Failed(io::Error),
    /// A message of another type, or a short one.
    Other(Option<u16>),
}

/// Number of the request that a message answers, and its contents; none where the message is too short for a number.
pub fn reply(message: &[u8]) -> Option<(u32, Reply<'_>)> {
    let number = sequence(message)?;
    if let Some(answer) = Answer::from_bytes(message) {
        let reply = match answer.errno {
            libc::ENOENT => Reply::None,
            errno => Reply::Failed(io::Error::from_raw_os_error(errno)),
        };
        return Some((number, reply));
    }
    let body = message.get(HEAD..).filter(|body| body.len() >= MESSAGE);
    let reply = match (kind(message), body) {
        (Some(DONE), _) => Reply::Done,
        (Some(SOCK_DIAG_BY_FAMILY), Some(body)) => Reply::Socket(socket(body)),
        (other, _) => Reply::Other(other),
    };
    Some((number, reply))
}

/// Whether a message belongs to a dump that may have missed sockets.
pub fn is_interrupted(message: &[u8]) -> bool {
    let flags = message.get(6..8).map_or(0, |bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
    flags & DUMP_INTERRUPTED != 0
}

/// The messages in the bytes that one read has returned.
pub fn messages(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let message = bytes.get(..length).filter(|own| own.len() >= HEAD)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// Reads `struct inet_diag_msg` and its attributes; `body` is long enough.
fn socket(body: &[u8]) -> Socket<'_> {
    let v4 = i32::from(body[0]) == libc::AF_INET;
    let end = |port: usize, at: usize| {
        let port = u16::from_be_bytes([body[port], body[port + 1]]);
        let bytes: [u8; ADDRESS] = body[at..at + ADDRESS].try_into().unwrap_or_default();
        let ip = match v4 {
            true => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
            false => IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical(),
        };
        SocketAddr::new(ip, port)
    };
    let attribute = |wanted| {
        let found = attributes(&body[MESSAGE..]).find(|(kind, _)| *kind == wanted);
        found.map_or(&[][..], |(_, value)| value)
    };
    let name = attribute(CONGESTION).split(|byte| *byte == 0).next().unwrap_or_default();
    Socket {
        state: body[1],
        here: end(4, 8),
        there: end(6, 24),
        cookie: body[44..52].try_into().unwrap_or_default(),
        inode: u32::from_ne_bytes(body[68..72].try_into().unwrap_or_default()),
        queues: &body[QUEUES],
        memory: attribute(SKMEMINFO),
        info: attribute(INFO),
        congestion: std::str::from_utf8(name).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer with an own address of that family, and three attributes.
    fn message(family: i32, own: [u8; 16]) -> Vec<u8> {
        let mut body = vec![0; MESSAGE];
        (body[0], body[1]) = (family as u8, state::ESTABLISHED);
        body[4..8].copy_from_slice(&[1, 2, 3, 4]);
        body[8..24].copy_from_slice(&own);
        (body[44], body[56], body[60], body[68]) = (77, 9, 8, 5);
        let mut message = Message::new(SOCK_DIAG_BY_FAMILY, 0, &body);
        let message = message.attr(8, &[7]).attr(SKMEMINFO, &[5, 6, 7, 8]);
        message.attr(INFO, &[1, 2, 3, 4]).text(CONGESTION, "cubic").finish(5).to_vec()
    }

    fn read(message: &[u8]) -> Socket<'_> {
        match reply(message) {
            Some((5, Reply::Socket(socket))) => socket,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_has_ends_queues_memory_and_state() {
        let mut own = [0; 16];
        own[..4].copy_from_slice(&[10, 0, 0, 1]);
        let message = message(libc::AF_INET, own);
        let socket = read(&message);
        assert_eq!(socket.here, "10.0.0.1:258".parse().expect("an address"));
        assert_eq!(socket.there.port(), 772);
        assert_eq!((socket.queues, socket.inode), (&[9, 0, 0, 0, 8, 0, 0, 0][..], 5));
        assert_eq!((socket.memory, socket.info), (&[5, 6, 7, 8][..], &[1, 2, 3, 4][..]));
        assert_eq!((socket.congestion, socket.cookie[0]), ("cubic", 77));
    }

    #[test]
    fn ipv4_of_a_dual_stack_socket_is_ipv4() {
        let mapped = Ipv4Addr::new(192, 0, 2, 7).to_ipv6_mapped();
        let found = message(libc::AF_INET6, mapped.octets());
        assert_eq!(read(&found).here, "192.0.2.7:258".parse().expect("an address"));
        let plain: Ipv6Addr = "2001:db8::1".parse().expect("an address");
        let found = message(libc::AF_INET6, plain.octets());
        assert_eq!(read(&found).here, "[2001:db8::1]:258".parse().expect("an address"));
    }

    #[test]
    fn a_missing_socket_is_no_failure() {
        let failed = |errno: i32| Message::new(2, 0, &(-errno).to_ne_bytes()).finish(6).to_vec();
        assert!(matches!(reply(&failed(libc::ENOENT)), Some((6, Reply::None))));
        assert!(matches!(reply(&failed(libc::EPERM)), Some((6, Reply::Failed(_)))));
        assert!(matches!(
            reply(&message(libc::AF_INET, [0; 16])[..60]),
            Some((5, Reply::Other(_)))
        ));
        let done = Message::new(DONE, 0, &[0; 4]).finish(8).to_vec();
        assert!(matches!(reply(&done), Some((8, Reply::Done))));
    }

    #[test]
    fn a_request_names_both_ends_and_a_dump_none() {
        let here = "10.0.0.1:258".parse().expect("an address");
        let there = "10.0.9.2:772".parse().expect("an address");
        let bytes = one(3, here, there, WITH_INFO | WITH_MEMORY, None);
        assert_eq!(bytes.len(), HEAD + 56);
        assert_eq!(bytes[HEAD + 2], 0x42);
        assert_eq!(bytes[HEAD + 8..HEAD + 16], [1, 2, 3, 4, 10, 0, 0, 1]);
        assert_eq!(bytes[HEAD + 28..HEAD + 32], [10, 0, 9, 2]);
        let bytes = all(4, libc::AF_INET6 as u8, WITH_INFO, 2);
        assert_eq!((bytes[6], bytes[7], bytes[HEAD]), (1, 3, libc::AF_INET6 as u8));
        assert_eq!(bytes[HEAD + 4..HEAD + 48], [&[2, 0, 0, 0][..], &[0; 40]].concat());
    }

    #[test]
    fn messages_of_one_read_are_parted() {
        let first = message(libc::AF_INET, [0; 16]);
        let both = [&first[..], Message::new(DONE, 0, &[0; 4]).finish(5)].concat();
        assert_eq!(messages(&both).count(), 2);
        assert_eq!(messages(&both[..first.len() - 1]).count(), 0);
        assert!(!is_interrupted(&first));
    }
}
