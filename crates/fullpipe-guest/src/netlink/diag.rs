//! TCP connections seen from outside (sock_diag): queues, memory and `struct tcp_info`, without the program's help.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

use fullpipe_observe::diag::{self, Reply, WITH_INFO, WITH_MEMORY, state};
use rustix::net::netlink;

use crate::error::{Context, Error, Result};
use crate::sys;

/// Address and port of an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub address: Ipv4Addr,
    pub port: u16,
}

impl From<End> for SocketAddr {
    fn from(end: End) -> SocketAddr {
        SocketAddr::new(end.address.into(), end.port)
    }
}

/// States of a connection that is not there yet.
const NOT_YET: [u8; 3] = [state::SYN_SENT, state::SYN_RECV, state::LISTEN];
/// States of a connection with a closed socket. It has no `struct tcp_info` any more.
const CLOSED: [u8; 2] = [state::FIN_WAIT2, state::TIME_WAIT];

/// A socket that asks about the connections of the caller's namespace.
pub fn open(number: u32) -> Result<OwnedFd> {
    sys::netlink_socket(Some(netlink::SOCK_DIAG), number).at(|| "socket of sock_diag")
}

/// Asks about one connection; the answer bears `number`.
pub fn request(number: u32, here: End, there: End) -> Vec<u8> {
    diag::one(number, here.into(), there.into(), WITH_INFO | WITH_MEMORY, None)
}

/// Number of the request that this answers, and the state; none before there is a connection, and after it.
pub fn answer(message: &[u8]) -> Result<(u32, Option<diag::Socket<'_>>)> {
    let wrong = |why: String| Err(Error::new("the state of a connection", why));
    let Some((number, reply)) = diag::reply(message) else {
        return wrong("a short message".into());
    };
    match reply {
        Reply::None => Ok((number, None)),
        // A connection before its handshake is over has no state yet.
        Reply::Socket(socket) if NOT_YET.contains(&socket.state) => Ok((number, None)),
        Reply::Socket(socket) if !socket.info.is_empty() => Ok((number, Some(socket))),
        Reply::Socket(socket) if CLOSED.contains(&socket.state) => Ok((number, None)),
        Reply::Socket(_) => wrong("no struct tcp_info".into()),
        Reply::Failed(error) => wrong(error.to_string()),
        Reply::Done => wrong("the end of a dump".into()),
        Reply::Other(kind) => wrong(format!("a message of type {kind:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::message::Message;

    /// Type of an answer about a socket, and the attribute with its state.
    const BY_FAMILY: u16 = 20;
    const INFO: u16 = 2;

    /// An answer about a socket in that state, with an attribute.
    fn message(state: u8, kind: u16) -> Vec<u8> {
        let mut body = vec![0; 72];
        body[1] = state;
        Message::new(BY_FAMILY, 0, &body).attr(kind, &[1, 2, 3, 4]).finish(5).to_vec()
    }

    #[test]
    fn a_connection_without_state_is_not_there_yet_or_is_over() {
        let known = |state, kind| answer(&message(state, kind)).expect("an answer").1.is_some();
        assert!(known(state::ESTABLISHED, INFO));
        for state in NOT_YET {
            assert!(!known(state, INFO));
        }
        for state in CLOSED {
            assert!(known(state, INFO));
            assert!(!known(state, 9));
        }
        assert!(answer(&message(state::ESTABLISHED, 9)).is_err());
        assert!(answer(&message(state::ESTABLISHED, INFO)[..60]).is_err());
    }
}
