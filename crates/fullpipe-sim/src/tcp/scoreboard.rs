//! The sender's state of packets in flight: SACKed, lost, sent again, as ranges.
//!
//! Linux keeps tags on each packet of the retransmission queue: S (SACKed), L (lost), R (sent again and thought in
//! flight) and "ever sent again" (2.6.20 `tcp_sacktag_write_queue`). Here each tag is a set of ranges, so that the cost
//! of an ACK grows neither with the window nor with the holes. A hole is visited only when one of its tags changes. The
//! exception is a search for packets older than the timeout.

mod age;
mod refit;

pub use age::Age;

use crate::gap_buffer::GapBuffer;
use crate::ranges::RangeSet;
use crate::tcp::rack::Rack;
use crate::tcp::rate::Rate;
use crate::tcp::skb::SendQueue;
use crate::units::Time;
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Tags of the packets in flight. Counts are packets, names are Linux's.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: RangeSet,
    lost: RangeSet,
    retransmitted: RangeSet,
    /// Lost packets that wait to be sent again.
    pending: RangeSet,
    /// Packets ever sent again, as ranges and, by the start of each segment, the last time.
    ever: RangeSet,
    resent: GapBuffer<Again>,
    /// Retransmissions in the order of sending.
    again: VecDeque<Again>,
    /// Bound below which every packet has been checked for loss.
    marked_below: u64,
    /// Bound below which timeouts have checked every packet for loss.
    aged_below: u64,
    /// Start of the search for the next forward retransmission.
    forward_from: u64,
    /// Highest SACKed byte.
    pub snd_fack: u64,
    /// Segments sent and not cumulatively acknowledged.
    pub packets_out: u32,
    /// SACKed ones of these; without SACK, duplicate ACKs (see `recovery/reno.rs`).
    pub sacked_out: u32,
    /// Lost ones of these.
    pub lost_out: u32,
    /// Retransmitted ones of these that are thought to be in flight.
    pub retrans_out: u32,
    /// Packets ever delivered: SACKed, acknowledged without a SACK, or arrived twice (tcp_sock.delivered).
    pub delivered: u64,
    /// Packets ever marked lost, including retransmissions (tcp_sock.lost).
    pub lost_ever: u64,
    /// State of losses by time, where time decides them.
    pub rack: Option<Rack>,
    /// Samples of the delivery rate, where the congestion control needs them.
    pub rate: Option<Box<Rate>>,
}

#[derive(Clone, Copy, Debug)]
struct Again {
    start: u64,
    end: u64,
    when: Time,
    /// `snd_nxt` at this retransmission.
    snd_nxt: u64,
}

/// Findings of a SACK block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sacked {
    /// Packets newly covered.
    pub packets: u32,
    /// Lowest of these packets that was never sent again.
    pub original: Option<u64>,
    /// Highest of these packets that was never sent again.
    pub last_original: Option<u64>,
}

/// Findings of a cumulative ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// Packets acknowledged.
    pub packets: u32,
    /// Acknowledged packets that had not been SACKed.
    pub delivered: u32,
    /// Whether any of them had been sent again.
    pub resent: bool,
    /// Whether one of them other than the first had been sent again.
    pub resent_beyond_head: bool,
    /// Lowest of them that was neither SACKed before nor ever sent again.
    pub original: Option<u64>,
    /// Last byte of the highest such packet.
    pub last_original: Option<u64>,
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
    /// Packets in `[from, to)`.
    pub fn count(&self, from: u64, to: u64) -> u32 {
        self.queue.segments(from, to, self.mss)
    }

    fn segment_end(&self, seq: u64) -> u64 {
        self.queue.segment_end(seq, self.mss, self.snd_nxt)
    }

    /// Start of the `packets` packets before `end`.
    fn back(&self, end: u64, packets: u32) -> u64 {
        self.queue.segment_start(end, packets, self.mss)
    }
}

