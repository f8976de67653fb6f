//! Losses by age (RACK): packets in the order of their last transmission.
//!
//! Linux keeps packets in a list (6.12 `tsorted_sent_queue`). Here packets that were never sent again are in the order
//! of their bytes, and the others in a queue of their own. Each is marked once, unless it is sent again.

use super::{Again, Scoreboard, Window, next_gap_of_both};
use crate::units::Time;
use alloc::vec::Vec;
use core::iter::successors;

/// Ages up to which packets are checked, and up to which they are lost.
#[derive(Clone, Copy, Debug)]
pub struct Age {
    /// Time of the packet that ends at `end_seq` (rack.mstamp), us. Packets sent no later are checked ...
    pub before_us: u64,
    /// ... and packets of the same microsecond that end before it.
    pub end_seq: u64,
    /// Time up to which sent packets are lost, us.
    pub lost_by_us: Option<u64>,
}

impl Age {
    fn before(&self, sent_us: u64, end: u64) -> bool {
        (sent_us, end) < (self.before_us, self.end_seq)
    }

    fn lost(&self, sent_us: u64) -> bool {
        self.lost_by_us.is_some_and(|by| sent_us <= by)
    }
}

impl Scoreboard {
    /// Notes the arrival of the new parts of `[start, end)`, by a SACK or, with `cumulative`, by the ACK itself. By its
    /// timestamp the ACK can distinguish an original from a needless retransmission.
    pub(super) fn advance_rack(&mut self, start: u64, end: u64, cumulative: bool, window: Window) {
        let Some(rack) = &mut self.rack else { return };

        // Without losses the last byte was sent last.
        if self.sacked.is_empty() && self.ever.is_empty() {
            if start < end {
                let sent = window.queue.sent_at(end - 1).unwrap_or(Time::ZERO);
                rack.advance(sent.as_us(), end, false);
                if let Some(rate) = &mut self.rate {
                    rate.deliver(sent.as_us(), end);
                }
            }
            return;
        }
        self.advance_rack_after_loss(start, end, cumulative, window);
    }

    /// Does the work of [`Scoreboard::advance_rack`], where packets are SACKed or were sent again.
    #[inline(never)]
    fn advance_rack_after_loss(&mut self, start: u64, end: u64, cumulative: bool, window: Window) {
        let Some(mut rack) = self.rack else { return };
        let mut rate = self.rate.take();
        let mut at = self.sacked.next_gap(start);
        while at < end {
            let to = self.sacked.next_start(at).unwrap_or(end).min(end);
            while at < to {
                let next_again = self.ever.next_in(at, to).unwrap_or(to);
                if at < next_again {
                    // Of originals side by side the last one was sent last.
                    let sent = window.queue.sent_at(next_again - 1).unwrap_or(Time::ZERO);
                    rack.advance(sent.as_us(), next_again, false);
                    if let Some(rate) = &mut rate {
                        rate.deliver(sent.as_us(), next_again);
                    }
                    at = next_again;
                    continue;
                }
                let segment_end = window.segment_end(at);
                if let Some(again) = self.last_resent(at) {
                    let sent = again.when.as_us();
                    if let Some(rate) = &mut rate {
                        rate.deliver_resent(sent, at, segment_end);
                    }
                    if cumulative && rack.is_spurious(sent) {
                        rack.deliver(sent);
                    } else {
                        rack.advance(sent, segment_end, true);
                    }
                }
                at = segment_end;
            }
            at = self.sacked.next_gap(to);
        }
        (self.rack, self.rate) = (Some(rack), rate);
    }

    /// The last byte below `una`, from `first` on, that is neither SACKed nor was ever sent again.
    pub(super) fn last_original_below(&self, una: u64, first: u64) -> Option<u64> {
        let mut end = una;
        while end > first {
            let inside = |set: &crate::ranges::RangeSet| set.containing(end - 1);
            match inside(&self.sacked).or_else(|| inside(&self.ever)) {
                Some((start, _)) => end = start,
                None => return Some(end - 1),
            }
        }
        None
    }

    /// Marks packets lost by age; returns the last transmission of those that may be lost soon, us.
    pub fn mark_lost_by_age(&mut self, age: Age, window: Window) -> Option<u64> {
        let originals = self.mark_originals(age, window);
        originals.max(self.mark_resent(age, window))
    }

    fn mark_originals(&mut self, age: Age, window: Window) -> Option<u64> {
        let sent_from = |us: u64| {
            let since = Time(us * 1000);
            window.queue.first_sent_since(since).unwrap_or(window.snd_nxt)
        };

        // tcp_rack_sent_after: packets of one moment are in the order of their ends.
        let (same, later) = (sent_from(age.before_us), sent_from(age.before_us + 1));
        let looked_at = age.end_seq.clamp(same, later.max(same));

        // Of the packets that are looked at, the old ones are lost.
        let lost = age.lost_by_us.map_or(0, |by| sent_from(by + 1)).min(looked_at);
        if lost > self.marked_below.max(window.snd_una) {
            self.mark_lost_below(lost, false, window);
            self.aged_below = self.marked_below;
        }
        let from = self.marked_below.max(window.snd_una);
        let last = self.last_original_below(looked_at, from)?;
        window.queue.sent_at(last).map(Time::as_us)
    }

