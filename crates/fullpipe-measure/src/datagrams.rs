//! Streams of UDP: greetings of both ends, and the loops of their threads.

use crate::arrivals::{Arrivals, HEADER, stamp};
use crate::control::{SLICE, is_again, ready};
use crate::data::{Load, Shared, block, early, fail, grant};
use crate::parameters::LARGEST_DATAGRAM;
use rustix::event::PollFlags;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of the client's greeting, and of the answer, as iperf3 3.12 and later send them.
const HELLO: [u8; 4] = [0x39, 0x38, 0x37, 0x36];
const REPLY: [u8; 4] = [0x36, 0x37, 0x38, 0x39];
/// Room for any datagram, bytes.
const ROOM: usize = LARGEST_DATAGRAM as usize;
/// Longest wait for the answer to a greeting.
const GREETS: Duration = Duration::from_secs(30);

/// A socket at that port which shares it with the streams there.
pub(crate) fn bind(peer: IpAddr, port: u16) -> io::Result<UdpSocket> {
    let (family, any): (_, IpAddr) = match peer {
        IpAddr::V4(_) => (AddressFamily::INET, Ipv4Addr::UNSPECIFIED.into()),
        IpAddr::V6(_) => (AddressFamily::INET6, Ipv6Addr::UNSPECIFIED.into()),
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::DGRAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    rustix::net::bind(&socket, &SocketAddr::new(any, port))?;
    Ok(UdpSocket::from(socket))
}

/// Takes the greeting of a stream from that host, where one is there, and ties the socket to it.
pub(crate) fn welcome(socket: &UdpSocket, peer: IpAddr) -> io::Result<bool> {
    let mut room = [0; ROOM];
    match socket.recv_from(&mut room) {
        Ok((_, from)) if from.ip().to_canonical() == peer => {
            socket.connect(from)?;
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(why) if is_again(&why) => Ok(false),
        Err(why) => Err(why),
    }
}

/// Answers a greeting: the client opens its next stream then.
pub(crate) fn answer(socket: &UdpSocket) -> io::Result<()> {
    socket.send(&REPLY).map(|_| ())
}

/// Opens a stream to a server, and waits for its answer.
pub(crate) fn greet(peer: SocketAddr, go_on: &mut dyn FnMut() -> bool) -> io::Result<UdpSocket> {
    let any: IpAddr = match peer {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(peer)?;
    socket.set_nonblocking(true)?;
    socket.send(&HELLO)?;

    // Data may overtake the answer: it is longer.
    let begun = Instant::now();
    let mut room = [0; ROOM];
    while go_on() && begun.elapsed() < GREETS {
        match socket.recv(&mut room) {
            Ok(length) if length == REPLY.len() => return Ok(socket),
            Ok(_) => {}
            Err(why) if is_again(&why) => ready(&socket, PollFlags::IN, SLICE),
            Err(why) => return Err(why),
        }
    }
    let text = "no answer to the first datagram: a firewall on the way may drop UDP";
    Err(io::Error::new(io::ErrorKind::TimedOut, text))
}

/// Sends datagrams until it is stopped.
pub(crate) fn send(socket: &UdpSocket, shared: &Shared, load: &Load, begun: Instant) {
    let mut block = block(load.block.max(HEADER));
    let (mut number, mut sent) = (0, 0_u64);
    while !shared.stop.load(SeqCst) {
        if let Some(wait) = load.rate.and_then(|rate| early(sent, rate, begun.elapsed())) {
            thread::sleep(wait.min(SLICE));
            continue;
        }
        let wanted = block.len() as u64;
        if load.budget.as_ref().is_some_and(|own| grant(own, wanted) == 0) {
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        number += 1;
        stamp(&mut block, begun.elapsed(), number, load.wide);
        while !shared.stop.load(SeqCst) {
            match socket.send(&block) {
                Ok(length) => {
                    sent += length as u64;
                    count(shared, |own| own.packets = number);
                    shared.bytes.store(sent, SeqCst);
                    break;
                }
                Err(why) if is_again(&why) => ready(socket, PollFlags::OUT, SLICE),
                // The queue of the card is full (ENOBUFS).
                Err(why) if why.raw_os_error() == Some(libc::ENOBUFS) => thread::yield_now(),
                Err(why) => return fail(shared, &why),
            }
        }
    }
}

/// Receives datagrams until it is stopped.
pub(crate) fn receive(socket: &UdpSocket, shared: &Shared, wide: bool, begun: Instant) {
    let mut room = vec![0; ROOM];
    let mut arrivals = Arrivals::new(wide);
    while !shared.stop.load(SeqCst) {
        match socket.recv(&mut room) {
            // A greeting or its answer is no data.
            Ok(length) if length <= HELLO.len() => {}
            Ok(length) => {
                let now = begun.elapsed();
                arrivals.take(&room[..length], now);
                count(shared, |own| *own = arrivals.counts());
                shared.take(length, now);
            }
            Err(why) if is_again(&why) => ready(socket, PollFlags::IN, SLICE),
            Err(why) => return fail(shared, &why),
        }
    }
}

fn count(shared: &Shared, change: impl FnOnce(&mut crate::account::Datagrams)) {
    change(&mut shared.datagrams.lock().unwrap_or_else(PoisonError::into_inner));
}
