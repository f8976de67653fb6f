//! Rounds of the first slow start.
//!
//! The first round begins with the first data. Each later one begins with the first ACK of data that was sent in the
//! round before. Linux `bictcp_hystart_reset` ends a round the same way: by an ACK beyond the data sent at its start.
//! The last round ends with slow start: cwnd has reached ssthresh, or a recovery has begun.

use super::Sender;
use crate::tcp::CaState;
use crate::trace::EventKind;
use alloc::vec::{Drain, Vec};

/// Most rounds in the trace. No path needs as many, because slow start at least doubles in two.
pub const MOST: u32 = 200;

/// Rounds of a connection.
#[derive(Debug, Default)]
pub(in crate::tcp) struct Rounds {
    /// Number of rounds that have begun.
    begun: u32,
    over: bool,
    /// Number beyond which an ACK ends the round.
    ends_beyond: u64,
    /// Segments sent for the first time.
    sent: u64,
    /// Events that the trace does not have yet.
    unreported: Vec<(EventKind, u64)>,
}

impl Rounds {
    fn begin(&mut self, snd_nxt: u64) {
        if self.begun < MOST {
            self.begun += 1;
            self.ends_beyond = snd_nxt;
            self.unreported.push((EventKind::Round, self.sent));
        }
    }
}

impl Sender {
    /// Updates the rounds before segments are sent for the first time.
    #[inline]
    pub(in crate::tcp) fn note_first_sending(&mut self, segments: u32) {
        if self.rounds.begun == 0 && !self.rounds.over && !self.has_left_slow_start() {
            // Any ACK of data ends the first round.
            self.rounds.begin(self.seq.una());
        }
        self.rounds.sent += u64::from(segments);
    }

    /// Updates the rounds before an ACK is processed.
    #[inline]
    pub(in crate::tcp) fn note_round(&mut self, ack: u64) {
        if !self.rounds.over && self.rounds.begun > 0 && ack > self.rounds.ends_beyond {
            self.rounds.begin(self.seq.nxt());
        }
    }

    fn has_left_slow_start(&self) -> bool {
        self.cwnd() >= self.ssthresh() || self.ca_state >= CaState::Recovery
    }

    /// Takes the starts of rounds since the last call, and the end of slow start, each with the segments first sent
    /// before it.
    pub fn take_rounds(&mut self) -> Drain<'_, (EventKind, u64)> {
        if !self.rounds.over && self.is_established && self.has_left_slow_start() {
            self.rounds.over = true;
            self.rounds.unreported.push((EventKind::SlowStartEnded, self.rounds.sent));
        }
        self.rounds.unreported.drain(..)
    }
}
