//! Packets and verdicts as netlink messages (linux/netfilter/nfnetlink_queue.h).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use fullpipe_guest::plan::SEEN_BYTES;

/// Packets of one read.
const AT_ONCE: usize = 64;
/// Room for one packet's message, bytes.
const ROOM: usize = 512;
/// Length of a verdict, bytes: two heads, the attribute with the verdict and the packet's number.
const VERDICT: usize = 32;
/// Verdicts that are sent at once.
const MOST_VERDICTS: usize = 64;

/// Fate of a packet in the kernel's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Drop,
    Accept,
    /// The packet goes into the queue of that number; a queue without GSO splits it there.
    Requeue(u16),
}

impl Verdict {
    /// Number of the verdict, as linux/netfilter.h has it.
    fn number(self) -> u32 {
        match self {
            Verdict::Drop => 0,
            Verdict::Accept => 1,
            Verdict::Requeue(queue) => 3 | u32::from(queue) << 16,
        }
    }
}

/// A packet that waits in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    /// Its number in the queue.
    pub(super) id: u32,
    /// Number of the device by which it came.
    pub(super) device: u32,
    /// Its first bytes, from the IP header on.
    pub(super) bytes: &'a [u8],
}

/// A queue of the kernel.
pub(super) struct Queue {
    socket: OwnedFd,
    number: u16,
    buffer: Vec<u8>,
    lengths: [usize; AT_ONCE],
    verdicts: Vec<u8>,
}

impl Queue {
    pub(super) fn new(socket: OwnedFd, number: u16) -> Queue {
        Queue {
            socket,
            number,
            buffer: vec![0; AT_ONCE * ROOM],
            lengths: [0; AT_ONCE],
            verdicts: Vec::with_capacity(MOST_VERDICTS * VERDICT),
        }
    }

    /// Descriptor to wait on.
    pub(super) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Reads packets that are there, and returns their number.
    ///
    /// # Errors
    /// ENOBUFS: the kernel lost packets, for this process is too slow.
    pub(super) fn read(&mut self) -> io::Result<usize> {
        // SAFETY: all zero is a value of this structure.
        let mut heads: [libc::mmsghdr; AT_ONCE] = unsafe { std::mem::zeroed() };
        let mut parts: [libc::iovec; AT_ONCE] = unsafe { std::mem::zeroed() };
        for (number, (head, part)) in heads.iter_mut().zip(&mut parts).enumerate() {
            part.iov_base = self.buffer[number * ROOM..].as_mut_ptr().cast();
            part.iov_len = ROOM;
            head.msg_hdr.msg_iov = part;
            head.msg_hdr.msg_iovlen = 1;
        }
        // SAFETY: each head points to one part, and each part to ROOM bytes of the buffer.
        let count = unsafe {
            libc::recvmmsg(
                self.socket.as_raw_fd(),
                heads.as_mut_ptr(),
                AT_ONCE as u32,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        if count < 0 {
            let failed = io::Error::last_os_error();
            return match failed.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
                _ => Err(failed),
            };
        }
        for (length, head) in self.lengths.iter_mut().zip(&heads[..count as usize]) {
            *length = head.msg_len as usize;
        }
        Ok(count as usize)
    }

    /// Packet `number` of the last read; none: another message.
    pub(super) fn packet(&self, number: usize) -> Option<Packet<'_>> {
        let start = number * ROOM;
        parse(&self.buffer[start..start + self.lengths[number].min(ROOM)])
    }

    /// Gives a verdict, at the latest with the next [`Queue::flush`].
    pub(super) fn decide(&mut self, id: u32, verdict: Verdict) -> io::Result<()> {
        const MESSAGE: u16 = 3 << 8 | 1;
        const REQUEST: u16 = 1;
        const VERDICT_HEAD: u16 = 2;
        let all = &mut self.verdicts;
        all.extend_from_slice(&(VERDICT as u32).to_ne_bytes());
        all.extend_from_slice(&MESSAGE.to_ne_bytes());
        all.extend_from_slice(&REQUEST.to_ne_bytes());
        all.extend_from_slice(&[0; 8]);
        all.extend_from_slice(&[0, 0]);
        all.extend_from_slice(&self.number.to_be_bytes());
        all.extend_from_slice(&12_u16.to_ne_bytes());
        all.extend_from_slice(&VERDICT_HEAD.to_ne_bytes());
        all.extend_from_slice(&verdict.number().to_be_bytes());
        all.extend_from_slice(&id.to_be_bytes());
        if all.len() >= MOST_VERDICTS * VERDICT { self.flush() } else { Ok(()) }
    }

    /// Sends the verdicts that were given.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.verdicts.is_empty() {
            return Ok(());
        }
        let (socket, bytes) = (self.socket.as_raw_fd(), self.verdicts.as_ptr());
        // SAFETY: it reads as many bytes as there are.
        let sent = unsafe { libc::send(socket, bytes.cast(), self.verdicts.len(), 0) };
        self.verdicts.clear();
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Reads a message about a packet.
fn parse(message: &[u8]) -> Option<Packet<'_>> {
    const PACKET: u16 = 3 << 8;
    const PACKET_HEAD: u16 = 1;
    const DEVICE: u16 = 5;
    const PAYLOAD: u16 = 10;
    const HEADS: usize = 20;
    let kind = u16::from_ne_bytes(message.get(4..6)?.try_into().ok()?);
    if kind != PACKET {
        return None;
    }
    let (mut id, mut device, mut bytes) = (None, 0, &[][..]);
    let number = |value: &[u8]| Some(u32::from_be_bytes(value.get(..4)?.try_into().ok()?));
    let mut rest = message.get(HEADS..)?;
    while let Some(head) = rest.get(..4) {
        // An attribute that is cut ends the message.
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let value = rest.get(4..length)?;
        match u16::from_ne_bytes([head[2], head[3]]) {
            PACKET_HEAD => id = number(value),
            DEVICE => device = number(value)?,
            PAYLOAD => bytes = value.get(..SEEN_BYTES as usize).unwrap_or(value),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(Packet { id: id?, device, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of attributes, each with a number of its kind.
    fn message(kind: u16, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; 20];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        for (kind, value) in attributes {
            bytes.extend((value.len() as u16 + 4).to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(*value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn a_packet_has_its_number_its_device_and_its_beginning() {
        let head = [0, 0, 1, 2, 8, 0, 2];
        let whole = message(0x300, &[(1, &head), (5, &[0, 0, 0, 3]), (10, &[0x45, 0, 0])]);
        let packet = parse(&whole).expect("a packet");
        assert_eq!(packet, Packet { id: 258, device: 3, bytes: &[0x45, 0, 0] });
    }

    #[test]
    fn other_and_cut_messages_are_no_packets() {
        let head = [0, 0, 1, 2, 8, 0, 2];
        assert_eq!(parse(&message(2, &[(1, &head)])), None);
        assert_eq!(parse(&message(0x300, &[(5, &[0, 0, 0, 3])])), None);
        let whole = message(0x300, &[(1, &head)]);
        for length in 0..whole.len() - 4 {
            assert_eq!(parse(&whole[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn verdicts_have_the_numbers_of_netfilter() {
        assert_eq!(Verdict::Drop.number(), 0);
        assert_eq!(Verdict::Accept.number(), 1);
        assert_eq!(Verdict::Requeue(1).number(), 0x1_0003);
    }
}
