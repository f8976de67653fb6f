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

use crate::finger::Finger;
use crate::tcp::sender::Sender;
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
    looked: u64,
    splits: Splits,
}

/// Where skbs were split after they had been sent.
#[derive(Clone, Debug, Default)]
struct Splits {
    /// Those that are acknowledged.
    below: u64,
    /// First bytes of the new skbs, ascending.
    points: VecDeque<u64>,
    finger: Finger,
}

/// One run of `tcp_xmit_retransmit_queue`: first along what is lost, then forward.
pub(super) struct Resending {
    lost: bool,
    /// Place of the skb that is looked at next.
    at: u64,
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
    pub(in crate::tcp) fn clear_hints(&mut self) {
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

impl Sender {
    /// Place of the skb that holds the byte at `seq`.
    fn place(&self, seq: u64) -> u64 {
        self.queue.skb_number(seq) + self.recovery.walks.splits.up_to(seq)
    }

    /// Places of the first skb of the queue and of the next one to be sent.
    fn ends(&self) -> (u64, u64) {
        let ((head, next), splits) = (self.queue.skb_numbers(), &self.recovery.walks.splits);
        (head + splits.below, next + splits.below + splits.points.len() as u64)
    }

    fn head(&self) -> u64 {
        self.ends().0
    }

    /// Counts the skbs from place `from` to the one at `to`, which is looked at too if it has been
    /// sent; where the walk stops.
    fn look(&mut self, from: u64, to: u64) -> u64 {
        let end = self.ends().1;
        let last = to.max(from).min(end.saturating_sub(1));
        self.recovery.walks.looked += (last + 1).saturating_sub(from);
        last
    }

    /// tcp_fragment: what begins at `seq` becomes an skb of its own.
    fn split(&mut self, seq: u64) {
        let inside = self.snd_una < seq && seq < self.snd_nxt;
        if inside && !self.queue.begins_skb(seq) && self.recovery.walks.splits.insert(seq) {
            self.recovery.walks.clear_hints();
        }
    }

    /// What was looked at costs its time now.
    pub(in crate::tcp) fn tell_walks(&mut self, out: &mut dyn Output) {
        let looked = core::mem::take(&mut self.recovery.walks.looked);
        self.counters.skbs_walked += looked;
        if looked > 0 {
            out.walked(looked.min(u64::from(u32::MAX)) as u32);
        }
    }

    /// The whole queue is looked at, as after a timeout.
    pub(super) fn walk_all(&mut self) {
        if self.profile.walks_for_sacks {
            let head = self.head();
            self.look(head, u64::MAX);
        }
    }

    /// The SACK blocks of an ACK are looked up; to be called before they are remembered.
    pub(super) fn walk_for_sacks(&mut self, blocks: &[(u64, u64)]) {
        if !self.profile.walks_for_sacks || blocks.is_empty() {
            return;
        }
        let cache = &self.recovery.recv_sack_cache;
        let same = cache[1..].iter().zip(&blocks[1..]).all(|(known, block)| known == block);
        let fast = blocks[0].0 == cache[0].0 && same;
        let mut sorted = [(0, 0); 4];
        sorted[..blocks.len()].copy_from_slice(blocks);
        let processed = if fast { 1 } else { blocks.len() };
        sorted[..processed].sort_unstable_by_key(|block| block.0);
        let hint = self.recovery.walks.sack.filter(|_| fast);
        let mut at = hint.unwrap_or_else(|| self.head());
        for &(start, end) in &sorted[..processed] {
            at = self.walk_for_block(at, start, end.min(self.snd_nxt));
        }
        self.recovery.walks.sack = Some(at);
    }

    fn walk_for_block(&mut self, at: u64, start: u64, end: u64) -> u64 {
        if end > self.snd_una && (at == self.head() || self.place(end - 1) >= at) {
            self.split(start);
            self.split(end);
        }
        let to = self.place(end.max(self.snd_una));
        self.look(at, to)
    }

    /// A lost packet has arrived, or a retransmission no longer counts.
    pub(super) fn forget_what_was_sent_again(&mut self) {
        self.recovery.walks.again = None;
    }

    /// Retransmissions are lost too: they are looked for in the whole queue (event C).
    pub(super) fn walk_for_lost_retransmissions(&mut self) {
        if self.profile.walks_for_sacks {
            let (head, to) = (self.head(), self.place(self.board.snd_fack) + 1);
            self.look(head, to);
            self.forget_what_was_sent_again();
        }
    }

    /// Everything below `limit` that is not SACKed is marked.
    pub(super) fn walk_to_mark(&mut self, limit: u64) {
        if self.profile.walks_for_sacks {
            let from = self.recovery.walks.mark.unwrap_or_else(|| self.head());
            let stop = self.look(from, self.place(limit));
            self.recovery.walks.mark = Some(stop);
        }
    }

    /// Packets out for longer than the timeout are marked, up to `limit`.
    pub(super) fn walk_past_timed_out(&mut self, limit: u64) {
        if self.profile.walks_for_sacks {
            let from = self.recovery.walks.timed_out.unwrap_or_else(|| self.head());
            let to = self.place(limit);
            self.look(from, to);
            self.recovery.walks.timed_out = Some(to.max(from));
        }
    }

    /// An ACK frees what lies below `una`; to be called before it does.
    pub(in crate::tcp) fn walks_are_freed(&mut self, una: u64) {
        if !self.profile.walks_for_sacks {
            return;
        }
        if self.recovery.walks.has_hints() && self.place(una) > self.head() {
            self.recovery.walks.clear_hints();
        }
        self.recovery.walks.splits.forget_up_to(una);
    }

    /// The segment that ends at `end` is sent again: an skb of its own, if it was not one before.
    pub(super) fn walks_split_at(&mut self, end: u64) {
        if self.profile.walks_for_sacks {
            self.split(end);
        }
    }

    /// The search for something to send again begins.
    pub(super) fn begin_resending(&self) -> Resending {
        if !self.profile.walks_for_sacks {
            return Resending { lost: false, at: 0 };
        }
        let walks = &self.recovery.walks;
        let lost = self.board.lost_out > 0;
        let hint = if lost { walks.again } else { walks.forward };
        Resending { lost, at: hint.unwrap_or_else(|| self.head()) }
    }

    /// It has found the packet at `seq`, lost or to be sent again forward.
    pub(super) fn walk_to_resend(&mut self, search: &mut Resending, seq: u64, lost: bool) {
        if !self.profile.walks_for_sacks {
            return;
        }
        if !lost {
            self.pass_lost(search);
        }
        let to = self.place(seq);
        self.look_for_more(search, to);
    }

    /// It ends: cwnd is full, or there is nothing more to be found.
    pub(super) fn end_resending(&mut self, mut search: Resending, full: bool) {
        if !self.profile.walks_for_sacks {
            return;
        }
        if full && search.lost && self.last_lost().is_some_and(|last| last >= search.at) {
            let at = search.at;
            return self.look_for_more(&mut search, at);
        }
        self.pass_lost(&mut search);
        if self.may_go_forward() {
            let to = if full { search.at } else { self.place(self.board.snd_fack) };
            self.look_for_more(&mut search, to);
        }
    }

    fn last_lost(&self) -> Option<u64> {
        self.board.end_of_lost().map(|end| self.place(end - 1))
    }

    /// The lost ones end: on to the last of them, then forward from where that search stopped.
    fn pass_lost(&mut self, search: &mut Resending) {
        if !search.lost {
            return;
        }
        if let Some(last) = self.last_lost().filter(|&last| last >= search.at) {
            self.look_for_more(search, last);
        }
        let hint = self.recovery.walks.forward;
        *search = Resending { lost: false, at: hint.unwrap_or_else(|| self.head()) };
    }

    fn look_for_more(&mut self, search: &mut Resending, to: u64) {
        let stop = self.look(search.at, to);
        let walks = &mut self.recovery.walks;
        *(if search.lost { &mut walks.again } else { &mut walks.forward }) = Some(stop);
        search.at = stop + 1;
    }

    /// Whether packets below the highest SACKed one may be sent again without proof of loss.
    pub(super) fn may_go_forward(&self) -> bool {
        self.ca_state == CaState::Recovery && !self.is_reno() && !self.may_send_now()
    }
}
