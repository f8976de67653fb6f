//! A set of sequence numbers as disjoint, ordered ranges.

use crate::gap_buffer::GapBuffer;

/// Half-open range `[start, end)` of sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeqRange {
    /// First number.
    pub start: u64,
    /// One past the last number.
    pub end: u64,
}

impl SeqRange {
    /// The range `[start, end)`.
    pub const fn new(start: u64, end: u64) -> SeqRange {
        SeqRange { start, end }
    }

    /// Number of sequence numbers; 0 where the range ends before it begins.
    pub const fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether the range holds no number.
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether `seq` is in the range.
    pub const fn contains(self, seq: u64) -> bool {
        self.start <= seq && seq < self.end
    }

    /// Whether both ranges overlap, or one begins where the other ends.
    pub const fn touches(self, other: SeqRange) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// The shortest range that covers both.
    pub fn joined(self, other: SeqRange) -> SeqRange {
        SeqRange::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// Half-open ranges `[start, end)`, joined where they touch.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    ranges: GapBuffer<(u64, u64)>,
}

impl RangeSet {
    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The lowest range.
    pub fn first(&self) -> Option<(u64, u64)> {
        self.ranges.first()
    }

    /// The highest range.
    pub fn last(&self) -> Option<(u64, u64)> {
        self.ranges.last()
    }

    /// One past the highest number.
    pub fn end(&self) -> Option<u64> {
        self.ranges.last().map(|(_, end)| end)
    }

    /// Number of ranges that begin at or below `at`.
    fn begun(&self, at: u64) -> usize {
        self.ranges.partition_point(|range| range.0 <= at)
    }

    /// Number of ranges that begin below `at`.
    fn begun_below(&self, at: u64) -> usize {
        self.ranges.partition_point(|range| range.0 < at)
    }

    fn before(&self, index: usize) -> Option<(u64, u64)> {
        self.ranges.get(index.checked_sub(1)?)
    }

    fn set(&mut self, index: usize, start: u64, end: u64) {
        if let Some(slot) = self.ranges.get_mut(index) {
            *slot = (start, end);
        }
    }

    /// The range that holds `at`.
    #[inline(always)]
    pub fn containing(&self, at: u64) -> Option<(u64, u64)> {
        let last = self.ranges.last()?;
        if at >= last.0 {
            return (at < last.1).then_some(last);
        }
        self.containing_below_last(at)
    }

    #[inline(never)]
    fn containing_below_last(&self, at: u64) -> Option<(u64, u64)> {
        if at < self.ranges.first()?.0 {
            return None;
        }
        self.before(self.begun(at)).filter(|range| at < range.1)
    }

    /// Whether `at` is in the set.
    pub fn contains(&self, at: u64) -> bool {
        self.containing(at).is_some()
    }

    /// The first number at or after `at` that is not in the set.
    pub fn next_gap(&self, at: u64) -> u64 {
        self.containing(at).map_or(at, |(_, end)| end)
    }

    /// The start of the first range at or after `at`.
    pub fn next_start(&self, at: u64) -> Option<u64> {
        if self.ranges.last()?.0 < at {
            return None;
        }
        self.ranges.get(self.begun_below(at)).map(|(start, _)| start)
    }

    /// The first number in `[from, to)` that is in the set.
    pub fn next_in(&self, from: u64, to: u64) -> Option<u64> {
        if from < to && self.contains(from) {
            return Some(from);
        }
        self.next_start(from).filter(|&start| start < to)
    }

    /// Adds `[start, end)`; calls `new` for each part that was not in the set. Returns the range that now holds it.
    pub fn insert(&mut self, start: u64, end: u64, mut new: impl FnMut(u64, u64)) -> (u64, u64) {
        if start >= end {
            return (start, start);
        }
        if let Some(joined) = self.extend_last(start, end, &mut new) {
            return joined;
        }
        let behind = self.begun(start);

        // The range in front joins if it touches the new one.
        let joins = self.before(behind).is_some_and(|(_, e)| e >= start);
        let index = behind - usize::from(joins);

        // All ranges that touch the new one become one with it; the gaps between them are new.
        let (mut low, mut high, mut at, mut joined) = (start, end, start, 0);
        while let Some((s, e)) = self.ranges.get(index + joined).filter(|range| range.0 <= end) {
            if at < s {
                new(at, s);
            }
            (low, high, at) = (low.min(s), high.max(e), at.max(e));
            joined += 1;
        }
        if at < end {
            new(at, end);
        }
        match joined {
            0 => self.ranges.insert(index, (low, high)),
            _ => self.set(index, low, high),
        }
        for _ in 1..joined {
            self.ranges.remove(index + 1);
        }
        (low, high)
    }

    /// The common case of an insertion: at the end.
    fn extend_last(
        &mut self,
        start: u64,
        end: u64,
        new: &mut impl FnMut(u64, u64),
    ) -> Option<(u64, u64)> {
        let last = self.ranges.last_mut()?;
        if start < last.0 {
            return None;
        }
        let at = last.1.max(start);
        if at < end {
            new(at, end);
        }
        if start <= last.1 {
            last.1 = last.1.max(end);
            return Some(*last);
        }
        self.ranges.insert(self.ranges.len(), (start, end));
        Some((start, end))
    }

    /// Removes `[start, end)`; calls `gone` for each part that was in the set.
    pub fn remove(&mut self, start: u64, end: u64, mut gone: impl FnMut(u64, u64)) {
        if start >= end || self.end().is_none_or(|last| last <= start) {
            return;
        }
        let index = self.begun_below(start);

        // A range that begins below `start` keeps its front part.
        if let Some((s, e)) = self.before(index).filter(|range| range.1 > start) {
            self.set(index - 1, s, start);
            gone(start, e.min(end));
            if e > end {
                return self.ranges.insert(index, (end, e));
            }
        }

        // Ranges that begin within are removed, the last one perhaps in part.
        while let Some((s, e)) = self.ranges.get(index).filter(|range| range.0 < end) {
            gone(s, e.min(end));
            if e > end {
                return self.set(index, end, e);
            }
            self.ranges.remove(index);
        }
    }

    /// Calls `each` for every part of `[start, end)` that is in the set.
    pub fn inside(&self, start: u64, end: u64, mut each: impl FnMut(u64, u64)) {
        let behind = self.begun(start);
        let mut index = behind.saturating_sub(1);
        while let Some((s, e)) = self.ranges.get(index).filter(|range| range.0 < end) {
            if e > start {
                each(s.max(start), e.min(end));
            }
            index += 1;
        }
    }

    /// Ranges from low to high.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter()
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Removes all ranges.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}
