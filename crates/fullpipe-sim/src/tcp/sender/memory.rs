//! What a sending socket has of the memory of its host.
//!
//! Source: Linux 6.1 and 6.12 `sk_wmem_schedule`, `sk_stream_moderate_sndbuf`, `sk_mem_uncharge`,
//! `tcp_should_expand_sndbuf`.
//!
//! Limits:
//! - A send buffer that the application has set is filled though the host has no memory. Linux lets the writer wait
//!   (`tcp_wmem_schedule`).

use super::Sender;
use crate::tcp::memory::{Member, PAGE, TcpMemory};

/// Least send buffer to which the kernel goes back, bytes (SOCK_MIN_SNDBUF).
pub(super) const LEAST_SNDBUF: u64 = 2 * (2048 + 256);

/// Bytes that are written at once, for which memory is taken at once (SKB_FRAG_PAGE_ORDER).
const PAGE_FRAG: u64 = 32_768;

/// Memory of a sending socket.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct SndMemory {
    own: Member,
    /// sk_wmem_queued, bytes, for which it has so many pages.
    queued: u64,
    pages: u64,
}

impl Sender {
    /// From now on this socket shares the memory of its host.
    pub(crate) fn share_memory(&mut self, memory: &TcpMemory) {
        let own = Member::new(memory, self.sysctl.tcp_wmem[0]);
        self.memory = Some(SndMemory { own, queued: 0, pages: 0 });
    }

    /// The socket is one of its host's, until all is acknowledged.
    pub(crate) fn open_in_memory(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.own.open();
        }
    }

    /// Takes memory for what was written, piece by piece. Where the host has none the send buffer becomes half of what it holds
    /// by then.
    pub(super) fn take_memory(&mut self) {
        let queued = self.queue.wmem_queued;
        let Some(memory) = &mut self.memory else { return };
        while memory.queued < queued {
            let before = memory.queued;
            memory.queued = queued.min(before + PAGE_FRAG);
            let wanted = memory.queued.div_ceil(PAGE);
            let pages = wanted.saturating_sub(memory.pages);
            memory.pages += pages;

            if !memory.own.raise(pages, before, wanted * PAGE) {
                memory.own.memory.force(pages);
                self.sndbuf.moderate(before);
            }
        }
    }

    /// Gives back what was acknowledged. An skb that was cut has another head, which is taken in any case.
    pub(super) fn settle_memory(&mut self) {
        if self.memory.is_none() {
            return;
        }
        let (queued, is_finished) = (self.queue.wmem_queued, self.is_finished());
        let Some(memory) = &mut self.memory else { return };
        memory.queued = queued;
        let wanted = queued.div_ceil(PAGE);
        match wanted.checked_sub(memory.pages) {
            Some(more) => memory.own.memory.force(more),
            None => memory.own.memory.reduce(memory.pages - wanted),
        }
        memory.pages = wanted;

        if is_finished {
            memory.own.close();
        }
    }

    /// Whether the host's memory lets the send buffer grow.
    pub(super) fn memory_lets_grow(&self) -> bool {
        self.memory.as_ref().is_none_or(|memory| memory.own.memory.lets_buffers_grow())
    }
}
