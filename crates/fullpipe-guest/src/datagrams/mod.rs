//! Datagrams of UDP: a thread that writes them at a pace, and one that reads them.
//!
//! A datagram bears its number and when it was written (8 bytes each, in the machine's byte order), then zeros.
//!
//! Limits:
//! - The socket's drops are read when its program reads, and at the end of the run.

mod count;

use std::os::fd::OwnedFd;

use fullpipe_base::received::Received;
use fullpipe_guest::plan::{DATAGRAM, Datagrams, Plan};
use rustix::io::Errno;
use rustix::net::SocketType;

pub use count::record;

use crate::error::{Context, Result};
use crate::layout;
use crate::namespaces::Namespace;
use crate::netlink::diag::End;
use crate::{run, sys, turns};
use count::{READER, SENDER};

/// SO_SNDBUF of a program that sends: it never waits for room.
const SNDBUF: i32 = 1 << 29;
/// Number of the drops in the memory of a socket (SK_MEMINFO_DROPS).
const DROPS: usize = 8;
/// Time that a reading of a guest's clock takes, ns: a read of data that was there already began no later than it was
/// due.
const GAINED: u64 = 2;

/// Starts the threads of all datagrams, at the hosts `left` and `right`. Readers have their sockets before anything is sent.
pub fn start(plan: &Plan, left: &Namespace, right: &Namespace) -> Result<()> {
    count::open(plan);
    for (index, own) in plan.datagrams.iter().enumerate() {
        let [from, to] = layout::ends_of_datagrams(plan, index);
        let (here, there) = if own.backward { (right, left) } else { (left, right) };

        there.enter()?;
        let socket = receiving_socket(own, to)?;
        count::watch(index, &socket)?;
        let (reads, name) = (own.clone(), format!("reader of datagrams {index}"));
        turns::spawn(name, &there.fd, move || Reading::new(index, reads, socket).run())?;

        let (sends, name) = (own.clone(), format!("sender of datagrams {index}"));
        turns::spawn(name, &here.fd, move || send(index, &sends, from, to))?;
    }
    Ok(())
}

/// A socket that receives datagrams at that end.
fn receiving_socket(own: &Datagrams, here: End) -> Result<OwnedFd> {
    let socket = sys::socket(SocketType::DGRAM).at(|| "socket")?;
    if let Some(bytes) = own.rcvbuf {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        let (level, option) = (libc::SOL_SOCKET, libc::SO_RCVBUFFORCE);
        sys::set_number(&socket, level, option, bytes).at(|| format!("a buffer of {bytes}"))?;
    }
    // Of a socket that waits, poll(2) takes the receive queue over.
    sys::never_wait(&socket).at(|| "FIONBIO")?;
    sys::bind(&socket, here.address, here.port).at(|| format!("bind to port {}", here.port))?;
    Ok(socket)
}

/// Writes the datagrams, each when it is due.
fn send(index: usize, own: &Datagrams, from: End, to: End) -> Result<()> {
    let socket = sys::socket(SocketType::DGRAM).at(|| "socket")?;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_SNDBUFFORCE);
    sys::set_number(&socket, level, option, SNDBUF).at(|| "SO_SNDBUF")?;
    // Without it a full qdisc refuses a datagram silently (udp_send_skb).
    sys::set_number(&socket, libc::IPPROTO_IP, libc::IP_RECVERR, 1).at(|| "IP_RECVERR")?;
    sys::bind(&socket, from.address, from.port).at(|| format!("bind to port {}", from.port))?;
    sys::connect(&socket, to.address, to.port).at(|| "connect")?;

    let mut datagram = vec![0; own.size as usize];
    let (mut number, mut refused) = (0, 0);
    while let Some(due) = own.due_ns(number) {
        sys::sleep_until(run::start() + due);
        let written = run::time();
        datagram[..8].copy_from_slice(&number.to_ne_bytes());
        datagram[8..DATAGRAM as usize].copy_from_slice(&written.to_ne_bytes());

        // ENOBUFS means that the qdisc has dropped the datagram.
        match sys::send(&socket, &datagram) {
            Ok(_) => {}
            Err(failed) if failed.raw_os_error() == Some(Errno::NOBUFS.raw_os_error()) => {
                refused += 1;
            }
            Err(failed) => return Err(failed).at(|| "send"),
        }
        number += 1;
        count::take(SENDER, index, run::time(), &[number, refused]);
    }
    Ok(())
}

/// A program that reads datagrams.
struct Reading {
    index: usize,
    own: Datagrams,
    socket: OwnedFd,
    received: Received,
    /// Buffer of a read.
    buffer: Vec<u8>,
}

impl Reading {
    fn new(index: usize, own: Datagrams, socket: OwnedFd) -> Reading {
        let buffer = vec![0; own.size as usize];
        Reading { index, own, socket, received: Received::default(), buffer }
    }

    /// Reads until the run ends.
    fn run(mut self) -> Result<()> {
        let reader = self.own.reader.unwrap_or_default();
        let start = run::start() + self.own.start_ns;
        let mut due = 0;
        loop {
            sys::sleep_until(due);
            let pause = reader.pause_ns(due.max(start) - start);
            if pause > 0 {
                due = due.max(start) + pause;
                continue;
            }
            match sys::receive_now(&self.socket, &mut self.buffer).at(|| "receive")? {
                Some(bytes) => {
                    let now = sys::now();
                    // A read counts as of its due time unless it was late, so small delays do not add up.
                    let read_at = if now - due.min(now) > GAINED { now } else { due };
                    self.take(bytes);
                    due = read_at + reader.work_ns(self.own.size);
                }
                None => {
                    sys::wait_to_receive(&self.socket).at(|| "poll")?;
                    due = sys::now();
                }
            }
        }
    }

    /// Takes the datagram in the buffer.
    fn take(&mut self, bytes: usize) {
        let now = run::time();
        let word = |at: usize| {
            let word = self.buffer[..bytes].get(at..at + 8).and_then(|word| word.try_into().ok());
            word.map_or(0, u64::from_ne_bytes)
        };
        let (number, written) = (word(0), word(8));
        self.received.take(number, now.saturating_sub(written));
        let of = &self.received;
        let counts = [of.datagrams, of.lost(), of.reordered, of.duplicates, of.jitter_ns()];
        count::take(READER, self.index, now, &counts);
    }
}

/// Datagrams that a socket has dropped, as it had no room for them.
fn drops(socket: &OwnedFd) -> Option<u64> {
    let memory = sys::memory(socket).ok()?;
    let word = memory.get(DROPS * 4..DROPS * 4 + 4)?.try_into().ok()?;
    Some(u32::from_ne_bytes(word).into())
}
