//! Small skbs that are sent again join those behind them, as far as one segment has room.
//!
//! Source: Linux 6.1 and 6.12 `__tcp_retransmit_skb`, `tcp_retrans_try_collapse`, `tcp_can_collapse`, `tcp_collapse_retrans`.
//!
//! Limits:
//! - An skb of which a clone is still in the host joins others; in Linux it does not (`skb_cloned`).
//! - Kernels before 4.10 join skbs without page fragments alone. Their profiles join none.

use crate::ranges::SeqRange;
use crate::tcp::sender::Sender;

impl Sender {
    /// Joins the skb at `start`, which is sent again now, with those behind it (`tcp_retrans_try_collapse`).
    pub(super) fn collapse(&mut self, start: u64) {
        let room = u64::from(self.mss_now());
        let Some(own) = self.queue.skb_end(start) else { return };
        if own - start >= room || self.profile.cwnd_first() || !self.begins_skb_to_send(start) {
            return;
        }

        let mut end = own;
        while let Some(next) = self.queue.skb_end(end).filter(|next| self.may_join(end, *next)) {
            let fin = u64::from(self.queue.fin() == Some(next - 1));
            if next - start - fin > room {
                break;
            }
            self.queue.join(end);
            end = next;
        }
        if end > own {
            self.count_as_one(SeqRange::new(start, end), own);
        }
    }

    /// Whether an skb begins at `seq`, or the rest of one that is acknowledged in part.
    fn begins_skb_to_send(&self, seq: u64) -> bool {
        seq == self.seq.una() || self.queue.skb_start(seq) == seq
    }

    /// Whether the skb `[start, end)` is one packet in the window that is not SACKed (`tcp_can_collapse`).
    fn may_join(&self, start: u64, end: u64) -> bool {
        let is_one = self.queue.segments(start, end, self.mss) == 1;
        is_one && end <= self.seq.window_end() && self.board.next_sacked(start, end) == end
    }

    /// Makes one segment of the range. The joined skb has the tag of its first part, which ends at `own`.
    fn count_as_one(&mut self, range: SeqRange, own: u64) {
        let size = (range.end - range.start) as u32;
        self.queue.resegment(range, size.max(self.mss_now()), self.mss);
        self.queue.note_mixed(range.end);

        let reno = self.is_reno();
        let (board, window) = self.board_and_window();
        board.forget_resent(range.start, range.end, window);
        if board.is_lost(range.start) {
            board.mark_range_lost(SeqRange::new(own, range.end), window);
        }
        board.recount(reno, window);
    }
}
