//! Segments beyond a hole.
//!
//! Source: Linux 2.6.20 `tcp_data_queue`, `tcp_send_dupack`; 6.12 `tcp_data_queue_ofo`, `tcp_sack_compress_send_ack`.

use super::{Receiver, Taken};
use crate::tcp::profile::Profile;
use crate::tcp::{Ack, Segment};

/// Result of adding a segment beyond a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// The segment was in the queue already.
    Known,
    /// The segment joined the one before it in memory.
    Joined,
    /// The segment has memory of its own.
    Apart,
}

impl Receiver {
    pub(super) fn take_out_of_order(&mut self, segment: &Segment) -> Taken {
        let Segment { seq, len, .. } = *segment;
        let end = segment.end();
        self.acks.schedule();
        self.mib.ooo_packets += u64::from(segment.packets());
        self.mib.ofo_queue += 1;
        if self.profile.measures_beyond_hole {
            self.measure(segment);
        }
        if let Some((from, to)) = self.out_of_order.overlap(seq, end) {
            self.set_dsack(from, to);
        }
        let (kept, memory) = self.keep(segment);

        // tcp_send_dupack: before 4.18 each such segment is acknowledged at once.
        if !self.profile.compresses_sacks {
            self.window.rmem_alloc += memory;
            self.out_of_order.report(seq, end);
            return Taken::Ack(self.make_ack());
        }
        if kept == Kept::Joined {
            self.window.rmem_alloc += memory;
            self.open_beyond_hole(len, true);
        }
        // tcp_sack_compress_send_ack sends an ACK before a block is lost. No other ACK is owed then.
        let crowded = self.compressed.holds() && self.out_of_order.crowds(seq, end);
        let ack = crowded.then(|| {
            self.out_of_order.lengthen(seq, end);
            self.make_ack()
        });
        self.out_of_order.report(seq, end);
        if kept == Kept::Apart {
            self.open_beyond_hole(len, false);
            self.window.rmem_alloc += memory;
        }
        self.tune_beyond_hole();
        ack.map_or(Taken::Asks(false), Taken::Ack)
    }

    fn open_beyond_hole(&mut self, len: u32, joined: bool) {
        if self.sack_room > 0 && self.window.grow_by(len, self.acks.rcv_mss, joined) {
            self.acks.quick |= 1;
        }
    }

    /// Puts a segment beyond a hole into the queue; returns the result, and the additional memory.
    fn keep(&mut self, segment: &Segment) -> (Kept, u64) {
        let held = self.out_of_order.memory();
        let new =
            segment.split().filter(|packet| self.out_of_order.insert(packet, self.mss)).count();
        let kept = match new {
            0 => Kept::Known,
            _ if self.out_of_order.join(segment, &self.page_frags) => Kept::Joined,
            _ => Kept::Apart,
        };
        self.duplicates += u64::from(segment.packets()) - new as u64;
        (kept, self.out_of_order.memory() - held)
    }

    /// Takes `count` segments of `len` bytes from `seq` on that continue the last arrival beyond a hole, if all have
    /// the same effect. Returns the first one's ACK. Each further ACK differs only in the first SACK block, if there is
    /// any, which grows by `len` bytes. Memory falls and the offered window is kept, so the window stays. None where
    /// effects differ; then the state does not change.
    pub fn on_row_beyond_hole(&mut self, seq: u64, len: u32, count: u32) -> Option<Ack> {
        let memory = u64::from(len) + self.profile.rx_overhead;
        let last = u64::from(count.checked_sub(1)?);
        let end = seq + (last + 1) * u64::from(len);
        let fits = end <= self.rcv_nxt + self.window.remaining(self.rcv_nxt)
            && self.window.rmem_alloc + last * memory <= self.window.rcvbuf;
        let Profile { compresses_sacks, joins_received, measures_beyond_hole, .. } = *self.profile;
        let each = !compresses_sacks && !joins_received && !measures_beyond_hole;
        if len != self.mss || !each || !fits || !self.out_of_order.grows_at(seq) {
            return None;
        }
        let first = self.grow_beyond_hole(1, memory);
        if count > 1 {
            for _ in 2..count {
                self.acks.enter_quick_mode(self.window.rcv_wnd);
                self.acks.on_ack_sent();
            }
            self.note_unmade_acks(count - 2, memory);
            self.grow_beyond_hole(count - 1, memory);
        }
        Some(first)
    }

    /// Counts the ACKs of `count` segments that one ACK stands for; each segment adds `memory` bytes to the queue.
    fn note_unmade_acks(&mut self, count: u32, memory: u64) {
        let held = self.window.rmem_alloc;
        self.window.rmem_alloc += u64::from(count) * memory;

        // Only a window with less than half free would shrink.
        if self.window.is_tight() {
            for number in 1..=u64::from(count) {
                self.window.rmem_alloc = held + number * memory;
                self.window.note_unmade_ack(self.rcv_nxt, self.acks.rcv_mss);
            }
        }
        self.window.rmem_alloc = held;
    }

    fn grow_beyond_hole(&mut self, count: u32, memory: u64) -> Ack {
        self.acks.enter_quick_mode(self.window.rcv_wnd);
        self.out_of_order.grow(count, self.mss);
        self.mib.ooo_packets += u64::from(count);
        self.mib.ofo_queue += u64::from(count);
        self.window.rmem_alloc += u64::from(count) * memory;
        self.make_ack()
    }
}
