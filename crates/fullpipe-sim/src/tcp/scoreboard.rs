//! What the sender knows about the packets in flight: SACKed, lost, retransmitted, as ranges.
//!
//! Loss is marked by forward acknowledgement (FACK: Mathis, Mahdavi 1996; Linux 2.6.20
//! `tcp_update_scoreboard` with sysctl_tcp_fack = 1): everything not SACKed that lies at least
//! `reordering` packets below the highest SACKed one.

use super::skb::SendQueue;
use crate::ranges::RangeSet;
use alloc::collections::BTreeMap;

/// See the module's description. Counts are packets, names are Linux's.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: RangeSet,
    retransmitted: RangeSet,
    /// Segments ever sent again: by their start, the jiffy of the last time.
    resent: BTreeMap<u64, u32>,
    /// Everything below this and not SACKed is marked lost.
    lost_below: u64,
    /// Where the search for the next retransmission starts.
    next_retransmit: u64,
    /// Highest SACKed byte.
    pub snd_fack: u64,
    /// Segments sent and not cumulatively acknowledged.
    pub packets_out: u32,
    /// Of these, SACKed.
    pub sacked_out: u32,
    /// Of these, marked lost.
    pub lost_out: u32,
    /// Of these, retransmitted and still thought in flight.
    pub retrans_out: u32,
}

/// What of the segments just acknowledged had been sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resent {
    /// Whether any was.
    pub any: bool,
    /// The jiffy of the last time for the first of them, if it was.
    pub first: Option<u32>,
}

/// Bounds of the sender's window and its segment size.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// The queue, which knows the boundaries of segments.
    pub queue: &'a SendQueue,
    /// First unacknowledged byte.
    pub snd_una: u64,
    /// Next byte to send.
    pub snd_nxt: u64,
    /// Maximum segment size, bytes.
    pub mss: u32,
}

impl Window<'_> {
    fn count(&self, from: u64, to: u64) -> u32 {
        self.queue.segments(from, to, self.mss)
    }
}

impl Scoreboard {
    /// tcp_packets_in_flight.
    pub fn in_flight(&self) -> u32 {
        self.packets_out - self.sacked_out - self.lost_out + self.retrans_out
    }

    /// Packets from the first unacknowledged one up to the highest SACKed one.
    pub fn fackets_out(&self, window: Window) -> u32 {
        if self.sacked_out == 0 { 0 } else { window.count(window.snd_una, self.snd_fack) }
    }

    /// A SACK block; returns the packets newly covered.
    pub fn sack(&mut self, start: u64, end: u64, window: Window) -> u32 {
        let (start, end) = (start.max(window.snd_una), end.min(window.snd_nxt));
        let before = self.sacked_out;
        let (lost_below, mut no_longer_lost) = (self.lost_below, 0);
        let (mut newly, retransmitted, mut returned) = (0, &mut self.retransmitted, 0);
        self.sacked.insert(start, end, |from, to| {
            newly += window.count(from, to);
            if from < lost_below {
                no_longer_lost += window.count(from, to.min(lost_below));
            }
            retransmitted.remove(from, to, |f, t| returned += window.count(f, t));
        });
        self.sacked_out = before + newly;
        self.lost_out -= no_longer_lost;
        self.retrans_out -= returned;
        if newly > 0 {
            self.snd_fack = self.snd_fack.max(end);
        }
        newly
    }

    /// The cumulative ACK moves from `window.snd_una` to `una`.
    pub fn acknowledge(&mut self, una: u64, window: Window) -> Resent {
        let from = window.snd_una;
        self.packets_out -= window.count(from, una);
        if self.sacked.is_empty() && self.lost_below <= from && self.resent.is_empty() {
            return Resent::default();
        }
        let marked_to = self.lost_below.clamp(from, una);
        let mut lost = window.count(from, marked_to);
        let (mut sacked, mut returned) = (0, 0);
        self.sacked.remove(from, una, |f, t| {
            sacked += window.count(f, t);
            if f < marked_to {
                lost -= window.count(f, t.min(marked_to));
            }
        });
        self.retransmitted.remove(from, una, |f, t| returned += window.count(f, t));
        self.sacked_out -= sacked;
        self.lost_out -= lost;
        self.retrans_out -= returned;
        let still_out = self.resent.split_off(&una);
        let resent = core::mem::replace(&mut self.resent, still_out);
        Resent { any: !resent.is_empty(), first: resent.get(&from).copied() }
    }

    /// Marks everything below `limit` that is not SACKed as lost.
    pub fn mark_lost_below(&mut self, limit: u64, window: Window) {
        let from = self.lost_below.max(window.snd_una);
        if limit <= from {
            return;
        }
        let mut lost = window.count(from, limit);
        self.sacked.inside(from, limit, |f, t| lost -= window.count(f, t));
        self.lost_out += lost;
        self.lost_below = limit;
    }

    /// FACK: marks what lies `reordering` packets below the highest SACKed byte, at least the first
    /// packet, and nothing from `high_seq` on.
    pub fn mark_by_fack(&mut self, reordering: u32, high_seq: u64, window: Window) {
        let mut limit = self.snd_fack.max(window.snd_una);
        for _ in 0..reordering {
            limit = window.queue.segment_start(limit, window.mss);
        }
        let first = window.queue.segment_end(window.snd_una, window.mss, window.snd_nxt);
        self.mark_lost_below(limit.max(first).min(high_seq), window);
    }

    /// After a timeout everything not SACKed is lost and nothing counts as retransmitted
    /// (Linux 2.6.20 `tcp_enter_loss`).
    pub fn mark_all_lost(&mut self, window: Window) {
        self.retransmitted.clear();
        self.retrans_out = 0;
        self.next_retransmit = window.snd_una;
        self.mark_lost_below(window.snd_nxt, window);
    }

    /// Whether the receiver takes back a SACK: the first byte it still waits for is SACKed.
    pub fn has_reneged(&self, snd_una: u64) -> bool {
        self.sacked_out > 0 && self.sacked.contains(snd_una)
    }

    /// The receiver's SACKs no longer hold; to be followed by [`Scoreboard::mark_all_lost`].
    pub fn forget_sacks(&mut self) {
        self.sacked.clear();
        (self.sacked_out, self.lost_out, self.lost_below, self.snd_fack) = (0, 0, 0, 0);
    }

    /// The next lost segment that was not retransmitted: `(start, end)`.
    pub fn next_lost(&mut self, window: Window) -> Option<(u64, u64)> {
        let mut at = self.next_retransmit.max(window.snd_una);
        loop {
            let skipped = self.retransmitted.next_gap(self.sacked.next_gap(at));
            if skipped == at {
                break;
            }
            at = skipped;
        }
        self.next_retransmit = at;
        (at < self.lost_below.min(window.snd_nxt))
            .then(|| (at, window.queue.segment_end(at, window.mss, window.snd_nxt)))
    }

    /// The segment `[start, end)` was sent again, at jiffy `when`.
    pub fn note_retransmitted(&mut self, start: u64, end: u64, when: u32) {
        let mut fresh = false;
        self.retransmitted.insert(start, end, |_, _| fresh = true);
        self.resent.insert(start, when);
        self.retrans_out += u32::from(fresh);
    }

    /// Leaves recovery: nothing is lost any more (everything marked has been acknowledged).
    pub fn settle(&mut self, snd_una: u64) {
        self.lost_below = self.lost_below.max(snd_una);
        self.next_retransmit = self.next_retransmit.max(snd_una);
    }
}
