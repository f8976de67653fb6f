//! Connections of a network namespace: all of them, or one.

use crate::diag::{self, Reply, Socket, WITH_CONGESTION, WITH_INFO, WITH_MEMORY, state};
use crate::netlink::Netlink;
use crate::tcp_info::TcpInfo;
use crate::unable::Unable;
use std::io;
use std::net::SocketAddr;

/// Attributes that each answer brings.
const WITH: u8 = WITH_INFO | WITH_CONGESTION | WITH_MEMORY;
/// States of a connection that carries data, or is to carry some, a bit each: ESTABLISHED, SYN_SENT, FIN_WAIT1, CLOSE_WAIT,
/// LAST_ACK, CLOSING.
const CONNECTED: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 9 | 1 << 11;

/// A connection at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Own end.
    pub here: SocketAddr,
    /// The other end.
    pub there: SocketAddr,
    /// Number that no other socket of this kernel has had.
    pub cookie: [u8; 8],
    /// Inode of the socket.
    pub inode: u32,
    /// Congestion control.
    pub congestion: String,
    /// State of the socket.
    pub info: TcpInfo,
}

impl Connection {
    /// Whether its handshake has not been answered yet.
    pub fn is_connecting(&self) -> bool {
        self.info.state == state::SYN_SENT
    }

    fn of(socket: &Socket<'_>) -> Option<Connection> {
        // A socket in TIME_WAIT has no state any more.
        (!socket.info.is_empty()).then(|| Connection {
            here: socket.here,
            there: socket.there,
            cookie: socket.cookie,
            inode: socket.inode,
            congestion: socket.congestion.into(),
            info: TcpInfo::read(socket.queues, socket.memory, socket.info),
        })
    }
}

/// The connections of the namespace in which this was opened.
pub struct Sockets {
    netlink: Netlink,
}

impl Sockets {
    /// The connections of the calling thread's namespace.
    ///
    /// # Errors
    /// The kernel does not show sockets.
    pub fn open() -> Result<Sockets, Unable> {
        let netlink = Netlink::of_sockets().map_err(|why| Unable::without_diag(&why))?;
        Ok(Sockets { netlink })
    }

    /// All connections that carry data or wait for their handshake, of both families.
    ///
    /// The kernel walks its whole table. A connection that moves in it meanwhile may be missing.
    ///
    /// # Errors
    /// The kernel does not show TCP's sockets.
    pub fn all(&mut self) -> Result<Vec<Connection>, Unable> {
        let mut found: Vec<Connection> = Vec::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            let asked = self.netlink.ask(|number| diag::all(number, family as u8, WITH, CONNECTED));
            let number = asked.map_err(Unable::to("asking for all sockets"))?;
            self.dumped(number, &mut found)?;
        }

        // A dump may show a socket twice.
        found.sort_by_key(|own| own.cookie);
        found.dedup_by_key(|own| own.cookie);
        Ok(found)
    }

    /// Reads the answers of a dump.
    fn dumped(&mut self, number: u32, found: &mut Vec<Connection>) -> Result<(), Unable> {
        loop {
            let bytes = self.netlink.read().map_err(Unable::to("reading all sockets"))?;
            for message in diag::messages(bytes) {
                match diag::reply(message) {
                    Some((own, _)) if own != number => {}
                    Some((_, Reply::Socket(socket))) => found.extend(Connection::of(&socket)),
                    Some((_, Reply::Done)) => return Ok(()),
                    // The kernel has no handler for this protocol.
                    Some((_, Reply::None)) => {
                        let missing = io::Error::from_raw_os_error(libc::ENOENT);
                        return Err(Unable::without_diag(&missing));
                    }
                    Some((_, Reply::Failed(why))) => {
                        return Err(Unable::new("all sockets", why));
                    }
                    Some((_, Reply::Other(_))) | None => {}
                }
            }
        }
    }

    /// The connection with these ends and this cookie; none where it is over.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn one(&mut self, own: &Connection) -> Result<Option<Connection>, Unable> {
        let (here, there, cookie) = (own.here, own.there, own.cookie);
        let asked = self.netlink.ask(|number| diag::one(number, here, there, WITH, Some(cookie)));
        let number = asked.map_err(Unable::to("asking for a socket"))?;
        loop {
            let bytes = self.netlink.read().map_err(Unable::to("reading a socket"))?;
            for message in diag::messages(bytes) {
                match diag::reply(message) {
                    Some((own, Reply::Socket(socket))) if own == number => {
                        let live = socket.state != state::CLOSE;
                        return Ok(Connection::of(&socket).filter(|_| live));
                    }
                    Some((own, Reply::None)) if own == number => return Ok(None),
                    Some((own, Reply::Failed(why))) if own == number => {
                        return Err(Unable::new("a socket", why));
                    }
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    /// A connection to a listener at `address`, and both of its sockets.
    fn connected(address: &str) -> Option<(TcpStream, TcpStream)> {
        let listener = TcpListener::bind(address).ok()?;
        let client = TcpStream::connect(listener.local_addr().ok()?).ok()?;
        Some((client, listener.accept().ok()?.0))
    }

    #[test]
    fn both_families_are_found_and_followed() {
        let Ok(mut sockets) = Sockets::open() else { return eprintln!("skipped: no sock_diag") };
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Some((mut client, server)) = connected(address) else {
                eprintln!("skipped: {address}");
                continue;
            };
            let (here, there) =
                (client.local_addr().expect("own end"), client.peer_addr().expect("other end"));
            let all = sockets.all().expect("sockets");
            let found = all.iter().find(|own| own.here == here && own.there == there);
            let found = found.expect("the connection").clone();
            assert!(!found.congestion.is_empty() && found.info.snd_mss > 0, "{found:?}");

            client.write_all(&[7; 1000]).expect("written");
            let later = sockets.one(&found).expect("an answer").expect("the connection");
            assert_eq!(later.info.bytes_sent - found.info.bytes_sent, 1000);
            let other = Connection { cookie: [9; 8], ..found.clone() };
            assert_eq!(sockets.one(&other).expect("an answer"), None, "another cookie");
            drop((client, server));
            assert_eq!(sockets.one(&found).expect("an answer"), None, "a closed socket");
        }
    }

    #[test]
    fn ipv4_through_a_dual_stack_listener_is_found() {
        let Ok(mut sockets) = Sockets::open() else { return eprintln!("skipped: no sock_diag") };
        let Ok(listener) = TcpListener::bind("[::]:0") else { return eprintln!("skipped: IPv6") };
        let port = listener.local_addr().expect("an address").port();
        let client = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let server = listener.accept().expect("the connection").0;
        let all = sockets.all().expect("sockets");
        let there = client.local_addr().expect("an address");
        let found = all.iter().find(|own| own.there == there).expect("the accepted socket");
        assert!(found.here.is_ipv4(), "{found:?}");
        assert!(sockets.one(found).expect("an answer").is_some());
        drop(server);
    }
}
