//! A receive buffer that is more than full.
//!
//! Source: Linux 2.6.20 `tcp_prune_queue`; 6.1 and 6.12 `tcp_try_rmem_schedule`, `tcp_prune_queue`, `tcp_clamp_window`,
//! `tcp_prune_ofo_queue`, `tcp_data_queue`. Not modelled: what lies beyond holes is not copied (`tcp_collapse_ofo_queue`), and
//! in 2.6.20 nothing is.
//!
//! Limits:
//! - Up to 3.14 nothing is copied (`tcp_collapse`), and the buffer does not grow by what it holds
//!   (`tcp_clamp_window`).

use super::{OutOfOrder, Receiver};
use crate::tcp::Segment;
use crate::tcp::memory::TcpMemory;
use crate::tcp::profile::ReceiveShortage;

impl Receiver {
    /// From now on this socket shares the memory of its host, of which it may have `least` bytes (the first number of tcp_rmem)
    /// under pressure.
    pub(crate) fn share_memory(&mut self, memory: &TcpMemory, least: u64) {
        self.window.share(memory.clone());
        self.fast.share(memory.clone(), least);
    }

    /// The socket is one of its host's, until all that came is read.
    pub(crate) fn open_in_memory(&mut self) {
        self.fast.open_in_memory();
    }

    /// The program has read the end of the stream, and closes.
    pub(crate) fn close_in_memory(&mut self) {
        if self.has_ended && self.readable() == 0 {
            self.fast.close_in_memory();
        }
    }

    /// The host's memory hears at once of what was thrown away.
    fn follow_common(&mut self) {
        if self.fast.is_shared() {
            self.fast.follow(self.window.rmem_alloc);
        }
    }

    /// Takes memory for a segment, or makes it; `next`: it is in order. Whether there is any: where there is none an ACK may be
    /// asked for that offers no window.
    pub(super) fn has_room(&mut self, segment: &Segment, next: bool) -> bool {
        let truesize = self.truesize(segment);
        let first = next && self.waiting.bytes() == 0;
        // 6.1 tcp_data_queue: what comes to an empty queue is taken in any case.
        if first && self.profile.receive_shortage == ReceiveShortage::Grow {
            self.fast.force(truesize);
            return true;
        }
        if self.window.has_room() && self.fast.schedule(truesize) {
            return true;
        }

        let spares = match self.profile.receive_shortage {
            ReceiveShortage::Discard => {
                if next {
                    self.discard_beyond_hole();
                }
                self.fast.force(truesize);
                return self.window.has_room();
            }
            ReceiveShortage::Grow => 0,
            ReceiveShortage::GrowOrClose => segment.seq,
        };
        let found = self.prune(spares) && self.schedule_or_prune(truesize, spares);
        if next && !found {
            self.ask_to_shut();
        }
        if first && !found {
            self.fast.force(truesize);
        }
        first || found
    }

    /// Whether the buffer has room again, or had (tcp_prune_queue). Nothing is thrown away that lies before `seq`.
    fn prune(&mut self, seq: u64) -> bool {
        self.prunes += 1;
        if self.window.rmem_alloc >= self.window.rcvbuf {
            self.acks.quick = 0;
            self.window.clamp(!self.is_locked);
        } else {
            self.window.save_memory();
        }
        if !self.window.has_room() {
            self.collapse();
        }
        if !self.window.has_room() {
            self.prune_beyond_hole(seq);
        }
        let found = self.window.has_room();
        self.prunes_failed += u64::from(!found);
        found
    }

    /// Takes memory of the host, for which what lies beyond holes is thrown away; whether there was any.
    fn schedule_or_prune(&mut self, truesize: u64, seq: u64) -> bool {
        loop {
            if self.fast.schedule(truesize) {
                return true;
            }
            if !self.prune_beyond_hole(seq) {
                return false;
            }
        }
    }

    /// Copies what waits for the reader.
    fn collapse(&mut self) {
        let Receiver { waiting, window, fast, rcv_nxt, mib, .. } = self;
        fast.follow(window.rmem_alloc);
        let mut all = 0;
        waiting.collapse(
            *rcv_nxt,
            |memory| window.of_memory(memory),
            |change| {
                all += change;
                // An skb of which nothing is left gives its memory back.
                mib.collapsed += u64::from(change < 0);
                fast.charge(change);
            },
        );
        window.rmem_alloc = window.rmem_alloc.saturating_add_signed(all);
    }

    /// In 6.12 what is next and finds no memory closes the window (ICSK_ACK_NOMEM).
    fn ask_to_shut(&mut self) {
        if self.profile.receive_shortage == ReceiveShortage::GrowOrClose {
            self.acks.schedule();
            self.acks.now = true;
            self.window.shut();
        }
    }

    fn discard_beyond_hole(&mut self) {
        let profile = &*self.profile;
        let empty = OutOfOrder::new(profile.rx_overhead, profile.joins_received);
        let thrown_away = core::mem::replace(&mut self.out_of_order, empty);
        self.dropped += thrown_away.segments();
        self.window.rmem_alloc -= thrown_away.memory();
    }

    /// Throws away what is furthest beyond a hole, an eighth of the buffer at a time, until the rest has room; nothing
    /// that lies before a segment which begins at `seq`. Whether anything was.
    fn prune_beyond_hole(&mut self, seq: u64) -> bool {
        let (step, had) = (self.window.rcvbuf >> 3, self.out_of_order.segments());
        let mut freed = 0;
        while let Some(memory) = self.out_of_order.drop_last(seq, self.mss) {
            self.window.rmem_alloc -= memory;
            freed += memory;
            if freed < step && !self.out_of_order.is_empty() {
                continue;
            }
            if self.window.has_room() && !self.window.is_under_pressure() {
                break;
            }
            freed = 0;
        }
        let gone = had - self.out_of_order.segments();
        self.dropped += gone;
        self.follow_common();
        gone > 0
    }
}
