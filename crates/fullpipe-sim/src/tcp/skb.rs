//! The send queue: skbs with a size that is fixed when the application writes.
//!
//! Neighbouring skbs of one size are one entry, so that a queue of ten thousand is a few entries.

mod fragment;
mod resegment;

use crate::search_hint::SearchHint;
use crate::units::Time;
use alloc::collections::VecDeque;
use fragment::Borders;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unsent {
    len: u32,
    count: u32,
    /// Whether a write of the application ends here (TCPHDR_PSH).
    push: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    /// First byte of the first skb.
    seq: u64,
    len: u32,
    count: u32,
    when: Time,
    /// Skbs sent before the first skb.
    number: u64,
}

/// A sent segment with a length other than the MSS: a shorter one, or the FIN's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Odd {
    end: u64,
    /// Sequence numbers of the segment.
    len: u32,
    /// Segments sent before `end`, including this one.
    segments: u64,
}

impl Odd {
    fn start(&self) -> u64 {
        self.end - u64::from(self.len)
    }
}

/// Skbs that an ACK freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Skbs acknowledged to their last byte.
    pub skbs: u32,
    /// Transmission time of the first skb of which the ACK covers a segment at least.
    pub first_when: Option<Time>,
    /// Transmission time of the last such skb.
    pub last_when: Option<Time>,
}

/// Skbs of a sender, unsent and in flight. Sequence numbers count from the first data byte. Lengths of unsent skbs are
/// their bytes; a sent FIN takes a number, too.
#[derive(Clone, Debug, Default)]
pub struct SendQueue {
    /// Memory of an skb without its data, bytes.
    overhead: u64,
    unsent: VecDeque<Unsent>,
    sent: VecDeque<Sent>,
    borders: Borders,
    /// First byte of the first sent skb.
    sent_from: u64,
    /// Bytes written and not sent.
    pub unsent_bytes: u64,
    /// sk_wmem_queued: memory of all skbs in the queue, bytes.
    pub wmem_queued: u64,
    /// Skbs sent since the connection began.
    skbs: u64,
    /// Place of the last search among the sent skbs.
    search_hint: SearchHint,
    odds: VecDeque<Odd>,
    /// Ends of sent skbs that carry PSH.
    pushed: VecDeque<u64>,
    /// The last odd segment that was sent.
    last_odd: Odd,
    /// Whether the last unsent skb carries FIN.
    fin_waits: bool,
    /// Number of the sent FIN.
    fin: Option<u64>,
    /// Most bytes of the last unsent skb, where this differs from the goal of all.
    tail_holds: Option<u32>,
    /// First number behind the segments that were sent before the last change of the MSS; 0: no change.
    sized_until: u64,
    /// Bytes of the first unsent skb that a path MTU probe has copied, while the skb still holds their memory.
    copied: u32,
    /// Further memory of sent skbs, by the ends of the skbs: copied bytes, and heads of probes.
    copied_sent: VecDeque<(u64, u32)>,
}

impl SendQueue {
    /// An empty queue; `overhead` is the memory of an skb without its data, bytes.
    pub fn new(overhead: u64) -> SendQueue {
        SendQueue { overhead, ..SendQueue::default() }
    }

    /// Bytes that still fit into the last unsent skb when skbs may grow to `goal` bytes.
    pub fn tail_room(&self, goal: u32) -> u32 {
        let goal = self.tail_holds.map_or(goal, |most| most.min(goal));
        self.unsent.back().map_or(0, |run| goal.saturating_sub(run.len))
    }

    /// Bounds the last unsent skb to so many bytes, whatever the goal.
    pub fn bound_tail(&mut self, most: u32) {
        self.tail_holds = Some(most);
    }

    /// Whether the last unsent skb is full, at less than `goal`.
    pub fn tail_is_bound(&self, goal: u32) -> bool {
        self.tail_holds.is_some_and(|most| most < goal) && self.tail_room(goal) == 0
    }

    /// Whether there is only one unsent skb.
    pub fn tail_is_only(&self) -> bool {
        self.unsent.len() == 1 && self.unsent[0].count == 1
    }

    /// Adds the application's next `bytes` to the last skb if `into_tail`, else to a new one. The first bytes of a
    /// write remove the skb's PSH (tcp_sendmsg_locked).
    pub fn write(&mut self, bytes: u32, into_tail: bool, begins_write: bool) {
        let tail = if into_tail { self.take_tail() } else { None };
        if tail.is_none() {
            self.tail_holds = None;
            self.wmem_queued += self.overhead;
        }
        let (before, pushed) = tail.unwrap_or_default();
        self.append(before + bytes, pushed && !begins_write);
        self.unsent_bytes += u64::from(bytes);
        self.wmem_queued += u64::from(bytes);
    }

