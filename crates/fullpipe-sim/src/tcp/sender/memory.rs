//! A sending socket's part of its host's memory.
//!
//! Source: Linux 6.1 and 6.12 `sk_wmem_schedule`, `sk_stream_moderate_sndbuf`, `sk_mem_uncharge`,
//! `tcp_should_expand_sndbuf`.
//!
//! Limits:
//! - A send buffer that the application has set is filled even if the host has no memory. Linux lets the writer wait
//!   (`tcp_wmem_schedule`).

use super::Sender;
use crate::tcp::memory::{Member, PAGE, TcpMemory};

/// Least send buffer to which the kernel shrinks one, bytes (SOCK_MIN_SNDBUF).
pub(super) const LEAST_SNDBUF: u64 = 2 * (2048 + 256);

/// Bytes for which memory is taken at once (SKB_FRAG_PAGE_ORDER).
const PAGE_FRAG: u64 = 32_768;

/// Memory of a sending socket.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct SndMemory {
    own: Member,
    /// sk_wmem_queued, bytes, and the pages taken for it.
    queued: u64,
    pages: u64,
}

impl Sender {
    /// Shares the memory of the host from now on.
    pub(crate) fn share_memory(&mut self, memory: &TcpMemory) {
        let own = Member::new(memory, self.sysctl.tcp_wmem[0]);
        self.memory = Some(SndMemory { own, queued: 0, pages: 0 });
    }

    /// Counts the socket among its host's, until all data is acknowledged.
    pub(crate) fn open_in_memory(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.own.open();
        }
    }

    /// Takes memory for written data, piece by piece. Where the host has none, the send buffer shrinks to half of its
    /// content at that time.
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

    /// Returns memory of acknowledged data. An skb that was cut has another head, for which memory is taken in any
    /// case.
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