/// The first number at or after `at` that is in neither set; the search ends at `until`.
fn next_gap_of_both(a: &RangeSet, b: &RangeSet, mut at: u64, until: u64) -> u64 {
    while at < until {
        let next = b.next_gap(a.next_gap(at));
        if next == at {
            return at;
        }
        at = next;
    }
    at
}

impl Scoreboard {
    /// Scoreboard of a new connection; `rack`: time decides losses.
    pub fn new(rack: bool) -> Scoreboard {
        Scoreboard { rack: rack.then(Rack::default), ..Scoreboard::default() }
    }

    /// tcp_packets_in_flight.
    pub fn in_flight(&self) -> u32 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// Packets from the first unacknowledged one up to the highest SACKed one.
    pub fn fackets_out(&self, window: Window) -> u32 {
        if self.sacked.is_empty() { 0 } else { window.count(window.snd_una, self.snd_fack) }
    }

    /// Takes a SACK block above the cumulative ACK. A retransmitted packet keeps its R unless it was marked lost: both
    /// copies are thought to be on their way (2.6.20).
    pub fn sack(&mut self, start: u64, end: u64, window: Window) -> Sacked {
        let (start, end) = (start.max(window.snd_una), end.min(window.snd_nxt));
        let mut newly = Sacked::default();
        self.advance_rack(start, end, false, window);
        let Scoreboard { sacked, lost, retransmitted, pending, ever, .. } = self;
        let (mut no_longer_lost, mut returned) = (0, 0);
        sacked.insert(start, end, |from, to| {
            newly.packets += window.count(from, to);
            note_original(ever, from, to, &mut newly);
            lost.remove(from, to, |f, t| {
                no_longer_lost += window.count(f, t);
                retransmitted.remove(f, t, |f, t| returned += window.count(f, t));
            });
            pending.remove(from, to, |_, _| {});
        });

        // A SACKed packet is neither lost nor in flight any more.
        self.sacked_out += newly.packets;
        self.delivered += u64::from(newly.packets);
        self.lost_out = self.lost_out.saturating_sub(no_longer_lost);
        self.retrans_out = self.retrans_out.saturating_sub(returned);
        if newly.packets > 0 {
            self.snd_fack = self.snd_fack.max(end);
        }
        newly
    }

    /// Moves the cumulative ACK from `window.snd_una` to `una`. The caller counts delivered packets.
    pub fn acknowledge(&mut self, una: u64, window: Window) -> Acked {
        let from = window.snd_una;
        let packets = window.count(from, una);
        self.packets_out = self.packets_out.saturating_sub(packets);
        self.advance_rack(from, una, true, window);
        let sacked_before = self.sacked_out;
        let (original, last_original) = (Some(from), una.checked_sub(1));
        let mut acked = Acked { packets, original, last_original, ..Acked::default() };

        // Without losses there are no tags to remove.
        if !self.sacked.is_empty() || !self.lost.is_empty() || !self.ever.is_empty() {
            self.acknowledge_after_loss(una, window, &mut acked);
        }
        self.marked_below = self.marked_below.max(una);

        // SACKed packets were delivered before.
        acked.delivered = packets.saturating_sub(sacked_before - self.sacked_out);
        acked
    }

    /// Acknowledges `[window.snd_una, una)` where packets were sent again, lost or SACKed, and finds those that were
    /// never sent again.
    #[inline(never)]
    fn acknowledge_after_loss(&mut self, una: u64, window: Window, acked: &mut Acked) {
        let from = window.snd_una;
        let original = next_gap_of_both(&self.sacked, &self.ever, from, una);
        acked.original = (original < una).then_some(original);
        acked.last_original = acked.original.and_then(|_| self.last_original_below(una, original));
        let head_end = window.segment_end(from);
        acked.resent_beyond_head = self.ever.next_in(head_end, una).is_some();
        acked.resent = acked.resent_beyond_head || self.ever.contains(from);
        self.forget(una, window);
    }

