//! Without SACK: duplicate ACKs stand for SACKed packets.
//!
//! Source: Linux 2.6.20 `tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_check_reno_reordering`; 6.1 and 6.12, where
//! duplicates count as delivered and reordering as it was seen last; RFC 6582 (NewReno) for what a partial ACK means.

use super::reordering::MOST_REORDERING;
use crate::tcp::sender::Sender;

impl Sender {
    /// Whether the connection has no SACK.
    pub(in crate::tcp) fn is_reno(&self) -> bool {
        !self.sysctl.tcp_sack
    }

    /// A duplicate ACK: one more packet has left the network.
    pub(super) fn add_reno_sack(&mut self) {
        let before = self.board.sacked_out;
        self.board.sacked_out += 1;
        self.check_reno_reordering(0);
        if !self.profile.cwnd_first() {
            let delivered = self.board.sacked_out.saturating_sub(before);
            self.board.delivered += u64::from(delivered);
        }
    }

    /// `acked` packets were acknowledged: one filled the hole, the others had been counted. What duplicates had not stood for,
    /// but the hole in any case, is delivered only now.
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

    /// More duplicates than packets can cause were reordered.
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
