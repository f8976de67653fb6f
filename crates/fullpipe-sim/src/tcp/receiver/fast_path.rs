//! The fast path of the next expected data, which skips the check for a full buffer.
//!
//! Source: Linux 6.12 `tcp_rcv_established` (pred_flags, sk_forward_alloc), `tcp_fast_path_check`,
//! `tcp_data_queue_ofo`, `tcp_select_window`, `__sk_mem_schedule`, `sk_mem_uncharge`; 6.1 has the same. Earlier kernels
//! keep more memory in advance, which was not read: there every segment is checked.
//!
//! Limits:
//! - Where the host's memory is bounded (net.ipv4.tcp_mem), memory for the socket's own data does not count here.

use super::Receiver;
use super::coalesce::{Arrival, truesize};
use crate::ranges::SeqRange;
use crate::tcp::memory::{Member, PAGE};
use crate::tcp::profile::{Profile, ReceiveShortage};
use crate::tcp::{Ack, Segment};

/// State of the fast path.
#[derive(Clone, Debug)]
pub(super) struct FastPath {
    /// Whether the kernel's fast path is modelled.
    is_known: bool,
    /// Whether the next expected segment may take it (pred_flags).
    is_on: bool,
    /// Memory taken in advance, bytes (sk_forward_alloc); negative where copies were made without taking memory for
    /// them.
    forward_alloc: i64,
    /// Memory of received data that was charged to it.
    charged: u64,
    /// Memory of the socket's own data that was charged to it (sk_wmem_queued).
    queued: u64,
    /// Share of the host's memory, where that is bounded.
    common: Option<Member>,
}

impl FastPath {
    pub(super) fn new(profile: &Profile) -> FastPath {
        let is_known = profile.receive_shortage != ReceiveShortage::Discard;
        FastPath { is_known, is_on: true, forward_alloc: 0, charged: 0, queued: 0, common: None }
    }

    /// Takes memory from the host from now on.
    pub(super) fn share(&mut self, member: Member) {
        self.common = Some(member);
    }

    /// Share of the host's memory, where that is bounded.
    pub(super) fn member(&mut self) -> Option<&mut Member> {
        self.common.as_mut()
    }

    /// Whether memory is taken from the host.
    pub(super) fn is_shared(&self) -> bool {
        self.common.is_some()
    }

    /// Leaves the fast path until [`Receiver::check_fast_path`] allows it again.
    pub(super) fn leave(&mut self) {
        self.is_on = false;
    }

    /// Takes memory for an skb of this size, by the page; returns whether the host has it (sk_rmem_schedule).
    #[must_use]
    pub(super) fn schedule(&mut self, truesize: u64) -> bool {
        if !self.counts() {
            return true;
        }
        let pages = self.missing(truesize);
        let advance = self.forward_alloc + (pages * PAGE) as i64;
        let held = self.charged.saturating_add_signed(advance);
        let granted = self.common.as_ref().is_none_or(|own| own.raise(pages, self.charged, held));
        if !granted {
            return false;
        }
        self.forward_alloc = advance;
        true
    }

    /// True where somebody asks how much is taken in advance.
    fn counts(&self) -> bool {
        self.is_known || self.is_shared()
    }

    /// Takes memory for an skb in any case (sk_forced_mem_schedule).
    pub(super) fn force(&mut self, truesize: u64) {
        let pages = self.missing(truesize);
        self.forward_alloc += (pages * PAGE) as i64;
        if let Some(own) = &self.common {
            own.memory.force(pages);
        }
    }

    /// Pages that an skb of this size needs in addition.
    fn missing(&self, truesize: u64) -> u64 {
        let short = (truesize as i64).saturating_sub(self.forward_alloc).max(0);
        (short as u64).div_ceil(PAGE)
    }

    /// Sets the memory of received data; free memory is returned by the page.
    #[inline]
    pub(super) fn follow(&mut self, rmem_alloc: u64) {
        if self.counts() {
            self.set_charged(rmem_alloc);
        }
    }

    fn set_charged(&mut self, rmem_alloc: u64) {
        let charged = core::mem::replace(&mut self.charged, rmem_alloc);
        if rmem_alloc < charged {
            self.uncharge(charged - rmem_alloc);
        } else {
            // Without a bound of the host's memory, memory taken in advance is not counted exactly.
            let least = if self.common.is_some() { i64::MIN } else { self.forward_alloc.min(0) };
            self.forward_alloc = (self.forward_alloc - (rmem_alloc - charged) as i64).max(least);
        }
    }

    /// Changes the memory of received data by an amount that was not scheduled.
    pub(super) fn charge(&mut self, change: i64) {
        self.charged = self.charged.saturating_add_signed(change);
        match u64::try_from(-change) {
            Ok(freed) => self.uncharge(freed),
            Err(_) => self.forward_alloc -= change,
        }
    }

    /// Sets the memory of the socket's own data. New data takes pages where it needs them (sk_wmem_schedule).
    fn set_queued(&mut self, wmem_queued: u64) {
        let queued = core::mem::replace(&mut self.queued, wmem_queued);
        if wmem_queued < queued {
            return self.uncharge(queued - wmem_queued);
        }
        self.forward_alloc -= (wmem_queued - queued) as i64;
        if self.forward_alloc < 0 {
            self.forward_alloc = self.forward_alloc.rem_euclid(PAGE as i64);
        }
    }

    fn uncharge(&mut self, freed: u64) {
        self.forward_alloc += freed as i64;
        if self.forward_alloc > 0 {
            let pages = self.forward_alloc as u64 / PAGE;
            self.forward_alloc %= PAGE as i64;
            if let Some(own) = &self.common {
                own.memory.reduce(pages);
            }
        }
    }
}

impl Receiver {
    /// Memory of an skb on arrival.
    pub(super) fn truesize(&self, segment: &Segment) -> u64 {
        let arrival = Arrival {
            range: SeqRange::new(segment.seq, segment.seq + u64::from(segment.len)),
            packets: segment.packets(),
            packet_len: segment.packet_len(),
        };
        truesize(arrival, self.profile.rx_overhead, &self.page_frags)
    }

    /// Follows the memory of the same socket's own data, which shares the memory taken in advance.
    pub(crate) fn follow_sender(&mut self, wmem_queued: u64) {
        if self.fast.is_known && !self.fast.is_shared() {
            self.fast.set_queued(wmem_queued);
        }
    }

    /// Whether a segment takes the fast path.
    pub(crate) fn is_fast(&self, segment: &Segment) -> bool {
        let FastPath { is_known, is_on, forward_alloc, .. } = self.fast;
        is_known
            && is_on
            && segment.seq == self.rcv_nxt
            && !(segment.fin || segment.cwr)
            && segment.tsval >= self.ts_recent
            && self.truesize(segment) as i64 <= forward_alloc
    }

    /// Whether an ACK without data takes the fast path, where the peer's window stays as it is.
    pub(crate) fn is_fast_ack(&self, ack: &Ack) -> bool {
        let is_plain = ack.sacks.is_none() && !ack.ece;
        self.fast.is_on && is_plain && ack.seq == self.rcv_nxt && ack.tsval >= self.ts_recent
    }

    /// Checks after data in order whether the fast path is allowed again.
    pub(super) fn check_fast_path(&mut self) {
        let window = &self.window;
        if self.out_of_order.is_empty() && window.rcv_wnd > 0 && window.rmem_alloc < window.rcvbuf {
            self.fast.is_on = true;
        }
    }
}
