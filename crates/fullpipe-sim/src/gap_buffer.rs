//! A sequence that changes at its ends and near one place between them.
//!
//! The sender's records of packets in flight grow at the end and shrink at the beginning. Retransmissions change them
//! at a place that moves along. A gap buffer of two deques makes all three cheap and keeps the records in order in
//! memory. Only a change far from the last change moves elements.

use crate::search_hint::SearchHint;
use alloc::collections::VecDeque;

/// A sequence with a cheap place for changes, which follows the last change. Positions count from 0.
#[derive(Clone, Debug)]
pub struct GapBuffer<T> {
    /// Elements before the gap.
    low: VecDeque<T>,
    /// Elements behind the gap.
    high: VecDeque<T>,
    /// End of the last search of each deque.
    hints: [SearchHint; 2],
}

impl<T> Default for GapBuffer<T> {
    fn default() -> Self {
        GapBuffer { low: VecDeque::new(), high: VecDeque::new(), hints: Default::default() }
    }
}

impl<T: Copy> GapBuffer<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.low.len() + self.high.len()
    }

    /// Whether the sequence is empty.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty() && self.high.is_empty()
    }

    /// The element at `at`.
    pub fn get(&self, at: usize) -> Option<T> {
        match at.checked_sub(self.low.len()) {
            None => self.low.get(at).copied(),
            Some(behind) => self.high.get(behind).copied(),
        }
    }

    /// The element at `at`, to be changed.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        match at.checked_sub(self.low.len()) {
            None => self.low.get_mut(at),
            Some(behind) => self.high.get_mut(behind),
        }
    }

    /// The first element.
    pub fn first(&self) -> Option<T> {
        self.low.front().or_else(|| self.high.front()).copied()
    }

    /// The last element.
    pub fn last(&self) -> Option<T> {
        self.high.back().or_else(|| self.low.back()).copied()
    }

    /// The last element, to be changed.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.high.back_mut().or_else(|| self.low.back_mut())
    }

    /// Number of elements before the first for which `before` does not hold; `before` holds for no element after that.
    /// Elements at the ends, near the ends and near the gap are found fastest.
    #[inline]
    pub fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        if self.last().is_none_or(|last| before(&last)) {
            return self.len();
        }
        if self.first().is_some_and(|first| !before(&first)) {
            return 0;
        }
        if self.high.front().is_some_and(&before) {
            return self.low.len() + self.hints[1].partition_point(&self.high, before);
        }
        self.hints[0].partition_point(&self.low, before)
    }

    /// Puts `element` before the one at `at`, which is at most [`GapBuffer::len`].
    pub fn insert(&mut self, at: usize, element: T) {
        if at == 0 {
            self.low.push_front(element);
        } else if at >= self.len() && !self.high.is_empty() {
            self.high.push_back(element);
        } else {
            self.move_gap(at);
            self.low.push_back(element);
        }
    }

    /// Removes and returns the element at `at`.
    pub fn remove(&mut self, at: usize) -> Option<T> {
        if at == 0 {
            return self.low.pop_front().or_else(|| self.high.pop_front());
        }
        if at + 1 == self.len() {
            return self.high.pop_back().or_else(|| self.low.pop_back());
        }
        self.move_gap(at);
        self.high.pop_front()
    }

    fn move_gap(&mut self, to: usize) {
        while self.low.len() > to
            && let Some(element) = self.low.pop_back()
        {
            self.high.push_front(element);
        }
        while self.low.len() < to
            && let Some(element) = self.high.pop_front()
        {
            self.low.push_back(element);
        }
    }

    /// Elements in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + '_ {
        self.low.iter().chain(&self.high).copied()
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.low.clear();
        self.high.clear();
    }
}