    fn mark_resent(&mut self, age: Age, window: Window) -> Option<u64> {
        while let Some(&again) = self.again.front() {
            let out = self.is_out(&again);
            let looked_at = self.is_looked_at(&again, age, window);

            // The queue is in order of time, so the first one that is too young ends the search.
            if out && !(looked_at && age.lost(again.when.as_us())) {
                break;
            }
            self.again.pop_front();
            if out {
                self.lose_again(again, window);
            }
        }
        let looked_at = self.again.partition_point(|again| self.is_looked_at(again, age, window));
        let waiting = self.again.iter().take(looked_at).rev();
        waiting.clone().find(|again| self.is_out(again)).map(|again| again.when.as_us())
    }

    /// Whether the search of the list reaches this retransmission. It ends at the first packet that was not sent before
    /// the newest arrival. A packet of the same microsecond may stand in front of the retransmission.
    fn is_looked_at(&self, again: &Again, age: Age, window: Window) -> bool {
        let sent = again.when.as_us();
        age.before(sent, again.end)
            && !(sent == age.before_us && self.follows_later(again, age, window))
    }

    /// Whether the retransmission was sent after originals of the same microsecond or later that end behind
    /// `age.end_seq`, and have no news.
    fn follows_later(&self, again: &Again, age: Age, window: Window) -> bool {
        let since = Time(age.before_us * 1000);
        let Some(same) = window.queue.first_sent_since(since) else { return false };
        let mut at = same.max(age.end_seq);
        while at < again.snd_nxt {
            let unreported = next_gap_of_both(&self.sacked, &self.ever, at, again.snd_nxt);
            // Lost packets do not end the search.
            at = self.lost.next_gap(unreported);
            if at == unreported {
                return at < again.snd_nxt;
            }
        }
        false
    }

    /// Whether this transmission of the segment is the last one, and thought to be in flight.
    fn is_out(&self, again: &Again) -> bool {
        self.retransmitted.contains(again.start)
            && !self.sacked.contains(again.start)
            && self.last_resent(again.start).is_some_and(|last| last.when == again.when)
    }

    fn lose_again(&mut self, again: Again, window: Window) {
        if self.lost.contains(again.start) {
            self.take_back(again.start, again.end, window);
            self.lost_ever += 1;
        } else {
            self.mark(again.start, again.end, window);
        }
    }

    /// Marks packets lost after a timeout: those last sent by `by_us`, and the first packet in any case.
    /// Retransmissions of earlier losses are not in flight any more (6.12 `tcp_timeout_mark_lost`,
    /// `tcp_mark_skb_lost`).
    pub fn mark_timed_out(&mut self, by_us: Option<u64>, window: Window) {
        self.marked_below = window.snd_una;
        let is_old = |again: &Again| {
            again.start == window.snd_una || by_us.is_some_and(|by| again.when.as_us() <= by)
        };
        for again in self.out_again(window).filter(is_old).collect::<Vec<_>>() {
            self.lose_again(again, window);
        }
        let sent_from = |us: u64| window.queue.first_sent_since(Time(us * 1000));
        let limit = by_us.map_or(0, |us| sent_from(us + 1).unwrap_or(window.snd_nxt));
        self.mark_lost_below(limit.max(window.segment_end(window.snd_una)), false, window);
    }

    /// Retransmissions that are thought to be in flight.
    fn out_again<'a>(&'a self, window: Window<'a>) -> impl Iterator<Item = Again> + 'a {
        self.retransmitted.iter().flat_map(move |(start, end)| {
            successors(Some(start), move |&at| {
                Some(window.segment_end(at)).filter(|&next| next < end)
            })
            .filter_map(|start| self.last_resent(start))
            .filter(|again| !self.sacked.contains(again.start))
        })
    }

    /// Removes all marks of loss (6.12 `tcp_undo_cwnd_reduction`). Packets once lost by age are not lost by age again;
    /// those lost by a timeout may be (only `tcp_rack_detect_loss` takes packets off its list).
    pub fn forget_losses(&mut self) {
        self.marked_below = self.marked_below.min(self.aged_below);
        self.lost.clear();
        self.pending.clear();
        self.lost_out = 0;
    }

    /// End of the first row of lost segments that are not out again.
    pub fn lost_until(&self) -> Option<u64> {
        self.pending.first().map(|(_, end)| end)
    }

    /// The next lost segments that are not out again, at most `most`.
    pub fn next_lost_run(&self, most: u32, window: Window) -> Option<(u64, u64)> {
        let (start, to) = self.pending.first()?;
        let mut end = window.segment_end(start);
        for _ in 1..most {
            if end >= to {
                break;
            }
            end = window.segment_end(end);
        }
        Some((start, end.min(to)))
    }
}