    fn forget(&mut self, una: u64, window: Window) {
        let from = window.snd_una;
        let (mut sacked, mut lost, mut returned) = (0, 0, 0);
        self.sacked.remove(from, una, |f, t| sacked += window.count(f, t));
        self.lost.remove(from, una, |f, t| lost += window.count(f, t));
        self.retransmitted.remove(from, una, |f, t| returned += window.count(f, t));
        self.pending.remove(from, una, |_, _| {});
        self.ever.remove(from, una, |_, _| {});
        self.sacked_out = self.sacked_out.saturating_sub(sacked);
        self.lost_out = self.lost_out.saturating_sub(lost);
        self.retrans_out = self.retrans_out.saturating_sub(returned);
        while self.resent.first().is_some_and(|again| again.start < una) {
            self.resent.remove(0);
        }
        while self.again.front().is_some_and(|again| again.start < una) {
            self.again.pop_front();
        }
    }

    /// Time of the last retransmission of the segment at `seq`, if there was one.
    pub fn resent_at(&self, seq: u64) -> Option<Time> {
        self.last_resent(seq).map(|again| again.when)
    }

    /// Last retransmission of the segment at `start`.
    fn last_resent(&self, start: u64) -> Option<Again> {
        let first = self.resent.first()?;
        if start <= first.start {
            return (start == first.start).then_some(first);
        }
        let at = self.resent.partition_point(|again| again.start < start);
        self.resent.get(at).filter(|again| again.start == start)
    }

    fn note_resent(&mut self, again: Again) {
        let at = self.resent.partition_point(|other| other.start < again.start);
        match self.resent.get_mut(at) {
            Some(known) if known.start == again.start => *known = again,
            _ => self.resent.insert(at, again),
        }
    }

    /// Whether any packet in flight was ever sent again.
    pub fn any_resent(&self) -> bool {
        !self.ever.is_empty()
    }

    /// Whether the packet at `seq` was ever sent again.
    pub fn was_resent(&self, seq: u64) -> bool {
        self.ever.contains(seq)
    }

    /// Whether the packet at `seq` is SACKed.
    pub fn is_sacked(&self, seq: u64) -> bool {
        self.sacked.contains(seq)
    }

    /// Whether the packet at `seq` is SACKed and has no retransmission in flight.
    pub fn is_only_sacked(&self, seq: u64) -> bool {
        self.sacked.contains(seq) && !self.retransmitted.contains(seq)
    }

    /// Whether the packet at `seq` was sent again and is not lost. If it is SACKed, it counts as sent twice.
    pub fn is_out_again(&self, seq: u64) -> bool {
        self.retransmitted.contains(seq) && !self.lost.contains(seq)
    }

    /// The first segment at or after `from` that was sent again at or after `oldest`.
    pub fn first_resent_since(&self, from: u64, oldest: Time) -> Option<u64> {
        self.resent
            .iter()
            .find(|again| again.start >= from && again.when >= oldest)
            .map(|again| again.start)
    }

    /// Marks all packets below `limit` lost that are not SACKed; packets that are out again only with `also_resent`.
    /// Packets checked before stay as they are.
    pub fn mark_lost_below(&mut self, limit: u64, also_resent: bool, window: Window) {
        let from = self.marked_below.max(window.snd_una);
        let mut at = if from < limit { self.sacked.next_gap(from) } else { from };
        self.marked_below = at.max(limit);
        while at < limit {
            // Each hole between SACKed packets is marked as a whole.
            let from = match also_resent {
                true => self.sacked.next_gap(at),
                false => next_gap_of_both(&self.sacked, &self.retransmitted, at, limit),
            };
            if from >= limit {
                break;
            }
            let mut to = self.sacked.next_start(from).unwrap_or(limit).min(limit);
            if !also_resent {
                to = to.min(self.retransmitted.next_start(from).unwrap_or(limit));
            }
            self.mark(from, to, window);
            at = to;
        }
    }

