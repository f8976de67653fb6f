//! What the CPU looks at in the send queue, skb by skb: the walks of Linux 2.6.20, as counts.
//!
//! The kernel's queue is a list. What an ACK in recovery means is found by walking along it, each
//! walk from where it stopped the last time (a *hint*), or from the head of the queue where there is
//! no hint:
//!
//! | walk | function of 2.6.20 | hint | goes on to |
//! |---|---|---|---|
//! | `sack` | `tcp_sacktag_write_queue` | `fastpath_skb_hint` | the first skb beyond each block |
//! | `mark` | `tcp_mark_head_lost` | `lost_skb_hint` | the first skb that is not to be marked |
//! | `timed_out` | `tcp_update_scoreboard` | `scoreboard_skb_hint` | the first skb sent lately |
//! | `again` | `tcp_xmit_retransmit_queue` | `retransmit_skb_hint` | each skb sent again, the last lost one |
//! | `forward` | the same | `forward_skb_hint` | each skb sent again, the highest SACKed one |
//!
//! The skb at which a walk stops is looked at too, and is the hint. The SACK walk has its hint only
//! if nothing but the end of the first block has changed since the last ACK; then that block alone is
//! looked up. Where a block, or a retransmission, begins or ends inside an skb, `tcp_fragment` splits
//! the skb and clears all hints, so that every walk begins at the head again; so does an ACK that
//! frees an skb (`clear_all_retrans_hints`).
//!
//! Here nothing is walked: an skb has a number, its place in the list since the connection began, and
//! a walk costs the difference of two places. Kernels before 2.6.25 are taken to do all this, later
//! ones nothing of it.
//!
//! Limits:
//! - 2.6.24 is charged the walks of 2.6.20, although its hints differ a little. Time to free skbs is part of
//!   `cpu.ack`.

use super::state::Recovery;
use crate::search_hint::SearchHint;
use crate::tcp::counters::Walked;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::sender::Sender;
use crate::tcp::skb::SendQueue;
use crate::tcp::{CaState, Output};
use alloc::collections::VecDeque;

/// The hints, as places, and what has been looked at since the CPU was last told.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct Walks {
    sack: Option<u64>,
    mark: Option<u64>,
    timed_out: Option<u64>,
    again: Option<u64>,
    forward: Option<u64>,
    looked: Walked,
    splits: Splits,
}

/// Where skbs were split after they had been sent.
#[derive(Clone, Debug, Default)]
struct Splits {
    /// Those that are acknowledged.
    below: u64,
    /// First bytes of the new skbs, ascending.
    points: VecDeque<u64>,
    finger: SearchHint,
}

/// What a walk is for.
#[derive(Clone, Copy)]
enum For {
    Sacks,
    Marks,
    Resending,
}

/// One run of `tcp_xmit_retransmit_queue`: first along what is lost, then forward.
pub(super) struct Resending {
    lost: bool,
    /// Place of the skb that is looked at next.
    at: u64,
}

/// The walks of a connection, and what they walk along.
struct Walk<'a> {
    walks: &'a mut Walks,
    queue: &'a SendQueue,
    board: &'a Scoreboard,
    snd_una: u64,
    snd_nxt: u64,
}

impl Splits {
    fn up_to(&self, seq: u64) -> u64 {
        self.below + self.finger.partition_point(&self.points, |&point| point <= seq) as u64
    }

    /// Whether it was not there yet.
    fn insert(&mut self, seq: u64) -> bool {
        let at = self.finger.partition_point(&self.points, |&point| point < seq);
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
    /// Walks begin at the head of the queue again (clear_all_retrans_hints).
    fn clear_hints(&mut self) {
        self.sack = None;
        self.mark = None;
        self.timed_out = None;
        self.again = None;
        self.forward = None;
    }

    fn has_hints(&self) -> bool {
        let Walks { sack, mark, timed_out, again, forward, .. } = self;
        [sack, mark, timed_out, again, forward].into_iter().any(Option::is_some)
    }
}

impl Walk<'_> {
    /// Place of the skb that holds the byte at `seq`.
    fn place(&self, seq: u64) -> u64 {
        self.queue.skb_number(seq) + self.walks.splits.up_to(seq)
    }

