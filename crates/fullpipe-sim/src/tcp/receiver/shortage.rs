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
use crate::tcp::profile::ReceiveShortage;

impl Receiver {
    /// Whether there is memory for a segment that begins at `seq`, or is made; `next`: it is in order. Where there is none
    /// an ACK may be asked for that offers no window.
    pub(super) fn has_room(&mut self, seq: u64, next: bool) -> bool {
        if self.window.has_room() {
            return true;
        }
        let first = next && self.waiting.bytes() == 0;
        match self.profile.receive_shortage {
            ReceiveShortage::Discard if next => self.discard_beyond_hole(),
            ReceiveShortage::Discard => {}
            ReceiveShortage::Grow if first => return true,
            ReceiveShortage::Grow | ReceiveShortage::GrowOrClose => {
                self.prunes += 1;
                self.acks.quick = 0;
                self.window.clamp(!self.is_locked);
                if !self.window.has_room() {
                    self.collapse();
                }
                if !self.window.has_room() {
                    let spares = self.profile.receive_shortage == ReceiveShortage::GrowOrClose;
                    self.prune_beyond_hole(if spares { seq } else { 0 });
                }
                self.prunes_failed += u64::from(!self.window.has_room());
                if next && !self.window.has_room() {
                    self.ask_to_shut();
                }
                return first || self.window.has_room();
            }
        }
        self.window.has_room()
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
    /// that lies before a segment which begins at `seq`.
    fn prune_beyond_hole(&mut self, seq: u64) {
        let (step, had) = (self.window.rcvbuf >> 3, self.out_of_order.segments());
        let mut freed = 0;
        while let Some(memory) = self.out_of_order.drop_last(seq, self.mss) {
            self.window.rmem_alloc -= memory;
            freed += memory;
            if freed < step && !self.out_of_order.is_empty() {
                continue;
            }
            if self.window.has_room() {
                break;
            }
            freed = 0;
        }
        self.dropped += had - self.out_of_order.segments();
    }
}
