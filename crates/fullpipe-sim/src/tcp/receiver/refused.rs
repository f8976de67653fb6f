//! Segments that TCP answers but does not take.
//!
//! Source: Linux 6.12 `tcp_validate_incoming`, `tcp_sequence`, `tcp_send_dupack`.

use super::{Receiver, Taken};
use crate::tcp::Segment;

impl Receiver {
    /// Whether a segment has a valid timestamp and lies partly in the window, or ends where the window begins
    /// (tcp_validate_incoming, tcp_sequence).
    pub fn is_acceptable(&self, segment: &Segment) -> bool {
        let end = self.rcv_nxt + self.window.remaining(self.rcv_nxt);
        let in_window = segment.end() >= self.window.rcv_wup && segment.seq <= end;
        in_window && !self.fails_paws(segment.tsval)
    }

    /// Answers a segment that ends before the acknowledged data, begins beyond the window, or has an old timestamp; its
    /// content is ignored (tcp_send_dupack).
    pub(super) fn refuse(&mut self, segment: &Segment) -> Taken {
        let packets = u64::from(segment.packets());
        let past = self.fails_paws(segment.tsval);
        self.paws_estab += u64::from(past);
        if segment.seq < self.rcv_nxt {
            self.duplicates += packets;
            self.set_dsack(segment.seq, segment.end().min(self.rcv_nxt));
            self.acks.enter_quick_mode(self.window.rcv_wnd);
        } else if !past {
            self.beyond_window += 1;
        }
        Taken::Ack(self.make_ack())
    }

    /// Number that grows with each segment of new data that was not taken.
    pub fn left_out(&self) -> u64 {
        self.dropped + self.paws_estab + self.beyond_window
    }
}
