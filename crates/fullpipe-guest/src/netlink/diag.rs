//! TCP connections seen from outside (sock_diag): queues, memory and `struct tcp_info`, without the program's help.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use rustix::net::netlink;

use super::message::{Answer, HEAD, Message, attributes, kind, sequence};
use crate::error::{Context, Error, Result};
use crate::sys;

/// Address and port of an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub address: Ipv4Addr,
    pub port: u16,
}

// include/uapi/linux/netlink.h, sock_diag.h, inet_diag.h
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INFO: u16 = 2;
const SKMEMINFO: u16 = 7;
/// `struct inet_diag_msg`, and where its `idiag_rqueue` and `idiag_wqueue` are.
const MESSAGE: usize = 72;
const QUEUES: std::ops::Range<usize> = 56..64;
const ANY_COOKIE: [u8; 8] = [0xff; 8];

/// States of a connection that is not there yet: SYN_SENT, SYN_RECV, LISTEN (include/net/tcp_states.h).
const NOT_YET: [u8; 3] = [2, 3, 10];
/// States of a connection with a closed socket: FIN_WAIT2, TIME_WAIT. It has no `struct tcp_info` any more.
const CLOSED: [u8; 2] = [5, 6];

/// A socket that asks about the connections of the caller's namespace.
pub fn open(number: u32) -> Result<OwnedFd> {
    sys::netlink_socket(Some(netlink::SOCK_DIAG), number).at(|| "socket of sock_diag")
}

/// Asks about one connection; the answer bears `number` (`struct inet_diag_req_v2`).
pub fn request(number: u32, here: End, there: End) -> Vec<u8> {
    let wanted = 1_u8 << (INFO - 1) | 1 << (SKMEMINFO - 1);
    let mut body = vec![libc::AF_INET as u8, libc::IPPROTO_TCP as u8, wanted, 0];
    body.extend([0xff; 4]); // any state
    for end in [here, there] {
        body.extend(end.port.to_be_bytes());
    }
    for end in [here, there] {
        body.extend(end.address.octets());
        body.extend([0; 12]);
    }
    body.extend([0; 4]); // any device
    body.extend(ANY_COOKIE);
    Message::new(SOCK_DIAG_BY_FAMILY, 0, &body).finish(number).to_vec()
}

/// State of a connection.
#[derive(Debug, PartialEq, Eq)]
pub struct State<'a> {
    /// Bytes that wait to be read, and unacknowledged bytes (u32 each).
    pub queues: &'a [u8],
    /// Memory, an array of u32 (SK_MEMINFO_); empty where the kernel does not report it.
    pub memory: &'a [u8],
    /// `struct tcp_info`.
    pub info: &'a [u8],
}

/// Number of the request that this answers, and the state; none before there is a connection, and after it.
pub fn answer(message: &[u8]) -> Result<(u32, Option<State<'_>>)> {
    let wrong = |why: String| Error::new("the state of a connection", why);
    let number = sequence(message).ok_or_else(|| wrong("a short message".into()))?;
    if let Some(answer) = Answer::from_bytes(message) {
        let none = answer.errno == libc::ENOENT;
        let error = io::Error::from_raw_os_error(answer.errno);
        return if none { Ok((number, None)) } else { Err(wrong(error.to_string())) };
    }
    let body = message.get(HEAD..).filter(|body| body.len() >= MESSAGE);
    match (kind(message), body) {
        // A connection before its handshake is over has no state yet.
        (Some(SOCK_DIAG_BY_FAMILY), Some(body)) if NOT_YET.contains(&body[1]) => Ok((number, None)),
        (Some(SOCK_DIAG_BY_FAMILY), Some(body)) => {
            let attribute = |wanted| attributes(&body[MESSAGE..]).find(|(kind, _)| *kind == wanted);
            let info = attribute(INFO);
            if info.is_none() && CLOSED.contains(&body[1]) {
                return Ok((number, None));
            }
            let info = info.ok_or_else(|| wrong("no struct tcp_info".into()))?;
            let memory = attribute(SKMEMINFO).map_or(&[][..], |(_, memory)| memory);
            Ok((number, Some(State { queues: &body[QUEUES], memory, info: info.1 })))
        }
        (other, _) => Err(wrong(format!("a message of type {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer in that state, with three attributes.
    fn message(state: u8, kind: u16) -> Vec<u8> {
        let mut body = vec![0; MESSAGE];
        body[1] = state;
        (body[56], body[60]) = (9, 8);
        let mut message = Message::new(SOCK_DIAG_BY_FAMILY, 0, &body);
        let message = message.attr(8, &[7]).attr(SKMEMINFO, &[5, 6, 7, 8]);
        message.attr(kind, &[1, 2, 3, 4]).finish(5).to_vec()
    }

    #[test]
    fn what_is_known_of_a_connection_comes_with_the_number_of_its_request() {
        let queues = &[9, 0, 0, 0, 8, 0, 0, 0];
        let state = State { queues, memory: &[5, 6, 7, 8], info: &[1, 2, 3, 4] };
        assert_eq!(answer(&message(1, INFO)), Ok((5, Some(state))));
        for state in NOT_YET {
            assert_eq!(answer(&message(state, INFO)), Ok((5, None)));
        }
        for state in CLOSED {
            assert!(answer(&message(state, INFO)).expect("a state").1.is_some());
            assert_eq!(answer(&message(state, 9)), Ok((5, None)));
        }
        assert!(answer(&message(1, 9)).is_err());
        assert!(answer(&message(1, INFO)[..60]).is_err());
    }

    #[test]
    fn a_connection_that_is_not_there_is_no_failure() {
        let failed = |errno: i32| {
            let mut message = Message::new(2, 0, &(-errno).to_ne_bytes());
            message.finish(6).to_vec()
        };
        assert_eq!(answer(&failed(libc::ENOENT)), Ok((6, None)));
        assert!(answer(&failed(libc::EPERM)).is_err());
    }

    #[test]
    fn a_request_names_both_ends() {
        let here = End { address: Ipv4Addr::new(10, 0, 0, 1), port: 258 };
        let there = End { address: Ipv4Addr::new(10, 0, 9, 2), port: 772 };
        let bytes = request(3, here, there);
        assert_eq!(bytes.len(), HEAD + 56);
        assert_eq!(bytes[HEAD + 8..HEAD + 16], [1, 2, 3, 4, 10, 0, 0, 1]);
        assert_eq!(bytes[HEAD + 28..HEAD + 32], [10, 0, 9, 2]);
    }
}
