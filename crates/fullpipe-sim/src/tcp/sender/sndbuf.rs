//! The send buffer: the data that a socket accepts from its application.
//!
//! Source: Linux 6.1 and 6.12 `__sk_stream_memory_free`, `tcp_stream_memory_free`, `sk_stream_is_writeable`. A Windows
//! host counts data: Microsoft's KB214397, and `SIO_IDEAL_SEND_BACKLOG_QUERY`. The relation of the ideal send backlog
//! to cwnd is not published; twice cwnd, as in Linux, is inferred.
//!
//! Limits:
//! - A write on Windows is accepted up to 1 MiB beyond the buffer.

use super::memory::LEAST_SNDBUF;
use crate::config::Host;
use crate::tcp::skb::SendQueue;

/// First send buffer of a Windows socket, bytes (Winsock's default since Vista).
const WINSOCK: u64 = 65_536;
/// Most bytes of a write that a Windows socket accepts beyond its buffer.
const BEYOND: u64 = 1 << 20;
/// Least send buffer, bytes.
const LEAST: u64 = 2048;

/// Limits of a send buffer.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct SndBuf {
    /// Memory of all skbs, bytes (sk_sndbuf).
    bytes: u64,
    /// Whether the application has set it (SOCK_SNDBUF_LOCK).
    is_locked: bool,
    /// TCP_NOTSENT_LOWAT, else net.ipv4.tcp_notsent_lowat, bytes.
    notsent_lowat: u64,
    /// Whether data counts instead of memory, and a write that has begun is accepted whole (Winsock).
    counts_data: bool,
}

impl SndBuf {
    /// The buffer of a new socket, which holds three segments at least (tcp_fixup_sndbuf).
    ///
    /// `request` is the size that the program set by setsockopt; `segment` is the memory of one segment.
    pub(in crate::tcp) fn new(host: &Host, request: Option<u64>, segment: u64) -> SndBuf {
        let sysctl = &host.sysctl;
        let lowat = sysctl.tcp_notsent_lowat.unwrap_or(u32::MAX).into();
        if host.system.is_windows() {
            let (bytes, is_locked) = (request.unwrap_or(WINSOCK), request.is_some());
            return SndBuf { bytes, is_locked, notsent_lowat: lowat, counts_data: true };
        }

        let granted = request.map(|request| 2 * request.min(sysctl.wmem_max));
        let unset = sysctl.tcp_wmem[1].max((3 * segment).min(sysctl.tcp_wmem[2]));

        SndBuf {
            bytes: granted.unwrap_or(unset).max(LEAST),
            is_locked: request.is_some(),
            notsent_lowat: lowat,
            counts_data: false,
        }
    }

    /// Sets TCP_NOTSENT_LOWAT, bytes.
    pub(in crate::tcp) fn set_notsent_lowat(&mut self, bytes: u32) {
        self.notsent_lowat = bytes.into();
    }

    /// Memory that the buffer allows, bytes.
    #[inline]
    pub(in crate::tcp) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the application has set the size, so that the kernel does not tune it.
    #[inline]
    pub(in crate::tcp) fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// Grows the buffer to `bytes`, unless it is larger, where the kernel tunes it.
    pub(in crate::tcp) fn grow_to(&mut self, bytes: u64) {
        self.bytes = self.bytes.max(bytes);
    }

    /// Shrinks the buffer to half of its content for lack of memory in the host, unless the application has set it
    /// (sk_stream_moderate_sndbuf).
    pub(super) fn moderate(&mut self, queued: u64) {
        if !self.is_locked {
            self.bytes = self.bytes.min(queued >> 1).max(LEAST_SNDBUF);
        }
    }

    /// Whether data counts instead of memory.
    pub(in crate::tcp) fn counts_data(&self) -> bool {
        self.counts_data
    }

    /// Whether a write may begin in a buffer that counts data: less than its size is unacknowledged.
    pub(in crate::tcp) fn takes_write(&self, unacknowledged: u64) -> bool {
        unacknowledged < self.bytes
    }

    /// Whether a write that has begun may continue in a buffer that counts data.
    pub(in crate::tcp) fn takes_more(&self, unacknowledged: u64) -> bool {
        unacknowledged < self.bytes + BEYOND
    }

    /// Whether a new skb may be made (sk_stream_memory_free).
    #[inline]
    pub(in crate::tcp) fn has_memory(&self, queue: &SendQueue) -> bool {
        queue.wmem_queued < self.bytes && queue.unsent_bytes < self.notsent_lowat
    }

    /// Whether a sleeping writer may be woken (sk_stream_is_writeable).
    #[inline]
    pub(in crate::tcp) fn is_writeable(&self, queue: &SendQueue) -> bool {
        let queued = queue.wmem_queued;
        let room = self.bytes.saturating_sub(queued) >= queued >> 1;
        room && queue.unsent_bytes << 1 < self.notsent_lowat
    }
}
