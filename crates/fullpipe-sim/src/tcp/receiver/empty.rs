//! Segments without data: probes of a window that is closed, and what answers a SYN-ACK.
//!
//! Source: Linux 2.6.20 `tcp_sequence`, `tcp_send_dupack`; 6.12 `tcp_validate_incoming`, `tcp_oow_rate_limited`.

use super::{Receiver, Taken};
use crate::tcp::Segment;
use crate::units::Time;

/// Between two answers to segments that lie outside the window and have no data, ms (net.ipv4.tcp_invalid_ratelimit).
const INVALID_RATELIMIT_MS: u64 = 500;

impl Receiver {
    /// What lies before the window is answered and else ignored: each probe, whose number was acknowledged before, and the
    /// handshake's last packet, if data that overtook it was acknowledged.
    pub(super) fn take_empty(&mut self, now: Time, segment: &Segment) -> Taken {
        if segment.seq >= self.window.rcv_wup {
            self.hear_echo(segment.tsecr);
            return Taken::Asks(false);
        }
        let now = self.ticks.at(now);
        let pause = INVALID_RATELIMIT_MS * 1_000_000 / self.ticks.begin(1).as_ns().max(1);
        let soon = self.answered_empty.is_some_and(|last| now - last < pause);
        if soon && self.profile.rations_empty_answers {
            return Taken::Nothing;
        }
        self.answered_empty = Some(now);
        Taken::Ack(self.make_ack())
    }
}
