//! Options and states of data sockets.

use crate::parameters::Parameters;
use fullpipe_observe::tcp_info::TcpInfo;
use rustix::net::sockopt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// State of a TCP socket; none where the kernel does not say.
pub(crate) fn state(socket: &impl AsRawFd) -> Option<TcpInfo> {
    /// Bytes of a `struct tcp_info` that is longer than any kernel's.
    const ROOM: usize = 512;
    let mut room = [0_u8; ROOM];
    let mut length = ROOM as libc::socklen_t;
    // SAFETY: the buffer has the length that is passed, and both outlive the call.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            room.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (failed == 0).then(|| TcpInfo::read(&[], &[], &room[..(length as usize).min(ROOM)]))
}

/// Options of a socket that does not listen or connect yet: those that its handshake shows.
pub(crate) fn before_handshake(socket: &impl AsFd, asked: &Parameters) -> io::Result<()> {
    if let Some(bytes) = asked.window {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        sockopt::set_socket_recv_buffer_size(socket, bytes)?;
        sockopt::set_socket_send_buffer_size(socket, bytes)?;
    }
    if let Some(bytes) = asked.mss {
        set_mss(&socket.as_fd(), bytes)?;
    }
    Ok(())
}

/// Options of a connected socket.
pub(crate) fn connected(socket: &impl AsFd, asked: &Parameters) -> io::Result<()> {
    if asked.nodelay {
        sockopt::set_tcp_nodelay(socket, true)?;
    }
    if let Some(tos) = asked.tos {
        sockopt::set_ip_tos(socket, tos)?;
    }
    Ok(())
}

/// Sizes of both buffers as the kernel counts them, bytes: send and receive.
pub(crate) fn buffers(socket: &impl AsFd) -> [u64; 2] {
    let size = |own: rustix::io::Result<usize>| own.map_or(0, |own| own as u64);
    [size(sockopt::socket_send_buffer_size(socket)), size(sockopt::socket_recv_buffer_size(socket))]
}

fn set_mss(socket: &impl AsRawFd, bytes: u32) -> io::Result<()> {
    let value = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    // SAFETY: the value is an int that outlives the call, and its length is passed.
    let failed = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_MAXSEG,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// CPU time of this process in the program and in the kernel, seconds.
pub(crate) fn cpu_time() -> [f64; 2] {
    // SAFETY: all zeros is a value of this struct, and getrusage fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    [usage.ru_utime, usage.ru_stime].map(|own| own.tv_sec as f64 + own.tv_usec as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connected_socket_shows_its_state_and_takes_options() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("open");
        let info = state(&client).expect("a state");
        assert!(info.snd_mss > 500 && info.snd_cwnd > 0, "{info:?}");
        assert_eq!(state(&std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket")), None);

        // The kernel doubles what is asked for.
        let asked = Parameters { window: Some(20_000), nodelay: true, ..Parameters::default() };
        before_handshake(&client, &asked).expect("options");
        connected(&client, &asked).expect("options");
        assert_eq!(buffers(&client), [40_000, 40_000]);
    }
}
