//! Reads arriving data.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use fullpipe_guest::plan::{Flow, Reader};
use fullpipe_guest::record::{ACCEPTED, FINISHED, RECEIVER};
use fullpipe_guest::refusal::Role;

use super::one_way::Arriving;
use super::{Ended, closing, ended, options, plain, set_buffer, set_congestion};
use crate::error::{Context, Result};
use crate::run::Event;
use crate::{layout, run, sys};

/// Most bytes that one read waits for.
const READ: u64 = 1 << 30;

/// Time that some readings of a guest's clock take, ns: a read of data that was there already began no later than it
/// was due.
const GAINED: u64 = 2;

/// Accepts the flow's connection and reads it to its end. The socket stays open, so that it can be sampled.
pub(super) fn run(index: usize, flow: &Flow) -> Result<Ended> {
    let socket = accept(index, flow)?;
    if flow.plain {
        return plain::read(socket).map(|()| Ended::Closed);
    }
    let mut arriving = Arriving::of(index, flow);
    let read = match (flow.reader, arriving.take_if(|_| flow.reader.is_none())) {
        (Some(reader), _) => read_at_rate(flow, reader, &socket, arriving),
        (None, Some(arriving)) => arriving.read_all(&socket, flow),
        (None, None) => read_at_once(flow, &socket),
    };
    let done = read.map(|bytes| run::remember(Event::now(index, FINISHED, bytes)));
    let done = done.and_then(|()| closing::receiver(&socket, flow, &[(RECEIVER, index)]));
    std::mem::forget(socket);
    ended(index, done)
}

/// Reads to the end; says how many bytes there were.
fn read_at_once(flow: &Flow, socket: &OwnedFd) -> io::Result<u64> {
    let mut read = 0;
    // The read that takes the last byte ends with it, not with the FIN.
    while flow.bytes.is_none_or(|bytes| read < bytes) {
        let most = flow.bytes.map_or(READ, |bytes| (bytes - read).min(READ));
        match discard(socket, flow, most as usize)? {
            0 => break,
            came => read += came as u64,
        }
    }
    Ok(read)
}

/// Throws away up to `bytes` of a flow's data; says how many, 0 at the end. One call waits for all of them, unless the program
/// sets TCP_QUICKACK after each read: then a read takes what is there.
pub(super) fn discard(socket: &OwnedFd, flow: &Flow, bytes: usize) -> io::Result<usize> {
    if flow.quickack.is_none() {
        return sys::discard(socket, bytes);
    }
    let came = sys::discard_some(socket, bytes)?;
    if came > 0 {
        set_quickack(socket, flow)?;
    }
    Ok(came)
}

/// Sets TCP_QUICKACK once more, where the program does so after each read.
fn set_quickack(socket: &OwnedFd, flow: &Flow) -> io::Result<()> {
    let set = |on| sys::set_number(socket, libc::IPPROTO_TCP, libc::TCP_QUICKACK, on);
    flow.quickack.map_or(Ok(()), set)
}

/// Reads what has arrived, at the reader's rate: each read waits for the time that the previous one takes at this rate.
/// The last read has no time after it.
fn read_at_rate(
    flow: &Flow,
    reader: Reader,
    socket: &OwnedFd,
    mut arriving: Option<Arriving>,
) -> io::Result<u64> {
    let (mut read, mut due) = (0, 0);
    while flow.bytes.is_none_or(|bytes| read < bytes) {
        sys::sleep_until(due);
        let came = match sys::discard_some(socket, reader.read as usize)? {
            0 => break,
            came => came as u64,
        };
        read += came;
        set_quickack(socket, flow)?;
        if let Some(arriving) = &mut arriving {
            arriving.read(read);
        }

        // A read counts as of its due time unless it was late, so small delays do not add up.
        let pace = (u128::from(came) * 8_000_000_000).div_ceil(u128::from(reader.rate.max(1)));
        let read_at = Some(sys::now()).filter(|now| now - due.min(*now) > GAINED).unwrap_or(due);
        due = read_at.saturating_add(u64::try_from(pace).unwrap_or(u64::MAX));
    }
    Ok(read)
}

fn accept(index: usize, flow: &Flow) -> Result<OwnedFd> {
    let listener = listener(index, flow)?;
    // A connection with an algorithm that needs ECN gets ECN only where the listener has that algorithm too
    // (tcp_ca_needs_ecn).
    set_congestion(&listener, index, &flow.congestion)?;
    accept_at(&listener, index, flow)
}

/// A socket that will listen, with the options of sockets that receive a flow's data.
pub(super) fn listener(index: usize, flow: &Flow) -> Result<OwnedFd> {
    let listener = sys::tcp_socket().at(|| "socket")?;
    set(&listener, index, flow)?;
    Ok(listener)
}

/// Sets the options of a socket that receives a flow's data. An accepted socket inherits them from the listener, in
/// time for the window scale of the SYN-ACK.
pub(super) fn set(socket: &OwnedFd, index: usize, flow: &Flow) -> Result<()> {
    set_buffer(socket, libc::SO_RCVBUFFORCE, flow.rcvbuf)?;
    options::set_all(socket, index, Role::Receiver, &flow.receiver_options)
}

/// Waits for the flow's connection.
pub(super) fn accept_at(listener: &OwnedFd, index: usize, flow: &Flow) -> Result<OwnedFd> {
    let port = layout::receiver_port(index);
    sys::bind(listener, Ipv4Addr::UNSPECIFIED, port).at(|| format!("bind to port {port}"))?;
    sys::listen(listener).at(|| "listen")?;
    let socket = sys::accept(listener).at(|| "accept")?;
    // Not all of them are handed on from the listener.
    options::set_all(&socket, index, Role::Receiver, &flow.receiver_options)?;
    run::remember(Event::now(index, ACCEPTED, 0));
    Ok(socket)
}
