//! Memory of a sender's data: successive pieces of 32 KiB (page_frag). A packet refers to the pieces that hold its
//! data, so its receiver counts them, too. A piece without references is reused.
//!
//! Source: Linux 6.12 `sk_page_frag_refill`, `skb_page_frag_refill`, `tcp_sendmsg_locked`. PageFrags of all profiles are
//! those of kernels since 3.7 (`SKB_FRAG_PAGE_ORDER`).
//!
//! Limits:
//! - The sender assumes that its last piece is reused once all data is acknowledged. Only the receiver checks whether
//!   the reader has read all of it (`skb_page_frag_refill`). An application that pauses between writes of odd sizes,
//!   with a reader hardly faster than it, was 0.2 to 13 % off in 6 runs of 36. The window is half a kilobyte off, for
//!   an unknown reason. With writes of multiples of 32 KiB 27 of 27 runs were equal.

use crate::units::Time;
use alloc::collections::VecDeque;

/// Bytes of one piece.
const PIECE: u64 = 32_768;
/// Least free bytes of a piece for the start of a copy; a smaller rest is left unused.
const LEAST: u64 = 32;

/// A place in the stream from which on pieces are counted anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFrag {
    pub(super) at: u64,
    /// Time at which the last piece is reused, if it is. It is if the reader had read all data before `at` by then.
    pub(super) again: Option<Time>,
}

/// The piece into which a sender copies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filling {
    /// First number of the piece from which pieces are counted.
    from: u64,
}

impl Filling {
    /// Begins a copy at number `at` of the stream; `acknowledged`: all earlier data is. Returns the change of the
    /// layout, if any: the rest of a piece is left unused, or the piece is reused.
    pub(super) fn begin_copy(
        &mut self,
        at: u64,
        now: Time,
        acknowledged: bool,
    ) -> Option<PageFrag> {
        let filled = (at - self.from) % PIECE;
        if filled == 0 || !acknowledged && filled <= PIECE - LEAST {
            return None;
        }
        // The reuse is an assumption: the sender does not learn of it.
        self.from = at;
        Some(PageFrag { at, again: Some(now).filter(|_| filled <= PIECE - LEAST) })
    }
}

/// Starts of pieces, as a receiver needs them for arriving data.
#[derive(Clone, Debug, Default)]
pub(super) struct PageFrags {
    /// First number from which pieces are counted, at or below the next arrival.
    from: u64,
    /// Later starts, in order; there is hardly ever one. Data behind such a start has not arrived yet.
    later: VecDeque<PageFrag>,
}

impl PageFrags {
    /// Adds a start of pieces before any data beyond it arrives.
    pub(super) fn begin(&mut self, page_frag: PageFrag) {
        self.later.push_back(page_frag);
    }

    /// Whether a start has not been [reached](PageFrags::reach).
    pub(super) fn are_awaited(&self) -> bool {
        !self.later.is_empty()
    }

    /// Moves to the next number `next`: no number below it will be asked for. `read`: when the reader had read all
    /// data, if it has.
    pub(super) fn reach(&mut self, next: u64, read: Option<Time>) {
        while let Some(page_frag) =
            self.later.front().copied().filter(|page_frag| page_frag.at <= next)
        {
            self.later.pop_front();
            if page_frag.again.is_none_or(|again| read.is_some_and(|read| read <= again)) {
                self.from = page_frag.at;
            }
        }
    }

    /// Number of pieces that hold `[seq, end)`.
    pub(super) fn count(&self, seq: u64, end: u64) -> u32 {
        let last = end.saturating_sub(1).max(seq);
        if self.later.is_empty() {
            return borders(self.from, seq, last) + 1;
        }
        let (mut from, mut at, mut count) = (self.from, seq, 1);
        for next in self.later.iter().map(|page_frag| page_frag.at).take_while(|&next| next <= last)
        {
            if at < next {
                count += borders(from, at, next - 1) + 1;
                at = next;
            }
            from = next;
        }
        count + borders(from, at, last)
    }

    /// Number of pieces that hold each packet of `len` bytes in `[seq, end)`.
    pub(super) fn of_packets(&self, seq: u64, end: u64, len: u32) -> impl Iterator<Item = u32> {
        let packets = (seq..end).step_by(len.max(1) as usize);
        packets.map(move |at| self.count(at, (at + u64::from(len)).min(end)))
    }
}

