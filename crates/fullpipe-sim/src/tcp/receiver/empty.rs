//! Segments without data: probes of a closed window, and the answer to a SYN-ACK.
//!
//! Source: Linux 2.6.20 `tcp_sequence`, `tcp_send_dupack`; 6.12 `tcp_validate_incoming`.

use super::{Receiver, Taken};
use crate::tcp::Segment;
use crate::units::Time;

impl Receiver {
    /// Answers a segment before the window and ignores its content: a probe, with a number that was acknowledged
    /// before, or the handshake's last packet after data that overtook it.
    pub(super) fn take_empty(&mut self, now: Time, segment: &Segment) -> Taken {
        if segment.seq >= self.window.rcv_wup {
            self.take_echo(segment.tsecr);
            return Taken::Asks(false);
        }
        if !self.oow_ratelimit.allows(now, &self.ticks) && self.profile.rations_empty_answers {
            return Taken::Nothing;
        }
        Taken::Ack(self.make_ack())
    }
}
