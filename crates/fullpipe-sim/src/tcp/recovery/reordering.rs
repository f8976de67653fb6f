//! The reordering metric: the largest displacement of a packet so far.
//!
//! Source: Linux 2.6.20 `tcp_update_reordering`, `tcp_sacktag_write_queue`; 2.6.24
//! `tcp_clean_rtx_queue`; 3.5 `tcp_disable_early_retrans`.

use crate::tcp::CaState;
use crate::tcp::profile::HoleFilled;
use crate::tcp::sender::Sender;
use crate::tcp::sender::loss_state::MAX_REORDERING;

/// Largest reordering metric since 3.19, packets (`tcp_max_reordering`).
pub(super) const MOST_REORDERING: u32 = 300;

impl Sender {
    /// Raises the metric to a displacement of `metric` packets, and ends FACK, which takes it for loss.
    pub(super) fn update_reordering(&mut self, metric: u32) {
        if metric > self.recovery.reordering {
            // The kernel counts more kinds (TCPFACKReorder).
            match self.is_reno() {
                true => self.counters.mib.reno_reorder += 1,
                false => self.counters.mib.sack_reorder += 1,
            }
            self.recovery.reordering = metric.min(MAX_REORDERING);
            self.recovery.fack = false;
        }
        if metric > 0 {
            self.recovery.do_early_retrans = false;
        }
    }

    /// Notes reordering by SACKs that filled a hole at `at`, below the highest SACK before them, which was never sent
    /// again.
    pub(super) fn note_reordering_by_sack(&mut self, at: u64) {
        let in_loss = self.ca_state == CaState::Loss;
        if !self.profile.cwnd_first() {
            if !in_loss || self.recovery.undo_marker.is_some() {
                self.check_sack_reordering(at);
            }
            return;
        }
        let excused = self.profile.reordering_after_loss && self.recovery.undo_marker.is_some();
        let frto = self.recovery.frto_highmark.is_some_and(|mark| self.seq.una() <= mark);
        if in_loss && !excused || frto {
            return;
        }
        self.update_reordering(self.displacement(at));
    }

    /// Notes reordering by a cumulative ACK of a packet at `at`, below the highest SACK, which was neither SACKed nor
    /// sent again.
    pub(in crate::tcp) fn note_reordering_by_ack(&mut self, at: u64, with_sacks: bool) {
        let seen = match self.profile.hole_filled {
            HoleFilled::BySacks => with_sacks && self.ca_state != CaState::Loss,
            HoleFilled::ByAck => true,
        };
        if seen && !self.is_reno() {
            self.update_reordering(self.displacement(at));
        }
    }

    /// tcp_check_sack_reordering: notes reordering by a packet at `low`, delivered after packets beyond it and never
    /// sent again.
    pub(in crate::tcp) fn check_sack_reordering(&mut self, low: u64) {
        let seen = self.sees_reordering(low);
        self.counters.mib.sack_reorder += u64::from(seen);
    }

    /// Notes reordering that a timestamp has shown.
    pub(super) fn check_stamped_reordering(&mut self, low: u64) {
        let seen = self.sees_reordering(low);
        self.counters.mib.ts_reorder += u64::from(seen);
    }

    /// Raises the metric if the packet at `low` arrived late; returns whether it did.
    fn sees_reordering(&mut self, low: u64) -> bool {
        if low >= self.board.snd_fack || self.board.sacked_out == 0 && low >= self.seq.una() {
            return false;
        }
        let (distance, mss) = (self.board.snd_fack - low, u64::from(self.mss));
        if distance > u64::from(self.recovery.reordering) * mss {
            let packets = distance.div_ceil(mss).min(MOST_REORDERING.into());
            self.recovery.reordering = packets as u32;
        }
        if let Some(rack) = &mut self.board.rack {
            rack.reord_seen = true;
        }
        true
    }

    /// Packets from `at` to the highest SACKed one.
    fn displacement(&self, at: u64) -> u32 {
        let fack = self.board.snd_fack;
        if at < fack { self.window().count(at, fack) } else { 0 }
    }
}
