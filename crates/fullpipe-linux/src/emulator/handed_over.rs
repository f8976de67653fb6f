//! The queues' sockets and the start of the run, which the guest sends.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// Parts of the guest's only message.
pub(super) struct HandedOver {
    /// Queue of packets as TCP hands them down, then the queue of single segments.
    pub(super) queues: [OwnedFd; 2],
    /// Start of the run, ns of CLOCK_MONOTONIC.
    pub(super) start: u64,
}

/// Waits for the message; none: the guest has ended before it.
pub(super) fn receive(socket: &UnixStream) -> io::Result<Option<HandedOver>> {
    let mut bytes = [0; 8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [io::IoSliceMut::new(&mut bytes)];
    let received = recvmsg(socket, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = ancillary.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(all) => all.collect(),
        _ => Vec::new(),
    });
    let whole = received.bytes == bytes.len();
    let queues = descriptors.next().zip(descriptors.next()).filter(|_| whole);
    let start = u64::from_ne_bytes(bytes);
    Ok(queues.map(|(one, other)| HandedOver { queues: [one, other], start }))
}
