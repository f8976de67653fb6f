//! A search in an ordered sequence that begins where the last one ended.
//!
//! An ACK mostly looks up places near the places of the last ACK. Finding them again costs a few comparisons, whatever
//! the length. A place farther away costs steps that double.

use alloc::collections::VecDeque;
use core::cell::Cell;

/// End of the last search. A wrong place costs time only.
#[derive(Clone, Debug, Default)]
pub struct SearchHint(Cell<usize>);

impl SearchHint {
    /// Number of elements before the first for which `before` does not hold; it holds for none after
    /// that. Answers at the ends do not move the hint.
    #[inline]
    pub fn partition_point<T>(&self, elements: &VecDeque<T>, before: impl Fn(&T) -> bool) -> usize {
        let at = self.0.get().min(elements.len());
        let begins_at = elements.get(at).is_none_or(|element| !before(element));
        if begins_at && at.checked_sub(1).is_some_and(|last| before(&elements[last])) {
            return at;
        }
        if elements.back().is_none_or(&before) {
            return elements.len();
        }
        if elements.get(1).is_none_or(|second| !before(second)) {
            return elements.front().is_some_and(before).into();
        }
        let found = match begins_at {
            true => search_down(elements, at, before),
            false => search_up(elements, at, before),
        };
        self.0.set(found);
        found
    }
}

/// Searches towards the end, in steps that double; `before` holds at `at`.
fn search_up<T>(elements: &VecDeque<T>, at: usize, before: impl Fn(&T) -> bool) -> usize {
    let (mut from, mut step) = (at + 1, 1);
    while elements.get(from + step - 1).is_some_and(&before) {
        from += step;
        step *= 2;
    }
    search_between(elements, from, elements.len().min(from + step - 1), before)
}

/// Searches towards the beginning, in steps that double; `before` does not hold at `at`, or `at` is the end.
fn search_down<T>(elements: &VecDeque<T>, at: usize, before: impl Fn(&T) -> bool) -> usize {
    let (mut until, mut step) = (at, 1);
    while step <= until && !before(&elements[until - step]) {
        until -= step;
        step *= 2;
    }
    search_between(elements, until.saturating_sub(step - 1), until, before)
}

fn search_between<T>(
    elements: &VecDeque<T>,
    mut from: usize,
    mut until: usize,
    before: impl Fn(&T) -> bool,
) -> usize {
    while from < until {
        let middle = from + (until - from) / 2;
        match before(&elements[middle]) {
            true => from = middle + 1,
            false => until = middle,
        }
    }
    from
}
