//! Segments without data: probes of a window that is closed, and what answers a SYN-ACK.
//!
//! Source: Linux 2.6.20 `tcp_sequence`, `tcp_send_dupack`; 6.12 `tcp_validate_incoming`.

use super::{Receiver, Taken};
use crate::tcp::Segment;
use crate::units::Time;

impl Receiver {
    /// What lies before the window is answered and else ignored: each probe, whose number was acknowledged before, and the
    /// handshake's last packet, if data that overtook it was acknowledged.
    pub(super) fn take_empty(&mut self, now: Time, segment: &Segment) -> Taken {
        if segment.seq >= self.window.rcv_wup {
            self.hear_echo(segment.tsecr);
            return Taken::Asks(false);
        }
        if !self.ration.allows(now, &self.ticks) && self.profile.rations_empty_answers {
            return Taken::Nothing;
        }
        Taken::Ack(self.make_ack())
    }
}
