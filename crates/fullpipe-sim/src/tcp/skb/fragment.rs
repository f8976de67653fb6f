//! Borders of sent skbs that differ from those at transmission. SACKs and retransmissions cut skbs (`tcp_fragment`),
//! and neighbouring SACKed skbs are joined (`tcp_shift_skb_data`). Each skb has a head, which the send buffer counts.
//!
//! Source: Linux 6.12 `tcp_fragment`, `tcp_shifted_skb`, `tcp_skb_shift`.

use super::SendQueue;
use alloc::collections::BTreeSet;

/// Most data of one skb: 65,535 packets of the least size (`TCP_MIN_GSO_SIZE`), bytes. They lie in at most as many
/// pieces of 32 KiB as an skb may have (`MAX_SKB_FRAGS`).
const MOST_BYTES: u64 = 65_535 * 8;

/// Borders of sent skbs: numbers at which an skb ends and the next one begins.
#[derive(Clone, Debug, Default)]
pub(super) struct Borders {
    /// Borders within an skb that was sent as one.
    cuts: BTreeSet<u64>,
    /// Borders of sent skbs that were removed.
    joined: BTreeSet<u64>,
    /// Begin and end of the skb that was last joined, which is searched for again.
    last: (u64, u64),
}

impl Borders {
    /// Forgets borders at or below `una`. Returns how many more heads than sent skbs this frees; a negative number: how
    /// many fewer.
    fn free(&mut self, una: u64) -> i64 {
        // Most often no skb was cut or joined.
        if self.cuts.is_empty() && self.joined.is_empty() { 0 } else { self.free_some(una) }
    }

    #[inline(never)]
    fn free_some(&mut self, una: u64) -> i64 {
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
    /// Frees the heads that an ACK up to `una` frees besides those of the sent skbs.
    pub(super) fn free_borders(&mut self, una: u64) {
        let more = self.borders.free(una) * self.overhead as i64;
        self.wmem_queued = self.wmem_queued.saturating_add_signed(-more);
    }

    /// Start of the sent skb that holds the byte at `seq`; for a partly acknowledged one, start of the rest.
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

    /// Last border at or below `seq`, present or removed.
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

    /// Next border behind `seq`, present or removed.
    fn next_border(&self, seq: u64) -> Option<u64> {
        let end = self.end_as_sent(seq)?;
        let cut = self.borders.cuts.range(seq + 1..end).next();
        Some(cut.copied().unwrap_or(end))
    }

    /// Cuts the sent skb that holds the byte at `at` there (`tcp_fragment`).
    pub fn cut(&mut self, at: u64) {
        if self.end_as_sent(at).is_none() || self.skb_start(at) == at {
            return;
        }
        if !self.borders.joined.remove(&at) {
            self.borders.cuts.insert(at);
        }
        self.borders.last = (0, 0);
        self.wmem_queued += self.overhead;
    }

    /// Joins the skbs that meet at `at` (`tcp_shifted_skb`).
    pub fn join(&mut self, at: u64) {
        let (from, Some(to)) = (self.skb_start(at - 1), self.skb_end(at)) else { return };
        if !self.borders.cuts.remove(&at) {
            self.borders.joined.insert(at);
        }
        self.borders.last = (from, to);
        self.wmem_queued -= self.overhead;
    }

    /// Whether an skb may reach from `start` to `end` (`tcp_skb_shift`).
    pub fn may_hold(start: u64, end: u64) -> bool {
        end - start < MOST_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    const OVERHEAD: u64 = 100;

    /// `skbs` sent skbs of 10,000 bytes.
    fn sent(skbs: u64) -> SendQueue {
        let mut queue = SendQueue::new(OVERHEAD);
        for number in 0..skbs {
            queue.write(10_000, false, true);
            queue.send(number * 10_000, Time::ms(number), 1000);
        }
        queue
    }

    fn memory(queue: &SendQueue) -> (u64, u64) {
        (queue.wmem_queued / 1000, queue.wmem_queued % 1000 / OVERHEAD)
    }

    #[test]
    fn a_cut_costs_a_head_and_a_joint_frees_one() {
        let mut queue = sent(3);
        assert_eq!(memory(&queue), (30, 3));
        queue.cut(4000);
        queue.cut(4000);
        queue.cut(10_000);
        assert_eq!(memory(&queue), (30, 4));
        assert_eq!((queue.skb_start(3999), queue.skb_end(3999)), (0, Some(4000)));
        assert_eq!((queue.skb_start(4000), queue.skb_end(4000)), (4000, Some(10_000)));
        queue.join(10_000);
        assert_eq!(memory(&queue), (30, 3));
        assert_eq!((queue.skb_start(19_999), queue.skb_end(4000)), (4000, Some(20_000)));
        queue.join(20_000);
        queue.join(4000);
        assert_eq!(memory(&queue), (30, 1));
        assert_eq!((queue.skb_start(29_999), queue.skb_end(0)), (0, Some(30_000)));
    }

    #[test]
    fn an_ack_frees_the_heads_of_what_ends_below_it() {
        let mut queue = sent(3);
        queue.cut(4000);
        queue.join(10_000);
        // [0, 4000), [4000, 20,000), [20,000, 30,000).
        let after = [3000, 4000, 10_000, 19_000, 20_000, 30_000].map(|una| {
            queue.acknowledge(una, 1000);
            memory(&queue)
        });
        assert_eq!(after, [(27, 3), (26, 2), (20, 2), (11, 2), (10, 1), (0, 0)]);
    }

    /// After random cuts, joins and ACKs the memory is that of the skbs that a walk finds.
    #[test]
    fn memory_is_that_of_the_skbs_there_are() {
        let mut random = crate::rng::Rng::new(1, "borders");
        for _ in 0..200 {
            let mut queue = sent(12);
            let mut una = 0;
            for _ in 0..40 {
                let at = una + 1000 * (random.next_u64() % (120 - una / 1000).max(1));
                match random.next_u64() % 8 {
                    0 => {
                        una = at;
                        queue.acknowledge(una, 1000);
                    }
                    1..=4 => queue.cut(at),
                    _ if at > una && queue.skb_end(at).is_some() && queue.skb_start(at) == at => {
                        queue.join(at);
                    }
                    _ => {}
                }
                let (mut heads, mut next) = (0, una);
                while let Some(end) = queue.skb_end(next) {
                    assert_eq!(queue.skb_start(next).max(una), next);
                    assert_eq!(queue.skb_start(end - 1).max(una), next);
                    (heads, next) = (heads + 1, end);
                }
                assert_eq!(queue.wmem_queued, 120_000 - una + heads * OVERHEAD);
            }
        }
    }
}