    /// Sets PSH on the last unsent skb (tcp_mark_push).
    pub fn push_tail(&mut self) {
        if let Some((len, _)) = self.take_tail() {
            self.append(len, true);
        }
    }

    /// Sets FIN on the last unsent skb, or on a new one without data (tcp_send_fin).
    pub fn close(&mut self) {
        if self.unsent.is_empty() {
            self.wmem_queued += self.overhead;
            self.append(0, false);
        }
        self.fin_waits = true;
    }

    /// Whether the stream was closed.
    pub fn is_closed(&self) -> bool {
        self.fin_waits || self.fin.is_some()
    }

    /// Whether the first unsent skb carries FIN.
    pub fn head_ends(&self) -> bool {
        self.fin_waits && self.tail_is_only()
    }

    /// Number of the FIN, if it was sent.
    pub fn fin(&self) -> Option<u64> {
        self.fin
    }

    /// Whether the FIN was sent without data.
    pub fn fin_is_alone(&self) -> bool {
        self.fin.is_some() && self.last_odd.len == 1
    }

    fn append(&mut self, len: u32, push: bool) {
        match self.unsent.back_mut() {
            Some(run) if (run.len, run.push) == (len, push) => run.count += 1,
            _ => self.unsent.push_back(Unsent { len, count: 1, push }),
        }
    }

    /// Length of the last unsent skb, and whether it carries PSH.
    fn take_tail(&mut self) -> Option<(u32, bool)> {
        let run = self.unsent.back_mut()?;
        let tail = (run.len, run.push);
        run.count -= 1;
        if run.count == 0 {
            self.unsent.pop_back();
        }
        Some(tail)
    }

    /// Whether the first unsent skb carries PSH.
    pub fn head_pushes(&self) -> bool {
        self.unsent.front().is_some_and(|run| run.push)
    }

    /// Whether a sent skb that ends at `end` carries PSH, also when it is sent again.
    pub fn pushes_at(&self, end: u64) -> bool {
        self.pushed.binary_search(&end).is_ok()
    }

    /// Length of the first unsent skb.
    pub fn head(&self) -> Option<u32> {
        self.unsent.front().map(|run| run.len)
    }

    /// Moves bytes from the second unsent skb to the first one, up to `len`. The first one keeps its PSH, and takes the
    /// PSH of an skb that it empties (tcp_grow_skb, tcp_eat_one_skb).
    pub fn grow_head(&mut self, len: u32) {
        let Some((head, mut push)) = self.take_head() else { return };
        let mut grown = head;
        if let Some((next, pushed)) = self.take_head() {
            let moved = len.saturating_sub(head).min(next);
            grown += moved;
            if next == moved {
                self.wmem_queued -= self.overhead;
                push |= pushed;
            } else {
                self.unsent.push_front(Unsent { len: next - moved, count: 1, push: pushed });
            }
        }
        self.unsent.push_front(Unsent { len: grown, count: 1, push });
    }

    /// Length of the first unsent skb, and whether it carries PSH.
    fn take_head(&mut self) -> Option<(u32, bool)> {
        let run = self.unsent.front_mut()?;
        let head = (run.len, run.push);
        run.count -= 1;
        if run.count == 0 {
            self.unsent.pop_front();
        }
        Some(head)
    }

    /// Skbs that were sent but not freed.
    pub fn skbs_in_flight(&self) -> u64 {
        let (first, next) = self.skb_numbers();
        next - first
    }

    /// Splits the first unsent skb behind `len` bytes; the second part keeps PSH and FIN (`tso_fragment`).
    pub fn split_head(&mut self, len: u32) {
        if self.head().is_none_or(|head| head <= len) {
            return;
        }
        let Some((head, push)) = self.take_head() else { return };
        self.wmem_queued += self.overhead;
        self.unsent.push_front(Unsent { len: head - len, count: 1, push });
        self.unsent.push_front(Unsent { len, count: 1, push: false });
    }

    /// Moves the first unsent skb, sent at `seq`, to the sent ones. Returns the next sequence number.
    pub fn send(&mut self, seq: u64, when: Time, mss: u32) -> u64 {
        self.send_in_segments(seq, when, mss, mss)
    }

