//! Sets of ranges and the sequence they are kept in, against the plainest way to do the same.

use fullpipe_sim::gap_buffer::GapBuffer;
use fullpipe_sim::ranges::RangeSet;
use proptest::prelude::*;
use std::collections::BTreeSet;

const NUMBERS: u64 = 60;

#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u64, u64),
    Remove(u64, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bounds = (0..NUMBERS, 0..NUMBERS, any::<bool>());
    let step = bounds.prop_map(|(a, b, add)| match add {
        true => Step::Insert(a.min(b), a.max(b)),
        false => Step::Remove(a.min(b), a.max(b)),
    });
    prop::collection::vec(step, 1..60)
}

/// Numbers in reported parts, in the order of the reports.
fn numbers(parts: &[(u64, u64)]) -> Vec<u64> {
    parts.iter().flat_map(|&(start, end)| start..end).collect()
}

fn apply(step: Step, set: &mut RangeSet, plain: &mut BTreeSet<u64>) {
    let mut parts = Vec::new();
    let changed: Vec<u64> = match step {
        Step::Insert(start, end) => {
            set.insert(start, end, |f, t| parts.push((f, t)));
            (start..end).filter(|&n| plain.insert(n)).collect()
        }
        Step::Remove(start, end) => {
            set.remove(start, end, |f, t| parts.push((f, t)));
            (start..end).filter(|n| plain.remove(n)).collect()
        }
    };
    assert_eq!(numbers(&parts), changed, "{step:?}");
}

fn compare(set: &RangeSet, plain: &BTreeSet<u64>) {
    let ranges: Vec<_> = set.iter().collect();
    assert_eq!(numbers(&ranges), plain.iter().copied().collect::<Vec<_>>());
    assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "joined where they touch");
    assert_eq!((set.len(), set.is_empty()), (ranges.len(), plain.is_empty()));
    for at in 0..NUMBERS {
        let range = ranges.iter().copied().find(|&(start, end)| start <= at && at < end);
        assert_eq!(set.containing(at), range);
        assert_eq!(set.next_gap(at), range.map_or(at, |(_, end)| end));
        let starts = ranges.iter().map(|range| range.0);
        assert_eq!(set.next_start(at), starts.clone().find(|&start| start >= at));
        let upper = (at + 7).min(NUMBERS);
        let within: Vec<u64> = plain.range(at..upper).copied().collect();
        assert_eq!(set.next_in(at, upper), within.first().copied());
        let mut parts = Vec::new();
        set.inside(at, upper, |f, t| parts.push((f, t)));
        assert_eq!(numbers(&parts), within);
    }
}

proptest! {
    #[test]
    fn ranges_are_the_numbers_in_them(steps in steps()) {
        let (mut set, mut plain) = (RangeSet::default(), BTreeSet::new());
        for step in steps {
            apply(step, &mut set, &mut plain);
            compare(&set, &plain);
        }
    }

    /// Each step says where, as a share of the length, and whether an element comes or goes.
    #[test]
    fn a_gap_changes_nothing(steps in prop::collection::vec((0.0..=1.0, 0..3), 1..200)) {
        let (mut deque, mut plain) = (GapBuffer::default(), Vec::new());
        for (number, (share, what)) in steps.into_iter().enumerate() {
            let at = (share * plain.len() as f64) as usize;
            if what == 0 {
                let gone = (at < plain.len()).then(|| plain.remove(at));
                prop_assert_eq!(deque.remove(at), gone);
            } else {
                deque.insert(at, number);
                plain.insert(at, number);
            }
            prop_assert_eq!(deque.iter().collect::<Vec<_>>(), plain.clone());
            prop_assert_eq!((deque.first(), deque.last()), (plain.first().copied(), plain.last().copied()));
            prop_assert_eq!(deque.get(at), plain.get(at).copied());
            prop_assert_eq!(deque.get_mut(at).copied(), plain.get(at).copied());
        }
    }

    #[test]
    fn a_gap_is_searched_over(low in 0usize..30, high in 0usize..30, limit in 0usize..70) {
        let mut deque = GapBuffer::default();
        for number in (0..low + high).rev() {
            deque.insert(0, number);
        }
        // A change in the middle leaves the gap there.
        deque.insert(low, 1000);
        deque.remove(low);
        prop_assert_eq!(deque.partition_point(|&number| number < limit), limit.min(low + high));
    }
}