/// Borders of pieces, counted from `from` on, beyond `first` and up to `last`. Repeated data before `from` has none.
fn borders(from: u64, first: u64, last: u64) -> u32 {
    let page_frags = |at: u64| at.saturating_sub(from) / PIECE;
    (page_frags(last) - page_frags(first)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given_up(at: u64) -> PageFrag {
        PageFrag { at, again: None }
    }

    fn again(at: u64, time: u64) -> PageFrag {
        PageFrag { at, again: Some(Time::ms(time)) }
    }

    #[test]
    fn less_than_32_bytes_of_a_piece_are_given_up() {
        let mut filling = Filling::default();
        for (at, gives_up) in [
            (0, false),
            (PIECE - 32, false),
            (PIECE, false),
            (2 * PIECE - 31, true),
            (2 * PIECE, false),
            (3 * PIECE - 31, false),
            (3 * PIECE - 32, true),
            (4 * PIECE - 33, true),
        ] {
            let page_frag = gives_up.then_some(given_up(at));
            assert_eq!(filling.begin_copy(at, Time::ZERO, false), page_frag, "{at}");
        }
    }

    #[test]
    fn a_piece_of_which_all_is_acknowledged_is_filled_anew() {
        let mut filling = Filling::default();
        for (at, page_frag) in [
            (0, None),
            (1000, Some(again(1000, 7))),
            (1000 + PIECE, None),
            // Other references to the piece do not matter.
            (1000 + 2 * PIECE - 31, Some(given_up(1000 + 2 * PIECE - 31))),
        ] {
            assert_eq!(filling.begin_copy(at, Time::ms(7), true), page_frag, "{at}");
        }
    }

    /// The reader had read all data at 5 ms.
    #[test]
    fn a_piece_is_filled_anew_if_the_reader_has_had_all_of_it() {
        let read = Some(Time::ms(5));
        for (time, read, count) in [(4, read, 2), (5, read, 1), (6, read, 1), (6, None, 2)] {
            let mut page_frags = PageFrags::default();
            page_frags.begin(again(1000, time));
            page_frags.reach(1000, read);
            assert_eq!(page_frags.count(1000, 1000 + PIECE), count, "{time} {read:?}");
        }
    }

    #[test]
    fn a_receiver_counts_the_pieces_that_the_sender_filled() {
        let mut page_frags = PageFrags::default();
        // The 33rd packet of 1000 bytes lies in two.
        assert_eq!(
            [(31_000, 32_000), (32_000, 33_000)].map(|(a, b)| page_frags.count(a, b)),
            [1, 2]
        );
        let more = [(0, PIECE), (0, PIECE + 1), (PIECE, PIECE)];
        assert_eq!(more.map(|(a, b)| page_frags.count(a, b)), [1, 2, 1]);
        // A border between two packets cuts neither.
        let borders = |of: u32| of - 1;
        let within =
            |seq, len| page_frags.of_packets(seq, seq + 90_000, len).map(borders).sum::<u32>();
        assert_eq!([within(0, 1000), within(0, 1024)], [2, 0]);
        let borders = [32_750, 32_750 + PIECE, 90_000, 90_000 + PIECE];
        [32_750, 90_000].into_iter().for_each(|at| page_frags.begin(given_up(at)));
        let within = |seq, end| borders.iter().filter(|&&at| seq < at && at < end).count() as u32;
        let check = |page_frags: &PageFrags, seq: u64| {
            let close = borders.into_iter().chain(borders.map(|at| at + 1));
            for end in (seq + 1..122_000).step_by(7).chain(close).filter(|end| *end > seq) {
                assert_eq!(page_frags.count(seq, end), within(seq, end) + 1, "{seq}..{end}");
            }
        };
        for seq in [0, 1000, 32_749, 32_750, 32_751, 65_517, 65_518, 89_999, 90_000, 122_000] {
            check(&page_frags, seq);
        }
        for next in [1000, 32_749, 32_750, 60_000, 89_999, 90_000, 100_000] {
            page_frags.reach(next, None);
            check(&page_frags, next);
            check(&page_frags, next + 5000);
        }
        assert!(!page_frags.are_awaited());
    }
}
