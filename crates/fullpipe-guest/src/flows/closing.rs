//! The end of a connection: its socket is closed as soon as the other side has all, as programs do it.
//!
//! With the close Linux forgets the connection's state, and keeps its metrics of the path for the next connection (6.12
//! `tcp_time_wait`, `tcp_update_metrics`). Samples keep showing the last state.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use fullpipe_guest::plan::Flow;
use fullpipe_guest::record::socket_head;

use crate::{run, sys};

// include/net/tcp_states.h
const ESTABLISHED: u8 = 1;
const FIN_WAIT1: u8 = 4;

/// Owner of a socket's state: the kind of its records ([`fullpipe_guest::record`]), and the flow.
pub type Kind = (u16, usize);

/// A state, and since when it is the last one, ns from the run's start.
type Last = (u64, Vec<u8>);

static LAST: Mutex<BTreeMap<Kind, Last>> = Mutex::new(BTreeMap::new());

/// Ends a connection after all is written, as `done` says: shuts the sending side down, waits until the other side has
/// acknowledged that, and closes the socket. Remembers the last state of the socket under `kinds`.
///
/// # Errors
/// The error of `done`, or the kernel has given the connection up. The socket stays open.
pub fn end(socket: OwnedFd, done: io::Result<()>, kinds: &[Kind]) -> io::Result<()> {
    match done.and_then(|()| acknowledged(&socket)) {
        Ok(info) => {
            remember(&socket, &info, kinds);
            Ok(())
        }
        Err(failed) => {
            std::mem::forget(socket);
            Err(failed)
        }
    }
}

/// Ends a receiver after all is read: in a loop the receiver shuts its side down, too. The socket stays open, so that
/// it can be sampled while the other end is there. For later samples its state is remembered under `kinds`.
///
/// # Errors
/// The kernel has given the connection up.
pub fn receiver(socket: &OwnedFd, flow: &Flow, kinds: &[Kind]) -> io::Result<()> {
    if !flow.is_followed {
        return Ok(());
    }
    sys::end_writing(socket)?;
    remember(socket, &sys::tcp_info(socket)?, kinds);
    Ok(())
}

/// Keeps a socket's state under `kinds` for samples after its end. Nothing is left to read or to be acknowledged.
fn remember(socket: &OwnedFd, info: &[u8], kinds: &[Kind]) {
    let memory = sys::memory(socket).unwrap_or_default();
    let body = [&socket_head(&[], &memory)[..], info].concat();
    let since = run::time();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    last.extend(kinds.iter().map(|kind| (*kind, (since, body.clone()))));
}

/// Body of a record of that time about a socket that was closed before.
pub fn last(kind: Kind, time_ns: u64) -> Option<Vec<u8>> {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    last.get(&kind).filter(|(since, _)| *since <= time_ns).map(|(_, body)| body.clone())
}

/// Shuts the sending side down and waits for the acknowledgement; returns `struct tcp_info` then.
fn acknowledged(socket: &OwnedFd) -> io::Result<Vec<u8>> {
    sys::end_writing(socket)?;
    let changes = sys::Changes::of(socket)?;
    loop {
        match changes.wait() {
            // A deadline that has not mattered.
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        sys::failure(socket)?;
        let info = sys::tcp_info(socket)?;
        if !info.first().is_some_and(|state| [ESTABLISHED, FIN_WAIT1].contains(state)) {
            return Ok(info);
        }
    }
}