    /// [`SendQueue::send`] of an skb with segments of `segment` bytes, of which the last one may be shorter: the MSS,
    /// or less by half of the largest window.
    pub fn send_in_segments(&mut self, seq: u64, when: Time, mss: u32, segment: u32) -> u64 {
        let fin = self.head_ends();
        let Some((len, push)) = self.take_head() else { return seq };
        self.unsent_bytes -= u64::from(len);
        if self.sent.is_empty() {
            self.sent_from = seq;
        }
        let numbers = len + u32::from(fin);
        match self.sent.back_mut() {
            Some(last) if last.len == numbers && last.when == when => last.count += 1,
            _ => self.sent.push_back(Sent { seq, len: numbers, count: 1, when, number: self.skbs }),
        }
        self.skbs += 1;
        let end = seq + u64::from(numbers);
        if push {
            self.pushed.push_back(end);
        }
        if fin {
            self.fin_waits = false;
            self.fin = Some(end - 1);
        }
        let last = if len > 0 && len.is_multiple_of(segment) { segment } else { len % segment };
        if segment > mss {
            // The skb is a path MTU probe.
            self.sized_until = end;
        } else {
            self.note_copied(end);
        }

        // Segments of another length than the MSS are noted one by one. They may be larger when they are sent again.
        if segment < mss {
            self.note_mixed(end);
            let before_last = len.saturating_sub(last) / segment;
            (1..=before_last)
                .for_each(|n| self.note_odd(seq + u64::from(n * segment), segment, mss));
        }
        if fin || len > 0 && last != mss {
            self.note_odd(end, last + u32::from(fin), mss);
        }
        end
    }

    /// Records a sent segment of length `len`, which is not the MSS. It ends at `end`.
    fn note_odd(&mut self, end: u64, len: u32, mss: u32) {
        let before = self.last_odd;
        let mut odd = Odd { end, len, segments: 0 };
        odd.segments = before.segments + (odd.start() - before.end) / u64::from(mss) + 1;
        self.last_odd = odd;
        self.odds.push_back(odd);
    }

    /// Frees data below `una`. An skb that is acknowledged in part is trimmed. It gives an RTT like a whole one if the
    /// ACK covers a segment of `mss` bytes of it (2.6.20 and 2.6.25 `tcp_tso_acked`).
    pub fn acknowledge(&mut self, una: u64, mss: u32) -> Freed {
        let mut freed = Freed::default();
        while self.pushed.front().is_some_and(|end| *end <= una) {
            self.pushed.pop_front();
        }
        self.free_borders(una);
        self.free_copied(una);
        if self.fin.is_some_and(|fin| self.sent_from <= fin && fin < una) {
            // The FIN's number takes no memory.
            self.wmem_queued += 1;
        }

        // Whole skbs of a run are freed together.
        while let Some(run) = self.sent.front_mut() {
            let (left, len) = (una - self.sent_from, u64::from(run.len));
            let whole = match left >= len * u64::from(run.count) {
                true => run.count,
                false if left < len => 0,
                false => (left / len) as u32,
            };
            if whole > 0 {
                freed.first_when.get_or_insert(run.when);
                freed.last_when = Some(run.when);
                freed.skbs += whole;
                let bytes = u64::from(whole) * u64::from(run.len);
                self.wmem_queued -= bytes + u64::from(whole) * self.overhead;
                self.sent_from += bytes;
                run.seq += bytes;
                run.count -= whole;
                run.number += u64::from(whole);
            }
            if run.count > 0 {
                break;
            }
            self.sent.pop_front();
        }
        // tcp_tso_acked: the ACK covers a part of an skb.
        if una > self.sent_from
            && let Some(run) = self.sent.front()
        {
            let bytes = (una - self.sent_from) as u32;
            let first_ends = self.segment_end(self.sent_from, mss, u64::MAX);
            // A segment that is not full lies in the log by itself, with its own end.
            let is_full = first_ends - self.sent_from == u64::from(mss);
            let fewer = is_full && (run.len - bytes).div_ceil(mss) < run.len.div_ceil(mss);
            if una >= first_ends || fewer {
                freed.first_when.get_or_insert(run.when);
                freed.last_when = Some(run.when);
            }
            self.trim_head(bytes);
        }
        while self.odds.front().is_some_and(|odd| odd.end <= una) {
            self.odds.pop_front();
        }
        freed
    }

    fn trim_head(&mut self, bytes: u32) {
        let Some(run) = self.sent.front_mut() else { return };
        let seq = run.seq + u64::from(bytes);
        let trimmed = Sent { seq, len: run.len - bytes, count: 1, ..*run };
        if run.count == 1 {
            *run = trimmed;
        } else {
            run.seq += u64::from(run.len);
            run.count -= 1;
            run.number += 1;
            self.sent.push_front(trimmed);
        }
        self.sent_from += u64::from(bytes);
        self.wmem_queued -= u64::from(bytes);
    }

    /// The last run of sent skbs that begins at or below `seq`; most searches find the first run.
    #[inline]
    fn run_begun(&self, seq: u64) -> Option<&Sent> {
        let first = self.sent.front()?;
        if seq.wrapping_sub(first.seq) < u64::from(first.len) * u64::from(first.count) {
            return Some(first);
        }
        self.later_run_begun(seq)
    }