    fn mark(&mut self, from: u64, to: u64, window: Window) {
        let Scoreboard { lost, retransmitted, pending, lost_out, lost_ever, .. } = self;
        lost.insert(from, to, |f, t| {
            let packets = window.count(f, t);
            *lost_out += packets;
            *lost_ever += u64::from(packets);
            pending.insert(f, t, |_, _| {});
            retransmitted.inside(f, t, |f, t| pending.remove(f, t, |_, _| {}));
        });
    }

    /// The byte below which everything has at least `packets` SACKed packets above it: the start of the `packets`-th
    /// SACKed one from above. RFC 6675 IsLost, counted in packets as in Linux.
    pub fn below_sacked(&self, packets: u32, window: Window) -> Option<u64> {
        let mut left = packets.max(1);
        for (start, end) in self.sacked.iter().rev() {
            let here = window.count(start, end);
            if here < left {
                left -= here;
                continue;
            }
            return Some(window.back(end, left));
        }
        None
    }

    /// The byte `packets` packets below the highest SACKed one.
    pub fn below_fack(&self, packets: u32, window: Window) -> u64 {
        window.back(self.snd_fack, packets).max(window.snd_una)
    }

    /// Forgets retransmissions after a timeout, and marks all packets below `limit` lost that are not SACKed (2.6.20
    /// `tcp_enter_loss`).
    pub fn mark_all_lost(&mut self, limit: u64, window: Window) {
        self.retransmitted.clear();
        self.retrans_out = 0;
        self.again.clear();
        self.unmark(window.snd_una);
        self.mark_lost_below(limit, true, window);
    }

    /// Marks packets lost after F-RTO, as [`Scoreboard::mark_all_lost`] (2.6.24 `tcp_enter_frto_loss`). Where
    /// `head_is_out`, the retransmission of the first packet still counts.
    pub fn mark_all_lost_but_head(&mut self, limit: u64, head_is_out: bool, window: Window) {
        let una = window.snd_una;
        let head = (head_is_out && self.retransmitted.contains(una))
            .then(|| (una, window.segment_end(una)));
        self.mark_all_lost(limit, window);
        if let Some((start, end)) = head {
            self.retransmitted.insert(start, end, |_, _| {});
            self.pending.remove(start, end, |_, _| {});
            self.retrans_out += 1;
        }
    }

    /// Whether any packet in `[snd_una, snd_nxt)` was ever sent again; with `but_head` the first packet does not count.
    pub fn resent_beyond(&self, but_head: bool, window: Window) -> bool {
        let una = window.snd_una;
        let from = if but_head { window.segment_end(una) } else { una };
        self.ever.next_in(from, window.snd_nxt).is_some()
    }

    /// Removes all marks of loss (2.6.20 `tcp_try_undo_loss`).
    pub fn unmark(&mut self, snd_una: u64) {
        self.lost.clear();
        self.pending.clear();
        self.lost_out = 0;
        self.marked_below = snd_una;
        self.forward_from = 0;
    }

    /// Whether the receiver revokes a SACK: the first byte it waits for is SACKed.
    pub fn has_reneged(&self, snd_una: u64) -> bool {
        self.sacked.first().is_some_and(|(start, _)| start <= snd_una)
    }

    /// Forgets the receiver's SACKs; call [`Scoreboard::mark_all_lost`] next.
    pub fn forget_sacks(&mut self) {
        self.sacked.clear();
        (self.sacked_out, self.snd_fack) = (0, 0);
    }

    /// The next lost segment that is not out again: `(start, end)`.
    pub fn next_lost(&self, window: Window) -> Option<(u64, u64)> {
        let (start, _) = self.pending.first()?;
        Some((start, window.segment_end(start)))
    }

    /// End of the last lost segment.
    pub fn end_of_lost(&self) -> Option<u64> {
        self.lost.end()
    }

