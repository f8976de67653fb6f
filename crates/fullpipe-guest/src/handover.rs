//! Packets of the router wait for verdicts (NFQUEUE). The process that gives them gets the sockets for it, and the start of the
//! run, by a socket that it has left to the guest.

use std::io;
use std::os::fd::OwnedFd;

use fullpipe_guest::plan::{SEGMENTS_QUEUE, WHOLE_QUEUE};

use crate::error::{Context, Result};
use crate::namespaces::Namespace;
use crate::netlink::queue;
use crate::{run, sys};

/// Lets the forwarded packets of a router wait in queues, and hands the queues' sockets and the start of the run over.
pub fn hand_over(router: &mut Namespace) -> Result<()> {
    router.enter()?;
    queue::let_wait()?;
    let sockets = [queue::open(WHOLE_QUEUE)?, queue::open(SEGMENTS_QUEUE)?];
    send(&sockets).at(|| "handing the queues over")?;
    end_with_peer().at(|| "a watch on the process that gives verdicts")
}

fn send(sockets: &[OwnedFd; 2]) -> io::Result<()> {
    sys::send_descriptors(&sys::handed_down(), &run::start().to_ne_bytes(), sockets)
}

/// Ends the guest when the other process is gone.
fn end_with_peer() -> io::Result<()> {
    std::thread::Builder::new().stack_size(crate::namespaces::STACK).spawn(|| {
        let mut byte = [0];
        // Nothing is ever sent: the call returns at the other end's death.
        let _ = sys::receive(&sys::handed_down(), &mut byte);
        sys::power_off()
    })?;
    Ok(())
}
