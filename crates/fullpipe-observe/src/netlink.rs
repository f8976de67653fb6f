//! A socket of netlink: requests and answers of the kernel, in the network namespace of the thread that opens it.

use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send,
    socket_with,
};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Bytes of one read: a dump fills up to 32 KiB each.
const ROOM: usize = 64 << 10;
/// Longest wait for an answer. The kernel answers within a millisecond.
const PATIENCE: Duration = Duration::from_secs(5);

/// A socket of netlink.
pub struct Netlink {
    socket: OwnedFd,
    number: u32,
    room: Vec<u8>,
}

impl Netlink {
    /// For questions about sockets.
    ///
    /// # Errors
    /// The kernel has no `sock_diag`.
    pub fn of_sockets() -> io::Result<Netlink> {
        Netlink::open(Some(netlink::SOCK_DIAG))
    }

    /// For questions about devices, routes and queues.
    ///
    /// # Errors
    /// The socket cannot be opened.
    pub fn of_devices() -> io::Result<Netlink> {
        // NETLINK_ROUTE is the protocol 0.
        Netlink::open(None)
    }

    fn open(protocol: Option<Protocol>) -> io::Result<Netlink> {
        let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
        let socket = socket_with(family, SocketType::RAW, flags, protocol)?;
        bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        rustix::net::sockopt::set_socket_timeout(
            &socket,
            rustix::net::sockopt::Timeout::Recv,
            Some(PATIENCE),
        )?;
        Ok(Netlink { socket, number: 0, room: vec![0; ROOM] })
    }

    /// Sends the request that `make` makes with its number, which it returns.
    ///
    /// # Errors
    /// The request cannot be sent.
    pub fn ask(&mut self, make: impl FnOnce(u32) -> Vec<u8>) -> io::Result<u32> {
        self.number = self.number.wrapping_add(1).max(1);
        let message = make(self.number);
        send(&self.socket, &message, SendFlags::empty())?;
        Ok(self.number)
    }

    /// The bytes of the next answers.
    ///
    /// # Errors
    /// There is no answer in time, or it is too long.
    pub fn read(&mut self) -> io::Result<&[u8]> {
        loop {
            match recv(&self.socket, &mut self.room[..], RecvFlags::TRUNC) {
                Ok((_, length)) if length <= ROOM => return Ok(&self.room[..length]),
                Ok((_, length)) => return Err(io::Error::other(format!("{length} bytes at once"))),
                Err(rustix::io::Errno::INTR) => {}
                Err(why) => return Err(why.into()),
            }
        }
    }
}
