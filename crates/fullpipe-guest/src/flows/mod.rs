//! Flows: for each a thread that writes and one that reads; of a flow and its answer, one at each end.

pub mod closing;
mod dialogue;
mod one_way;
mod options;
mod plain;
mod programs;
mod receiver;
mod sender;

use std::io;
use std::os::fd::OwnedFd;

use dialogue::Dialogue;
use fullpipe_guest::plan::Plan;
use fullpipe_guest::record::{ABORTED, CONGESTION_SIZE};
use fullpipe_guest::refusal::Asked;

use crate::error::{Context, Result, granted};
use crate::namespaces::Namespace;
use crate::run::Event;
use crate::{run, sys, turns};

/// Errors of calls on a connection that the kernel has given up.
const GIVEN_UP: [i32; 4] = [libc::ETIMEDOUT, libc::ECONNRESET, libc::EPIPE, libc::EHOSTUNREACH];

/// End of a connection for one of its programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// All was written and acknowledged, or read.
    Closed,
    /// The kernel gave it up.
    GivenUp,
}

/// Starts the threads of all flows, at the hosts `left` and `right`. Receivers listen, and senders wait for their time.
pub fn start(plan: &Plan, left: &Namespace, right: &Namespace) -> Result<()> {
    let mut programs = programs::of(plan);
    for (index, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| flow.answers.is_none()) {
        let (from, to) = if flow.backward { (right, left) } else { (left, right) };
        match Dialogue::of(plan, index) {
            Some(of) => {
                let answer = move || of.answer().map(drop);
                turns::spawn(format!("answer to flow {index}"), &to.fd, answer)?;
            }
            None => {
                let received = flow.clone();
                turns::spawn(format!("receiver of flow {index}"), &to.fd, move || {
                    receiver::run(index, &received).map(drop)
                })?;
            }
        }
        if let Some(program) = programs.remove(&index) {
            turns::spawn(format!("sender of flow {index}"), &from.fd, || program.run())?;
        }
    }
    Ok(())
}

/// End of a connection, by the result of its reads and writes. A connection that the kernel has given up is an event of
/// the flow; the run goes on, and so do its other flows.
fn ended(index: usize, done: io::Result<()>) -> Result<Ended> {
    let Err(failed) = done else { return Ok(Ended::Closed) };
    match failed.raw_os_error().filter(|errno| GIVEN_UP.contains(errno)) {
        Some(errno) => {
            run::remember(Event::now(index, ABORTED, errno as u64));
            Ok(Ended::GivenUp)
        }
        None => Err(failed).at(|| "connection"),
    }
}

/// Sets TCP_CONGESTION of a flow's socket.
fn set_congestion(socket: &OwnedFd, flow: usize, name: &str) -> Result<()> {
    let (level, option) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
    granted(sys::set_option(socket, level, option, name.as_bytes()), || Asked::Congestion {
        flow,
        name: name.into(),
    })
}

/// The congestion control that a socket has, as the kernel says.
fn congestion(socket: &OwnedFd) -> io::Result<[u8; CONGESTION_SIZE]> {
    let mut name = [0; CONGESTION_SIZE];
    sys::option(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &mut name)?;
    Ok(name)
}

/// Sets SO_SNDBUF or SO_RCVBUF, by the option that is not bounded by `wmem_max` and `rmem_max`. The kernel
/// bounds it by 2^30 - 1 and doubles it.
fn set_buffer(socket: &OwnedFd, option: i32, bytes: Option<u64>) -> Result<()> {
    let Some(bytes) = bytes else { return Ok(()) };
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    sys::set_number(socket, libc::SOL_SOCKET, option, bytes).at(|| format!("a buffer of {bytes}"))
}
