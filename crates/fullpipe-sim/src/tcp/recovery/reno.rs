//! Connections without SACK: duplicate ACKs stand for SACKed packets.
//!
//! Source: Linux 2.6.20 `tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_check_reno_reordering`; RFC 6582 (NewReno)
//! for partial ACKs. In 6.1 and 6.12 duplicates count as delivered, and reordering is the last one seen.

use super::reordering::MOST_REORDERING;
use crate::tcp::sender::Sender;

impl Sender {
    /// Whether the connection has no SACK.
    pub(in crate::tcp) fn is_reno(&self) -> bool {
        !self.sysctl.tcp_sack
    }

    /// Counts a duplicate ACK: one more packet has left the network.
    pub(super) fn add_reno_sack(&mut self) {
        let before = self.board.sacked_out;
        self.board.sacked_out += 1;
        self.check_reno_reordering(0);
        if !self.profile.cwnd_first() {
            let delivered = self.board.sacked_out.saturating_sub(before);
            self.board.delivered += u64::from(delivered);
        }
    }

    /// Removes duplicates after an ACK of `acked` packets: one filled the hole, the others had been counted. Packets
    /// without a duplicate, and the hole in any case, count as delivered only now.
    pub(in crate::tcp) fn remove_reno_sacks(&mut self, acked: u32) {
        if acked > 0 {
            if !self.profile.cwnd_first() {
                let delivered = acked.saturating_sub(self.board.sacked_out).max(1);
                self.board.delivered += u64::from(delivered);
            }
            self.board.sacked_out = self.board.sacked_out.saturating_sub(acked - 1);
        }
        self.check_reno_reordering(acked);
    }

    /// Takes more duplicates than the packets in flight can cause as reordering.
    fn check_reno_reordering(&mut self, addend: u32) {
        let out = self.board.packets_out;
        let holes = self.board.lost_out.max(1).min(out);
        if self.board.sacked_out + holes > out {
            self.board.sacked_out = out - holes;
            if self.profile.cwnd_first() {
                self.update_reordering(out + addend);
            } else {
                self.recovery.reordering = (out + addend).min(MOST_REORDERING);
                self.counters.mib.reno_reorder += 1;
            }
        }
    }
}
