//! A set of sequence numbers as disjoint, ordered ranges.

use alloc::collections::BTreeMap;

/// Half-open ranges `[start, end)`, joined where they touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: BTreeMap<u64, u64>,
}

impl RangeSet {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The lowest range.
    pub fn first(&self) -> Option<(u64, u64)> {
        self.ranges.first_key_value().map(|(&s, &e)| (s, e))
    }

    /// One past the highest number.
    pub fn end(&self) -> Option<u64> {
        self.ranges.last_key_value().map(|(_, &e)| e)
    }

    /// The range that holds `at`.
    pub fn containing(&self, at: u64) -> Option<(u64, u64)> {
        let (&s, &e) = self.ranges.range(..=at).next_back()?;
        (at < e).then_some((s, e))
    }

    /// Whether `at` is in it.
    pub fn contains(&self, at: u64) -> bool {
        self.containing(at).is_some()
    }

    /// The first number at or after `at` that is not in the set.
    pub fn next_gap(&self, at: u64) -> u64 {
        self.containing(at).map_or(at, |(_, e)| e)
    }

    /// The start of the first range at or after `at`.
    pub fn next_start(&self, at: u64) -> Option<u64> {
        self.ranges.range(at..).next().map(|(&s, _)| s)
    }

    /// The first number in `[from, to)` that is in the set.
    pub fn next_in(&self, from: u64, to: u64) -> Option<u64> {
        if from < to && self.contains(from) {
            return Some(from);
        }
        self.next_start(from).filter(|&start| start < to)
    }

    /// The last range that begins below `at`.
    pub fn last_before(&self, at: u64) -> Option<(u64, u64)> {
        self.ranges.range(..at).next_back().map(|(&s, &e)| (s, e))
    }

    /// Adds `[start, end)`; calls `new` for each part that was not there.
    pub fn insert(&mut self, start: u64, end: u64, mut new: impl FnMut(u64, u64)) {
        if start >= end || self.extend(start, end, &mut new) {
            return;
        }
        let (mut low, mut high, mut at) = (start, end, start);
        if let Some((&s, &e)) = self.ranges.range(..start).next_back()
            && e >= start
        {
            (low, high, at) = (s, high.max(e), e.max(start));
            self.ranges.remove(&s);
        }
        while let Some((&s, &e)) = self.ranges.range(start..=end).next() {
            if at < s.min(end) {
                new(at, s.min(end));
            }
            at = at.max(e);
            high = high.max(e);
            self.ranges.remove(&s);
        }
        if at < end {
            new(at, end);
        }
        self.ranges.insert(low, high);
    }

    /// The common case of an insertion: all of it is there, or it makes one range longer and touches no
    /// other.
    fn extend(&mut self, start: u64, end: u64, new: &mut impl FnMut(u64, u64)) -> bool {
        let next = self.ranges.range(start + 1..=end).next().is_some();
        let Some((_, old)) = self.ranges.range_mut(..=start).next_back() else { return false };
        if *old >= end {
            return true;
        }
        if *old < start || next {
            return false;
        }
        new(*old, end);
        *old = end;
        true
    }

    /// Removes `[start, end)`; calls `gone` for each part that was there.
    pub fn remove(&mut self, start: u64, end: u64, mut gone: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        if let Some((s, e)) = self.containing(start) {
            self.ranges.remove(&s);
            if s < start {
                self.ranges.insert(s, start);
            }
            gone(start, e.min(end));
            if e > end {
                self.ranges.insert(end, e);
                return;
            }
        }
        while let Some((&s, &e)) = self.ranges.range(start..end).next() {
            self.ranges.remove(&s);
            gone(s, e.min(end));
            if e > end {
                self.ranges.insert(end, e);
            }
        }
    }

    /// Calls `each` for every part of `[start, end)` that is in the set.
    pub fn inside(&self, start: u64, end: u64, mut each: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        if let Some((_, e)) = self.containing(start) {
            each(start, e.min(end));
        }
        for (&s, &e) in self.ranges.range(start + 1..end.max(start + 1)) {
            each(s, e.min(end));
        }
    }

    /// Ranges from low to high.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().map(|(&s, &e)| (s, e))
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}
