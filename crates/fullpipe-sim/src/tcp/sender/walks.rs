//! Visits of the CPU to skbs of the send queue: the walks of Linux 2.6.20, as counts.
//!
//! The kernel's queue is a list. An ACK in recovery makes the kernel walk along it. Each walk begins where it stopped
//! the last time (a *hint*), or at the head of the queue where there is no hint:
//!
//! | walk | function of 2.6.20 | hint | goes on to |
//! |---|---|---|---|
//! | `sack` | `tcp_sacktag_write_queue` | `fastpath_skb_hint` | the first skb beyond each block |
//! | `mark` | `tcp_mark_head_lost` | `lost_skb_hint` | the first skb that is not to be marked |
//! | `timed_out` | `tcp_update_scoreboard` | `scoreboard_skb_hint` | the first skb sent lately |
//! | `again` | `tcp_xmit_retransmit_queue` | `retransmit_skb_hint` | each skb sent again, the last lost one |
//! | `forward` | the same | `forward_skb_hint` | each skb sent again, the highest SACKed one |
//!
//! The skb at which a walk stops is visited too, and is the hint. The SACK walk has its hint only if nothing but the
//! end of the first block has changed since the last ACK. Then only this block is looked up.
//!
//! Where a block, or a retransmission, begins or ends inside an skb, `tcp_fragment` splits the skb and clears all
//! hints. So every walk begins at the head again. An ACK that frees an skb does the same (`clear_all_retrans_hints`).
//!
//! The simulator does not walk. An skb has a number, its place in the list since the connection began, and a walk costs
//! the difference of two places. Kernels before 2.6.25 are assumed to have all of these walks, later ones none.
//!
//! Limits:
//! - 2.6.24 pays for the walks of 2.6.20, although its hints differ a little. Time to free skbs is part of `cpu.ack`.

use crate::search_hint::SearchHint;
use crate::tcp::counters::Walked;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::skb::SendQueue;
use alloc::collections::VecDeque;

/// Hints, as places, and skbs visited since the last charge of the CPU.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct Walks {
    pub(in crate::tcp) sack: Option<u64>,
    pub(in crate::tcp) mark: Option<u64>,
    pub(in crate::tcp) timed_out: Option<u64>,
    pub(in crate::tcp) again: Option<u64>,
    pub(in crate::tcp) forward: Option<u64>,
    looked: Walked,
    splits: Splits,
}

/// Places where skbs were split after transmission.
#[derive(Clone, Debug, Default)]
struct Splits {
    /// Number of splits that are acknowledged.
    below: u64,
    /// First bytes of the new skbs, ascending.
    points: VecDeque<u64>,
    search_hint: SearchHint,
}

/// Purpose of a walk.
#[derive(Clone, Copy)]
pub(in crate::tcp) enum For {
    Sacks,
    Marks,
    Resending,
}

/// One run of `tcp_xmit_retransmit_queue`: first along lost skbs, then forward.
pub(in crate::tcp) struct Resending {
    pub(in crate::tcp) lost: bool,
    /// Place of the skb to visit next.
    pub(in crate::tcp) at: u64,
}

/// Walks of a connection, with the queue.
pub(in crate::tcp) struct Walk<'a> {
    pub(in crate::tcp) walks: &'a mut Walks,
    pub(in crate::tcp) queue: &'a SendQueue,
    pub(in crate::tcp) board: &'a Scoreboard,
    pub(in crate::tcp) snd_una: u64,
    pub(in crate::tcp) snd_nxt: u64,
}

impl Splits {
    fn up_to(&self, seq: u64) -> u64 {
        self.below + self.search_hint.partition_point(&self.points, |&point| point <= seq) as u64
    }

    /// Adds a split at `seq`; returns whether it is new.
    fn insert(&mut self, seq: u64) -> bool {
        let at = self.search_hint.partition_point(&self.points, |&point| point < seq);
        let new = self.points.get(at) != Some(&seq);
        if new {
            self.points.insert(at, seq);
        }
        new
    }

