//! Queue walks of Linux 2.6.20: triggers and bounds. `sender/walks.rs` defines a walk.
//!
//! Source: Linux 2.6.20, the functions in the table of `sender/walks.rs`.

use crate::ranges::SeqRange;
use crate::tcp::sender::Sender;
use crate::tcp::sender::walks::{For, Resending, Walk};
use crate::tcp::{CaState, Output};

impl Sender {
    /// The walks along the queue; none in kernels without them.
    fn walk(&mut self) -> Option<Walk<'_>> {
        let Sender { queue, board, seq, .. } = self;
        let walks = self.recovery.walks.as_mut()?;
        Some(Walk { walks, queue, board, snd_una: seq.una(), snd_nxt: seq.nxt() })
    }

    /// Charges the CPU for the skbs visited so far.
    pub(in crate::tcp) fn charge_walks(&mut self, out: &mut impl Output) {
        let Some(walks) = &mut self.recovery.walks else { return };
        let looked = walks.take_looked();
        if looked.total() > 0 {
            self.counters.walked += looked;
            out.walked(looked.total().min(u64::from(u32::MAX)) as u32);
        }
    }

    /// Visits the whole queue, as after a timeout.
    pub(super) fn walk_all(&mut self) {
        if let Some(mut walk) = self.walk() {
            walk.look(For::Marks, walk.head(), u64::MAX);
        }
    }

    /// Looks up the SACK blocks of an ACK; call it before they are remembered.
    pub(super) fn walk_for_sacks(&mut self, blocks: &[SeqRange]) {
        let cache = self.recovery.recv_sack_cache;
        let Some(mut walk) = self.walk().filter(|_| !blocks.is_empty()) else { return };

        // tcp_sacktag_write_queue: if only the first block has grown, the fast path looks at it alone.
        let same = cache[1..].iter().zip(&blocks[1..]).all(|(known, block)| known == block);
        let fast = blocks[0].start == cache[0].start && same;
        let mut sorted = [SeqRange::default(); 4];
        sorted[..blocks.len()].copy_from_slice(blocks);
        let processed = if fast { 1 } else { blocks.len() };
        sorted[..processed].sort_unstable_by_key(|block| block.start);

        // The fast path begins where the last walk ended.
        let hint = walk.walks.sack.filter(|_| fast);
        let mut at = hint.unwrap_or_else(|| walk.head());
        for block in &sorted[..processed] {
            at = walk.find_block(at, block.start, block.end.min(walk.snd_nxt));
        }
        walk.walks.sack = Some(at);
    }

    /// Resets the walk for retransmissions, after a lost packet has arrived or a retransmission no longer counts.
    pub(super) fn forget_what_was_sent_again(&mut self) {
        if let Some(walks) = &mut self.recovery.walks {
            walks.again = None;
        }
    }

    /// Searches the whole queue for lost retransmissions (event C).
    pub(super) fn walk_for_lost_retransmissions(&mut self) {
        if let Some(mut walk) = self.walk() {
            let to = walk.place(walk.board.snd_fack) + 1;
            walk.look(For::Sacks, walk.head(), to);
            walk.walks.again = None;
        }
    }

    /// Marks everything below `limit` that is not SACKed.
    pub(super) fn walk_to_mark(&mut self, limit: u64) {
        if let Some(mut walk) = self.walk() {
            let from = walk.walks.mark.unwrap_or_else(|| walk.head());
            let stop = walk.look(For::Marks, from, walk.place(limit));
            walk.walks.mark = Some(stop);
        }
    }

    /// Marks packets older than the timeout, up to `limit`.
    pub(super) fn walk_past_timed_out(&mut self, limit: u64) {
        if let Some(mut walk) = self.walk() {
            let from = walk.walks.timed_out.unwrap_or_else(|| walk.head());
            let to = walk.place(limit);
            walk.look(For::Marks, from, to);
            walk.walks.timed_out = Some(to.max(from));
        }
    }

    /// Frees skbs below `una` in the walks; call it before the ACK frees them.
    pub(in crate::tcp) fn walks_are_freed(&mut self, una: u64) {
        if let Some(walk) = self.walk() {
            if walk.walks.has_hints() && walk.place(una) > walk.head() {
                walk.walks.clear_hints();
            }
            walk.walks.forget_up_to(una);
        }
    }

    /// Splits the skb at the end of a retransmitted segment, if the segment was a part of it.
    pub(super) fn walks_split_at(&mut self, end: u64) {
        if let Some(mut walk) = self.walk() {
            walk.split(end);
        }
    }

    /// Begins the search for packets to retransmit.
    pub(super) fn begin_resending(&mut self) -> Option<Resending> {
        let walk = self.walk()?;
        let lost = walk.board.lost_out > 0;
        let hint = if lost { walk.walks.again } else { walk.walks.forward };
        Some(Resending { lost, at: hint.unwrap_or_else(|| walk.head()) })
    }

    /// Continues the search up to the packet at `seq`, which is lost or is sent again forward.
    pub(super) fn walk_to_resend(&mut self, search: &mut Option<Resending>, seq: u64, lost: bool) {
        let (Some(search), Some(mut walk)) = (search, self.walk()) else { return };
        if !lost {
            walk.pass_lost(search, walk.lost_left(search));
        }
        walk.look_for_more(search, walk.place(seq));
    }

    /// Ends the search, because cwnd is full or no packet is left.
    pub(super) fn end_resending(&mut self, search: Option<Resending>, full: bool) {
        let Some(mut search) = search else { return };
        let may_go_forward = self.may_go_forward();
        let Some(mut walk) = self.walk() else { return };
        let left = walk.lost_left(&search);

        // cwnd is full, so the next search begins here.
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
