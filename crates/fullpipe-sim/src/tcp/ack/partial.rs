//! ACKs that end within a packet, such as one that was joined from small skbs after an ACK of the first had left.
//!
//! Source: Linux 6.1 and 6.12 `tcp_clean_rtx_queue`, which leaves an skb of one segment in the queue until all of it is acknowledged.
//!
//! Limits:
//! - The memory of the acknowledged part is freed with the rest. Linux frees it when the rest is sent again (`tcp_trim_head`).

use crate::ranges::SeqRange;
use crate::tcp::sender::Sender;

impl Sender {
    /// End of the last packet that an ACK of all bytes below `una` covers whole.
    #[inline]
    pub(super) fn whole_below(&self, una: u64) -> u64 {
        // Only packets that were sent again were joined.
        if !self.board.any_resent() || !self.board.was_resent(una - 1) {
            return una;
        }
        let out = SeqRange::new(self.seq.una(), self.seq.nxt());
        self.queue.whole_below(una, out, self.mss)
    }

    /// Notes that the packet that begins at `start` is acknowledged below `una`, but not to its end.
    pub(super) fn trim_packet(&mut self, start: u64, una: u64) {
        let end = self.queue.segment_end(start, self.mss, self.seq.nxt());
        self.queue.resegment(SeqRange::new(una, end), self.mss, self.mss);
        self.board.trim(start, una);
    }
}