    fn forget_up_to(&mut self, una: u64) {
        while self.points.front().is_some_and(|&point| point <= una) {
            self.points.pop_front();
            self.below += 1;
        }
    }
}

impl Walks {
    /// Clears all hints, so that walks begin at the head of the queue (clear_all_retrans_hints).
    pub(in crate::tcp) fn clear_hints(&mut self) {
        self.sack = None;
        self.mark = None;
        self.timed_out = None;
        self.again = None;
        self.forward = None;
    }

    pub(in crate::tcp) fn has_hints(&self) -> bool {
        let Walks { sack, mark, timed_out, again, forward, .. } = self;
        [sack, mark, timed_out, again, forward].into_iter().any(Option::is_some)
    }
}

impl Walks {
    /// Takes the visits since the last call.
    pub(in crate::tcp) fn take_looked(&mut self) -> Walked {
        core::mem::take(&mut self.looked)
    }

    /// Forgets skbs that are acknowledged.
    pub(in crate::tcp) fn forget_up_to(&mut self, una: u64) {
        self.splits.forget_up_to(una);
    }
}

impl Walk<'_> {
    /// Place of the skb that holds the byte at `seq`.
    pub(in crate::tcp) fn place(&self, seq: u64) -> u64 {
        self.queue.skb_number(seq) + self.walks.splits.up_to(seq)
    }

    /// Places of the first skb of the queue and of the next one to be sent.
    fn ends(&self) -> (u64, u64) {
        let ((head, next), splits) = (self.queue.skb_numbers(), &self.walks.splits);
        (head + splits.below, next + splits.below + splits.points.len() as u64)
    }

    pub(in crate::tcp) fn head(&self) -> u64 {
        self.ends().0
    }

    /// Counts the skbs from place `from` to the one at `to`, which is visited too if it was sent; returns the place
    /// where the walk stops.
    pub(in crate::tcp) fn look(&mut self, what: For, from: u64, to: u64) -> u64 {
        let end = self.ends().1;
        let last = to.max(from).min(end.saturating_sub(1));
        let looked = &mut self.walks.looked;
        let count = match what {
            For::Sacks => &mut looked.for_sacks,
            For::Marks => &mut looked.to_mark,
            For::Resending => &mut looked.to_resend,
        };
        *count += (last + 1).saturating_sub(from);
        last
    }

    /// tcp_fragment: makes the data from `seq` on an skb of its own.
    pub(in crate::tcp) fn split(&mut self, seq: u64) {
        let inside = self.snd_una < seq && seq < self.snd_nxt;
        if inside && !self.queue.begins_skb(seq) && self.walks.splits.insert(seq) {
            self.walks.clear_hints();
        }
    }

    pub(in crate::tcp) fn find_block(&mut self, at: u64, start: u64, end: u64) -> u64 {
        if end > self.snd_una && (at == self.head() || self.place(end - 1) >= at) {
            self.split(start);
            self.split(end);
        }
        let to = self.place(end.max(self.snd_una));
        self.look(For::Sacks, at, to)
    }

    /// Place of the last lost skb, if the search among lost ones has not passed it.
    pub(in crate::tcp) fn lost_left(&self, search: &Resending) -> Option<u64> {
        let end = self.board.end_of_lost().filter(|_| search.lost)?;
        Some(self.place(end - 1)).filter(|&last| last >= search.at)
    }

    /// Ends the search among lost skbs at the last of those left, then continues forward from where that search
    /// stopped.
    pub(in crate::tcp) fn pass_lost(&mut self, search: &mut Resending, left: Option<u64>) {
        if !search.lost {
            return;
        }
        if let Some(last) = left {
            self.look_for_more(search, last);
        }
        let hint = self.walks.forward;
        *search = Resending { lost: false, at: hint.unwrap_or_else(|| self.head()) };
    }

    pub(in crate::tcp) fn look_for_more(&mut self, search: &mut Resending, to: u64) {
        let stop = self.look(For::Resending, search.at, to);
        *(if search.lost { &mut self.walks.again } else { &mut self.walks.forward }) = Some(stop);
        search.at = stop + 1;
    }
}
