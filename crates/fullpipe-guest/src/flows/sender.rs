//! Writes.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;

use fullpipe_guest::plan::Flow;
use fullpipe_guest::record::{BEGAN, ESTABLISHED, SENDER};
use fullpipe_guest::refusal::Role;

use super::{Ended, closing, ended, one_way, options, plain, set_buffer, set_congestion};
use crate::batch::Writes;
use crate::error::{Context, Result};
use crate::netlink::diag::End;
use crate::run::Event;
use crate::{run, sys};

/// Bytes of one system call, in writes of the requested size.
const CALL: usize = 4 << 20;
/// Most messages of one call (UIO_MAXIOV).
const MOST_WRITES: usize = 1024;
/// Largest write that is made as one. A larger one fills any buffer on the way, so that TCP is given the same
/// bytes at the same times if it is cut.
pub(super) const LARGEST: usize = 16 << 20;

/// Connects when it is time, writes, says that it is done, and closes the connection.
pub(super) fn run(index: usize, flow: &Flow, [here, there]: [End; 2]) -> Result<Ended> {
    let socket = socket(index, flow, here)?;
    wait_for_start(&[index], flow);
    let connected = connect(index, flow, &socket, there);
    if flow.plain {
        connected.at(|| "connect").and_then(|()| plain::write(socket))?;
        return Ok(Ended::Closed);
    }
    let done = connected.and_then(|()| match flow.messages {
        Some(_) => one_way::write(index, flow, &socket),
        None => write(flow, &socket),
    });
    ended(index, closing::end(socket, done, &[(SENDER, index)]))
}

/// Waits until a flow begins; in a loop that is an event of the flows `of` its connection.
pub(super) fn wait_for_start(of: &[usize], flow: &Flow) {
    sys::sleep_until(run::start() + flow.start_ns);
    if flow.after.is_some() {
        of.iter().for_each(|&index| run::remember(Event::now(index, BEGAN, 0)));
    }
}

/// A socket that sends a flow's data from `here`.
pub(super) fn socket(index: usize, flow: &Flow, here: End) -> Result<OwnedFd> {
    let socket = sys::tcp_socket().at(|| "socket")?;
    set(&socket, index, flow)?;
    sys::bind(&socket, here.address, here.port).at(|| format!("bind to port {}", here.port))?;
    Ok(socket)
}

/// Sets the options of a socket that sends a flow's data.
pub(super) fn set(socket: &OwnedFd, index: usize, flow: &Flow) -> Result<()> {
    set_congestion(socket, index, &flow.congestion)?;
    set_buffer(socket, libc::SO_SNDBUFFORCE, flow.sndbuf)?;
    options::set_all(socket, index, Role::Sender, &flow.sender_options)
}

/// Connects, and says so.
pub(super) fn connect(index: usize, flow: &Flow, socket: &OwnedFd, there: End) -> io::Result<()> {
    sys::connect(socket, there.address, there.port)?;
    let value = run::time().saturating_sub(flow.start_ns);
    remember_connection(index, socket, value)
}

/// Records that a flow's sending socket is connected, after so many ns.
pub(super) fn remember_connection(index: usize, socket: &OwnedFd, value: u64) -> io::Result<()> {
    let time_ns = run::time();
    let more = [&syns_again(socket)?.to_ne_bytes()[..], &super::congestion(socket)?].concat();
    run::remember(Event { time_ns, flow: index, number: ESTABLISHED, value, more });
    Ok(())
}

/// tcpi_total_retrans (include/uapi/linux/tcp.h).
fn syns_again(socket: &OwnedFd) -> io::Result<u64> {
    const AT: usize = 100;
    let info = sys::tcp_info(socket)?;
    let field = info.get(AT..AT + 4).and_then(|field| field.try_into().ok());
    let field = field.ok_or_else(|| io::Error::other("struct tcp_info is too short"))?;
    Ok(u32::from_ne_bytes(field).into())
}

/// Writes all.
fn write(flow: &Flow, socket: &OwnedFd) -> io::Result<()> {
    let mut writer = Writer::new(socket, flow);
    match flow.rate {
        Some(rate) => writer.paced(rate),
        None => writer.bulk(),
    }
}

/// Writer of a flow's data.
struct Writer<'a> {
    socket: &'a OwnedFd,
    writes: Writes,
    /// Bytes of one write.
    size: u64,
    /// Bytes still to write.
    left: u64,
    /// When it stops, ns of CLOCK_MONOTONIC.
    deadline: Option<u64>,
}

impl Writer<'_> {
    fn new<'a>(socket: &'a OwnedFd, flow: &Flow) -> Writer<'a> {
        let size = (flow.write as usize).clamp(1, LARGEST);
        Writer {
            socket,
            writes: Writes::new(size, (CALL / size).clamp(1, MOST_WRITES)),
            size: size as u64,
            left: flow.bytes.unwrap_or(u64::MAX),
            deadline: flow.duration_ns.map(|duration| run::start() + flow.start_ns + duration),
        }
    }

    fn late(&self) -> bool {
        self.deadline.is_some_and(|deadline| sys::now() >= deadline)
    }

    /// Writes `bytes` (one write or less) to the end, however long that takes.
    fn write(&mut self, bytes: u64) -> io::Result<()> {
        let mut rest = bytes as usize;
        while rest > 0 {
            match sys::send(self.socket, &self.writes.zeros()[..rest]) {
                Ok(sent) => rest -= sent,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.left -= bytes;
        Ok(())
    }

    /// Writes as much as the buffer takes.
    fn bulk(&mut self) -> io::Result<()> {
        if self.late() {
            return Ok(());
        }

        // The deadline interrupts a write that waits for room in the buffer (EINTR). The thread may serve later connections.
        let _interruption = self.deadline.map(sys::interrupt_at).transpose()?;
        while self.left >= self.size {
            let whole = usize::try_from(self.left / self.size).unwrap_or(usize::MAX);
            match self.writes.send(self.socket, whole) {
                Ok(sent) => {
                    self.left -= sent as u64;
                    let cut = sent as u64 % self.size;
                    if cut > 0 || self.late() {
                        return self.last_write(cut);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => return self.last_write(0),
                Err(error) => return Err(error),
            }
        }
        self.write(self.left)
    }

    /// Ends the write of which `done` bytes are taken, because the time is up. A program without a timer is within a
    /// write at that moment, since time passes nowhere else; it stops after it.
    fn last_write(&mut self, done: u64) -> io::Result<()> {
        let rest = (self.size - done).min(self.left);
        self.write(rest)
    }

    /// Writes at a rate, one write at a time. Time lost waiting for the buffer is not made up for.
    fn paced(&mut self, rate: u64) -> io::Result<()> {
        let pace = (u128::from(self.size) * 8_000_000_000).div_ceil(u128::from(rate.max(1)));
        let mut next = sys::now();
        while self.left > 0 {
            sys::sleep_until(self.deadline.map_or(next, |deadline| next.min(deadline)));
            if self.late() {
                break;
            }
            self.write(self.size.min(self.left))?;
            next = sys::now().max(next.saturating_add(pace as u64));
        }
        Ok(())
    }
}