    fn later_run_begun(&self, seq: u64) -> Option<&Sent> {
        let begun = self.search_hint.partition_point(&self.sent, |run| run.seq <= seq);
        self.sent.get(begun.checked_sub(1)?)
    }

    /// First transmission of the byte at `seq`.
    pub fn sent_at(&self, seq: u64) -> Option<Time> {
        self.run_begun(seq).map(|run| run.when)
    }

    /// The first byte with a first transmission at or after `time`.
    pub fn first_sent_since(&self, time: Time) -> Option<u64> {
        self.sent.get(self.sent.partition_point(|run| run.when < time)).map(|run| run.seq)
    }

    /// Whether a sent skb begins at `seq`.
    pub fn begins_skb(&self, seq: u64) -> bool {
        self.run_begun(seq).is_some_and(|run| {
            seq == run.seq || run.count > 1 && (seq - run.seq).is_multiple_of(u64::from(run.len))
        })
    }

    /// Start of the skb that holds the byte at `seq`, with its bounds at transmission.
    fn start_as_sent(&self, seq: u64) -> u64 {
        self.run_begun(seq).map_or(seq, |run| seq - (seq - run.seq) % u64::from(run.len))
    }

    /// End of the skb that holds the byte at `seq`, with its bounds at transmission.
    fn end_as_sent(&self, seq: u64) -> Option<u64> {
        let run = self.run_begun(seq)?;
        let before = (seq - run.seq) / u64::from(run.len);
        let is_here = before < u64::from(run.count);
        is_here.then(|| run.seq + (before + 1) * u64::from(run.len))
    }

    /// Numbers of the first sent skb that is not freed, and of the next one to be sent.
    pub fn skb_numbers(&self) -> (u64, u64) {
        (self.sent.front().map_or(self.skbs, |run| run.number), self.skbs)
    }

    /// Number of skbs sent before the one that holds the byte at `seq`, since the connection began; all skbs for an
    /// unsent byte.
    pub fn skb_number(&self, seq: u64) -> u64 {
        let Some(run) = self.run_begun(seq) else { return self.skbs };
        let (bytes, len) = (seq - run.seq, u64::from(run.len));
        run.number + if bytes < len { 0 } else { (bytes / len).min(u64::from(run.count)) }
    }

    /// Number of odd segments that end at or below `at`.
    fn odds_until(&self, at: u64) -> usize {
        self.odds.partition_point(|odd| odd.end <= at)
    }

    /// Segments in `[from, to)`, both boundaries of sent segments.
    #[inline]
    pub fn segments(&self, from: u64, to: u64, mss: u32) -> u32 {
        if to - from == u64::from(mss) && self.odds.is_empty() {
            return 1;
        }
        self.segments_of_any(from, to, mss)
    }

    fn segments_of_any(&self, from: u64, to: u64, mss: u32) -> u32 {
        if self.odds.is_empty()
            && let Ok(bytes) = u32::try_from(to - from)
        {
            return bytes.div_ceil(mss);
        }
        let mss = u64::from(mss);

        // Odd segments have numbers; full ones are counted by their bytes.
        let (first, beyond) = (self.odds_until(from), self.odds_until(to));
        if first == beyond {
            return (to - from).div_ceil(mss) as u32;
        }
        let (first, last) = (self.odds[first], self.odds[beyond - 1]);
        let before = first.start().saturating_sub(from).div_ceil(mss) + 1;
        let between = last.segments - first.segments;
        (before + between + (to - last.end).div_ceil(mss)) as u32
    }

    /// End of the segment that starts at `seq`; `snd_nxt` is the end of sent data.
    pub fn segment_end(&self, seq: u64, mss: u32, snd_nxt: u64) -> u64 {
        let full = (seq + u64::from(mss)).min(snd_nxt);
        match self.odds.get(self.odds_until(seq)) {
            Some(odd) if odd.start() <= seq => odd.end,
            Some(odd) => full.min(odd.start()),
            None => full,
        }
    }

    /// Start of the `count`-th segment below `end`, which is the end of a segment.
    pub fn segment_start(&self, end: u64, count: u32, mss: u32) -> u64 {
        if self.odds.is_empty() {
            return end.saturating_sub(u64::from(count) * u64::from(mss));
        }
        (0..count).fold(end, |end, _| {
            let last = self.odds_until(end).checked_sub(1).map(|i| self.odds[i]);
            let odd = last.filter(|odd| odd.end == end).map(|odd| odd.len);
            end.saturating_sub(u64::from(odd.unwrap_or(mss)))
        })
    }
}
