//! Many messages by one call of the kernel. A call costs some 20 us in this kernel, so it is made rarely.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::sys;

fn head(piece: *mut libc::iovec) -> libc::mmsghdr {
    // SAFETY: zeros are a valid mmsghdr.
    let mut head: libc::mmsghdr = unsafe { std::mem::zeroed() };
    head.msg_hdr.msg_iov = piece;
    head.msg_hdr.msg_iovlen = 1;
    head
}

/// Writes of one size, all of zeros.
pub struct Writes {
    buffer: Vec<u8>,
    // Points into `buffer`; each of `heads` points to it. A Vec's contents do not move.
    _piece: Vec<libc::iovec>,
    heads: Vec<libc::mmsghdr>,
}

impl Writes {
    /// At most `most` writes of `size` bytes at once.
    pub fn new(size: usize, most: usize) -> Writes {
        let mut buffer = vec![0; size];
        let mut piece = vec![libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: size }];
        let heads = (0..most).map(|_| head(piece.as_mut_ptr())).collect();
        Writes { buffer, _piece: piece, heads }
    }

    /// Zeros of one write.
    pub fn zeros(&self) -> &[u8] {
        &self.buffer
    }

    /// Does `count` writes as if each had a call of its own; says how many bytes were taken, fewer if
    /// interrupted.
    pub fn send(&mut self, fd: &OwnedFd, count: usize) -> io::Result<usize> {
        let count = count.min(self.heads.len());
        // SAFETY: `count` heads, which point to our buffer.
        let done = sys::check(unsafe {
            let heads = self.heads.as_mut_ptr();
            libc::sendmmsg(fd.as_raw_fd(), heads, count as u32, libc::MSG_NOSIGNAL)
        })?;
        Ok(self.heads[..done].iter().map(|head| head.msg_len as usize).sum())
    }
}

/// Buffers for arriving messages.
pub struct Arrivals {
    size: usize,
    buffer: Vec<u8>,
    _pieces: Vec<libc::iovec>,
    heads: Vec<libc::mmsghdr>,
}

impl Arrivals {
    /// Room for `most` messages at once, each of at most `size` bytes.
    pub fn new(size: usize, most: usize) -> Arrivals {
        let mut buffer = vec![0_u8; size * most];
        let mut pieces: Vec<libc::iovec> = buffer
            .chunks_exact_mut(size)
            .map(|part| libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: size })
            .collect();
        let heads = pieces.iter_mut().map(|piece| head(piece)).collect();
        Arrivals { size, buffer, _pieces: pieces, heads }
    }

    /// Takes at most `most` messages that are there, without waiting; says how many.
    pub fn receive(&mut self, fd: &OwnedFd, most: usize) -> io::Result<usize> {
        let most = most.min(self.heads.len());
        // SAFETY: `most` heads, which point to parts of our buffer.
        let flags = libc::MSG_DONTWAIT as _;
        sys::check(unsafe {
            let heads = self.heads.as_mut_ptr();
            libc::recvmmsg(fd.as_raw_fd(), heads, most as u32, flags, std::ptr::null_mut())
        })
    }

    /// The message of that number; none if it was longer than the buffer.
    pub fn message(&self, number: usize) -> Option<&[u8]> {
        let head = &self.heads[number];
        let whole = head.msg_hdr.msg_flags & libc::MSG_TRUNC == 0;
        let at = number * self.size;
        whole.then(|| &self.buffer[at..at + head.msg_len as usize])
    }
}