    /// Places of the first skb of the queue and of the next one to be sent.
    fn ends(&self) -> (u64, u64) {
        let ((head, next), splits) = (self.queue.skb_numbers(), &self.walks.splits);
        (head + splits.below, next + splits.below + splits.points.len() as u64)
    }

    fn head(&self) -> u64 {
        self.ends().0
    }

    /// Counts the skbs from place `from` to the one at `to`, which is looked at too if it has been
    /// sent; where the walk stops.
    fn look(&mut self, what: For, from: u64, to: u64) -> u64 {
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

    /// tcp_fragment: what begins at `seq` becomes an skb of its own.
    fn split(&mut self, seq: u64) {
        let inside = self.snd_una < seq && seq < self.snd_nxt;
        if inside && !self.queue.begins_skb(seq) && self.walks.splits.insert(seq) {
            self.walks.clear_hints();
        }
    }

    fn find_block(&mut self, at: u64, start: u64, end: u64) -> u64 {
        if end > self.snd_una && (at == self.head() || self.place(end - 1) >= at) {
            self.split(start);
            self.split(end);
        }
        let to = self.place(end.max(self.snd_una));
        self.look(For::Sacks, at, to)
    }

    /// Place of the last lost one, if the search among them has not passed it.
    fn lost_left(&self, search: &Resending) -> Option<u64> {
        let end = self.board.end_of_lost().filter(|_| search.lost)?;
        Some(self.place(end - 1)).filter(|&last| last >= search.at)
    }

    /// The lost ones end: on to the last of those left, then forward from where that search stopped.
    fn pass_lost(&mut self, search: &mut Resending, left: Option<u64>) {
        if !search.lost {
            return;
        }
        if let Some(last) = left {
            self.look_for_more(search, last);
        }
        let hint = self.walks.forward;
        *search = Resending { lost: false, at: hint.unwrap_or_else(|| self.head()) };
    }

    fn look_for_more(&mut self, search: &mut Resending, to: u64) {
        let stop = self.look(For::Resending, search.at, to);
        *(if search.lost { &mut self.walks.again } else { &mut self.walks.forward }) = Some(stop);
        search.at = stop + 1;
    }
}

impl Recovery {
    /// Walks begin at the head of the queue again.
    pub(super) fn clear_hints(&mut self) {
        if let Some(walks) = &mut self.walks {
            walks.clear_hints();
        }
    }
}

impl Sender {
    /// The walks along the queue; none in kernels that do not walk.
    fn walk(&mut self) -> Option<Walk<'_>> {
        let Sender { queue, board, seq, .. } = self;
        let walks = self.recovery.walks.as_mut()?;
        Some(Walk { walks, queue, board, snd_una: seq.una(), snd_nxt: seq.nxt() })
    }

    /// What was looked at costs its time now.
    pub(in crate::tcp) fn tell_walks(&mut self, out: &mut impl Output) {
        let Some(walks) = &mut self.recovery.walks else { return };
        let looked = core::mem::take(&mut walks.looked);
        if looked.total() > 0 {
            self.counters.walked += looked;
            out.walked(looked.total().min(u64::from(u32::MAX)) as u32);
        }
    }

    /// The whole queue is looked at, as after a timeout.
    pub(super) fn walk_all(&mut self) {
        if let Some(mut walk) = self.walk() {
            walk.look(For::Marks, walk.head(), u64::MAX);
        }
    }

    /// The SACK blocks of an ACK are looked up; to be called before they are remembered.
    pub(super) fn walk_for_sacks(&mut self, blocks: &[(u64, u64)]) {
        let cache = self.recovery.recv_sack_cache;
        let Some(mut walk) = self.walk().filter(|_| !blocks.is_empty()) else { return };
        let same = cache[1..].iter().zip(&blocks[1..]).all(|(known, block)| known == block);
        let fast = blocks[0].0 == cache[0].0 && same;
        let mut sorted = [(0, 0); 4];
        sorted[..blocks.len()].copy_from_slice(blocks);
        let processed = if fast { 1 } else { blocks.len() };
        sorted[..processed].sort_unstable_by_key(|block| block.0);
        let hint = walk.walks.sack.filter(|_| fast);
        let mut at = hint.unwrap_or_else(|| walk.head());
        for &(start, end) in &sorted[..processed] {
            at = walk.find_block(at, start, end.min(walk.snd_nxt));
        }
        walk.walks.sack = Some(at);
    }