    /// The next segment below the highest SACKed one that is neither SACKed nor out again. It is sent again forward,
    /// without proof of loss, when no lost packet waits.
    pub fn next_forward(&mut self, window: Window) -> Option<(u64, u64)> {
        if self.sacked.is_empty() {
            return None;
        }
        let from = self.forward_from.max(window.snd_una);
        if self.sacked.last().is_some_and(|(start, _)| start <= from) {
            // All packets up to the highest SACKed one are SACKed.
            self.forward_from = self.snd_fack.max(from);
            return None;
        }
        let at = next_gap_of_both(&self.sacked, &self.retransmitted, from, self.snd_fack);
        self.forward_from = at;
        (at < self.snd_fack).then(|| (at, window.segment_end(at)))
    }

    /// Notes a retransmission of the segment `[start, end)`.
    pub fn note_retransmitted(&mut self, start: u64, end: u64, when: Time, snd_nxt: u64) {
        let mut fresh = false;
        self.retransmitted.insert(start, end, |_, _| fresh = true);
        self.ever.insert(start, end, |_, _| {});
        self.pending.remove(start, end, |_, _| {});
        let again = Again { start, end, when, snd_nxt };
        self.note_resent(again);
        self.again.push_back(again);
        self.retrans_out += u32::from(fresh);
    }

    /// Notes a retransmission of the segment `[start, end)` as a probe, which is not one more packet in flight.
    pub fn note_probed(&mut self, start: u64, end: u64, when: Time) {
        self.ever.insert(start, end, |_, _| {});
        self.note_resent(Again { start, end, when, snd_nxt: end });
    }

    /// Removes the retransmission of `[start, end)` from the count: it was lost, or was needless.
    pub fn take_back(&mut self, start: u64, end: u64, window: Window) {
        let Scoreboard { retransmitted, lost, pending, retrans_out, forward_from, .. } = self;
        retransmitted.remove(start, end, |from, to| {
            *retrans_out = retrans_out.saturating_sub(window.count(from, to));
            *forward_from = (*forward_from).min(from);
            lost.inside(from, to, |f, t| {
                pending.insert(f, t, |_, _| {});
            });
        });
    }

    /// Marks retransmissions lost that were sent before data which has since arrived, at least `margin` bytes of it
    /// (2.6.20 `tcp_sacktag_write_queue`, event C). Returns whether a packet was newly marked.
    pub fn mark_lost_retransmissions(&mut self, margin: u64, window: Window) -> bool {
        let mut marked = false;
        while let Some(&Again { start, snd_nxt, .. }) = self.again.front() {
            if self.snd_fack <= snd_nxt || self.snd_fack < snd_nxt + margin {
                break;
            }
            self.again.pop_front();
            let last = self.last_resent(start).filter(|again| again.snd_nxt == snd_nxt);
            let Some(again) = last.filter(|_| self.retransmitted.contains(start)) else { continue };
            self.take_back(start, again.end, window);
            if !self.lost.contains(start) && !self.sacked.contains(start) {
                self.mark(start, again.end, window);
                marked = true;
            }
        }
        marked
    }

    /// Packets of `[start, end)` that were ever sent again.
    pub fn resent_in(&self, start: u64, end: u64, window: Window) -> u32 {
        let mut packets = 0;
        self.ever.inside(start, end, |f, t| packets += window.count(f, t));
        packets
    }
}

/// Notes the start of the part of a newly SACKed range that was never sent again.
fn note_original(ever: &RangeSet, from: u64, to: u64, newly: &mut Sacked) {
    let first = if ever.end().is_some_and(|end| end > from) { ever.next_gap(from) } else { from };
    if first < to {
        newly.original = Some(newly.original.map_or(first, |o| o.min(first)));
        let end = ever.containing(to - 1).map_or(to, |(start, _)| start);
        newly.last_original = newly.last_original.max(Some(end - 1));
    }
}
