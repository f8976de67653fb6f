//! What is sent again: lost packets first, then, where nothing else can be sent, packets below the
//! highest SACK that are not known to be lost (RFC 6675 NextSeg, rule 3).
//!
//! Source: Linux 2.6.20 and 3.0 `tcp_xmit_retransmit_queue`, `tcp_retransmit_skb`,
//! `tcp_can_forward_retransmit`.

use crate::tcp::sender::{Sender, TimerKind};
use crate::tcp::{Output, Transmission};

impl Sender {
    pub(super) fn xmit_retransmit_queue(&mut self, out: &mut dyn Output) {
        let mut search = self.begin_resending();
        while self.in_flight() < self.cwnd() {
            let lost = self.board.next_lost(self.window());
            let Some((start, end)) = lost.or_else(|| self.next_forward()) else {
                return self.end_resending(search, false);
            };
            self.walk_to_resend(&mut search, start, lost.is_some());
            if !self.retransmit(start, end, out) {
                return self.forget_what_was_sent_again();
            }
            self.count_prr_out(1);
            if start == self.snd_una {
                let timeout = self.rtt.timeout();
                self.start_timer(TimerKind::Retransmit, out.now(), timeout);
            }
        }
        self.end_resending(search, true);
    }

    fn next_forward(&mut self) -> Option<(u64, u64)> {
        let (board, window) = self.board_and_window();
        let found = board.next_forward(window)?;
        self.may_go_forward().then_some(found)
    }

    /// Sends `[start, end)` again; false if the window has shrunk below it or the host's queue is full.
    pub(super) fn retransmit(&mut self, start: u64, end: u64, out: &mut dyn Output) -> bool {
        let len = (end - start) as u32;
        if start >= self.snd_una + self.snd_wnd && start != self.snd_una {
            return false;
        }
        self.tell_walks(out);
        self.walks_split_at(end);
        let when = self.jiffies(out.now());
        let skb = Transmission { seq: start, len, retransmission: true, tsval: self.tsval(when) };
        if !out.transmit(skb) {
            self.counters.refused += 1;
            return false;
        }
        self.counters.segments_sent += 1;
        self.counters.segments_retransmitted += 1;
        self.board.note_retransmitted(start, end, when, self.snd_nxt);
        self.recovery.undo_retrans += 1;
        self.recovery.retrans_stamp.get_or_insert(when);
        true
    }

    /// The first packet again, whatever cwnd says.
    pub(super) fn retransmit_head(&mut self, out: &mut dyn Output) -> bool {
        let end = self.queue.segment_end(self.snd_una, self.mss, self.snd_nxt);
        self.retransmit(self.snd_una, end, out)
    }
}