    /// A lost packet has arrived, or a retransmission no longer counts.
    pub(super) fn forget_what_was_sent_again(&mut self) {
        if let Some(walks) = &mut self.recovery.walks {
            walks.again = None;
        }
    }

    /// Retransmissions are lost too: they are looked for in the whole queue (event C).
    pub(super) fn walk_for_lost_retransmissions(&mut self) {
        if let Some(mut walk) = self.walk() {
            let to = walk.place(walk.board.snd_fack) + 1;
            walk.look(For::Sacks, walk.head(), to);
            walk.walks.again = None;
        }
    }

    /// Everything below `limit` that is not SACKed is marked.
    pub(super) fn walk_to_mark(&mut self, limit: u64) {
        if let Some(mut walk) = self.walk() {
            let from = walk.walks.mark.unwrap_or_else(|| walk.head());
            let stop = walk.look(For::Marks, from, walk.place(limit));
            walk.walks.mark = Some(stop);
        }
    }

    /// Packets out for longer than the timeout are marked, up to `limit`.
    pub(super) fn walk_past_timed_out(&mut self, limit: u64) {
        if let Some(mut walk) = self.walk() {
            let from = walk.walks.timed_out.unwrap_or_else(|| walk.head());
            let to = walk.place(limit);
            walk.look(For::Marks, from, to);
            walk.walks.timed_out = Some(to.max(from));
        }
    }

    /// An ACK frees what lies below `una`; to be called before it does.
    pub(in crate::tcp) fn walks_are_freed(&mut self, una: u64) {
        if let Some(walk) = self.walk() {
            if walk.walks.has_hints() && walk.place(una) > walk.head() {
                walk.walks.clear_hints();
            }
            walk.walks.splits.forget_up_to(una);
        }
    }

    /// The segment that ends at `end` is sent again: an skb of its own, if it was not one before.
    pub(super) fn walks_split_at(&mut self, end: u64) {
        if let Some(mut walk) = self.walk() {
            walk.split(end);
        }
    }

    /// The search for something to send again begins.
    pub(super) fn begin_resending(&mut self) -> Option<Resending> {
        let walk = self.walk()?;
        let lost = walk.board.lost_out > 0;
        let hint = if lost { walk.walks.again } else { walk.walks.forward };
        Some(Resending { lost, at: hint.unwrap_or_else(|| walk.head()) })
    }

    /// It has found the packet at `seq`, lost or to be sent again forward.
    pub(super) fn walk_to_resend(&mut self, search: &mut Option<Resending>, seq: u64, lost: bool) {
        let (Some(search), Some(mut walk)) = (search, self.walk()) else { return };
        if !lost {
            walk.pass_lost(search, walk.lost_left(search));
        }
        walk.look_for_more(search, walk.place(seq));
    }

    /// It ends: cwnd is full, or there is nothing more to be found.
    pub(super) fn end_resending(&mut self, search: Option<Resending>, full: bool) {
        let Some(mut search) = search else { return };
        let may_go_forward = self.may_go_forward();
        let Some(mut walk) = self.walk() else { return };
        let left = walk.lost_left(&search);
        if full && left.is_some() {
            let at = search.at;
            return walk.look_for_more(&mut search, at);
        }
        walk.pass_lost(&mut search, left);
        if may_go_forward {
            let to = if full { search.at } else { walk.place(walk.board.snd_fack) };
            walk.look_for_more(&mut search, to);
        }
    }

    /// Whether packets below the highest SACKed one may be sent again without proof of loss.
    pub(super) fn may_go_forward(&self) -> bool {
        self.ca_state == CaState::Recovery && !self.is_reno() && !self.may_send_now()
    }
}
