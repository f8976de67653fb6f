//! Where sent skbs meet other than where they were sent: SACKs and retransmissions cut them (`tcp_fragment`), and
//! what is SACKed side by side becomes one (`tcp_shift_skb_data`). Each skb has a head, which the send buffer counts.
//!
//! Source: Linux 6.12 `tcp_fragment`, `tcp_shifted_skb`, `tcp_skb_shift`, `skb_shift`.

use super::SendQueue;
use alloc::collections::BTreeSet;

/// What one skb may describe at most: 65,535 packets of the least size (`TCP_MIN_GSO_SIZE`), bytes.
const MOST_BYTES: u64 = 65_535 * 8;
/// Pieces of memory of one skb at most (`MAX_SKB_FRAGS`).
const MOST_PIECES: u64 = 17;
/// What is written lies in pieces of that many bytes (`SKB_FRAG_PAGE_ORDER`).
const PIECE: u64 = 32_768;

/// See the module's description. Numbers at which an skb ends and the next one begins.
#[derive(Clone, Debug, Default)]
pub(super) struct Borders {
    /// Those within an skb that was sent as one.
    cuts: BTreeSet<u64>,
    /// Those of sent skbs that are no more.
    joined: BTreeSet<u64>,
    /// The skb that was last joined, from and to: it is looked for again.
    last: (u64, u64),
}

impl Borders {
    /// Forgets what lies at or below `una`. How many more heads than skbs sent were freed by it; less: negative.
    fn free(&mut self, una: u64) -> i64 {
        let mut heads = 0;
        while self.cuts.first().is_some_and(|&at| at <= una) {
            self.cuts.pop_first();
            heads += 1;
        }
        while self.joined.first().is_some_and(|&at| at <= una) {
            self.joined.pop_first();
            heads -= 1;
        }
        heads
    }
}

impl SendQueue {
    /// The heads that an ACK below `una` freed, besides those of the skbs that were sent.
    pub(super) fn free_borders(&mut self, una: u64) {
        let more = self.borders.free(una) * self.overhead as i64;
        self.wmem_queued = self.wmem_queued.saturating_add_signed(-more);
    }

    /// Start of the sent skb that holds the byte at `seq`; of one that was acknowledged in part, what is left.
    pub fn skb_start(&self, seq: u64) -> u64 {
        let (from, to) = self.borders.last;
        let mut start = self.last_border(seq);
        while self.borders.joined.contains(&start) {
            if from < start && start < to {
                return from.max(self.sent_from);
            }
            start = self.last_border(start - 1);
        }
        start
    }

    /// The last place at or below `seq` at which skbs met once, or meet.
    fn last_border(&self, seq: u64) -> u64 {
        let cut = self.borders.cuts.range(..=seq).next_back().copied();
        self.start_as_sent(seq).max(cut.unwrap_or(0)).max(self.sent_from)
    }

    /// End of the sent skb that holds the byte at `seq`.
    pub fn skb_end(&self, seq: u64) -> Option<u64> {
        let mut end = self.next_border(seq)?;
        while self.borders.joined.contains(&end) {
            end = self.next_border(end)?;
        }
        Some(end)
    }

    /// The next place at which skbs met once, or meet.
    fn next_border(&self, seq: u64) -> Option<u64> {
        let end = self.end_as_sent(seq)?;
        let cut = self.borders.cuts.range(seq + 1..end).next();
        Some(cut.copied().unwrap_or(end))
    }

    /// Cuts the sent skb that holds the byte at `at` in two there (`tcp_fragment`).
    pub fn cut(&mut self, at: u64) {
        if self.skb_end(at).is_none() || self.skb_start(at) == at {
            return;
        }
        if !self.borders.joined.remove(&at) {
            self.borders.cuts.insert(at);
        }
        self.borders.last = (0, 0);
        self.wmem_queued += self.overhead;
    }

    /// The skbs that meet at `at` become one (`tcp_shifted_skb`).
    pub fn join(&mut self, at: u64) {
        let (from, Some(to)) = (self.skb_start(at - 1), self.skb_end(at)) else { return };
        if !self.borders.cuts.remove(&at) {
            self.borders.joined.insert(at);
        }
        self.borders.last = (from, to);
        self.wmem_queued -= self.overhead;
    }

    /// Whether an skb may reach from `start` to `end` (`tcp_skb_shift`, `skb_shift`).
    pub fn may_hold(start: u64, end: u64) -> bool {
        end - start < MOST_BYTES && (end - 1) / PIECE - start / PIECE < MOST_PIECES
    }
}
