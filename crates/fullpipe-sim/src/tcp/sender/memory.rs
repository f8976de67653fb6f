//! What a sending socket has of the memory of its host.
//!
//! Source: Linux 6.1 and 6.12 `sk_wmem_schedule`, `sk_stream_moderate_sndbuf`, `sk_mem_uncharge`,
//! `tcp_should_expand_sndbuf`.
//!
//! Limits:
//! - A send buffer that the application has set is filled though the host has no memory. Linux lets the writer wait
//!   (`tcp_wmem_schedule`).

use super::Sender;
use crate::tcp::memory::{PAGE, Request, TcpMemory};

/// Least send buffer to which the kernel goes back, bytes (SOCK_MIN_SNDBUF).
pub(super) const LEAST_SNDBUF: u64 = 2 * (2048 + 256);

/// Bytes that are written at once, for which memory is taken at once (SKB_FRAG_PAGE_ORDER).
const PAGE_FRAG: u64 = 32_768;

/// See the module's description.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct SndMemory {
    common: TcpMemory,
    /// The first number of tcp_wmem, bytes.
    least: u64,
    /// sk_wmem_queued, bytes, for which it has so many pages.
    queued: u64,
    pages: u64,
    is_open: bool,
}

impl Sender {
    /// From now on this socket shares the memory of its host.
    pub(crate) fn share_memory(&mut self, memory: &TcpMemory) {
        let least = self.sysctl.tcp_wmem[0];
        let common = memory.clone();
        self.memory = Some(SndMemory { common, least, queued: 0, pages: 0, is_open: false });
    }

    /// The socket is one of its host's, until all is acknowledged.
    pub(crate) fn open_in_memory(&mut self) {
        if let Some(own) = &mut self.memory
            && !own.is_open
        {
            own.is_open = true;
            own.common.open_socket();
        }
    }

    /// Takes memory for what was written, piece by piece. Where the host has none the send buffer becomes half of what it holds
    /// by then.
    pub(super) fn take_memory(&mut self) {
        let queued = self.queue.wmem_queued;
        let Some(own) = &mut self.memory else { return };
        while own.queued < queued {
            let before = own.queued;
            own.queued = queued.min(before + PAGE_FRAG);
            let wanted = own.queued.div_ceil(PAGE);
            let pages = wanted.saturating_sub(own.pages);
            own.pages += pages;

            let below_least = before < own.least;
            let request = Request { pages, held: wanted * PAGE, below_least };
            if pages > 0 && !own.common.raise(request) {
                own.common.force(pages);
                self.sndbuf.moderate(before);
            }
        }
    }

    /// Gives back what was acknowledged. An skb that was cut has another head, which is taken in any case.
    pub(super) fn settle_memory(&mut self) {
        let (queued, is_finished) = (self.queue.wmem_queued, self.is_finished());
        let Some(own) = &mut self.memory else { return };
        own.queued = queued;
        let wanted = queued.div_ceil(PAGE);
        match wanted.checked_sub(own.pages) {
            Some(more) => own.common.force(more),
            None => own.common.reduce(own.pages - wanted),
        }
        own.pages = wanted;

        if is_finished && core::mem::take(&mut own.is_open) {
            own.common.close_socket();
        }
    }

    /// Whether the host's memory lets the send buffer grow.
    pub(super) fn memory_lets_grow(&self) -> bool {
        self.memory.as_ref().is_none_or(|own| own.common.lets_buffers_grow())
    }
}
