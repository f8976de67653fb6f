//! Sequence numbers without wrap, and the bytes of a stream that were seen.

use super::parts::Parts;

/// Number of the first byte that is seen; earlier ones may follow.
const BEGIN: u64 = 1 << 40;
/// Holes that are remembered. Of more the oldest are taken as closed.
const MOST_HOLES: usize = 4096;

/// Sequence numbers of one direction, without wrap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// Largest number so far, and its field of 32 bits.
    last: Option<(u64, u32)>,
}

impl Numbers {
    /// The number that a field means: the one that is nearest to the largest so far.
    pub fn of(&mut self, field: u32) -> u64 {
        let (last, low) = *self.last.get_or_insert((BEGIN, field));
        let number = last.wrapping_add_signed(i64::from(field.wrapping_sub(low) as i32));
        if number > last {
            self.last = Some((number, field));
        }
        number
    }
}

/// Bytes that a segment adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Bytes behind all others.
    pub new: u64,
    /// Bytes in holes.
    pub filled: u64,
    /// Bytes that were seen before.
    pub again: u64,
    /// Bytes that were left out in front of it.
    pub skipped: u64,
}

/// Parts of a stream that were seen.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// End of the last byte; none before the first one.
    top: Option<u64>,
    /// Parts before it that were not seen, in their order.
    holes: Parts,
}

impl Stream {
    /// End of the last byte.
    pub fn top(&self) -> Option<u64> {
        self.top
    }

    /// Adds the bytes from one number to another.
    pub fn add(&mut self, from: u64, to: u64) -> Added {
        let length = to.saturating_sub(from);
        let top = *self.top.get_or_insert(from);
        let mut added = Added::default();
        if to > top {
            self.top = Some(to);
            added.new = to - from.max(top);
            added.skipped = from.saturating_sub(top);
        }
        if from > top {
            if self.holes.count() == MOST_HOLES {
                self.holes.forget_first();
            }
            self.holes.insert(top, from);
        } else {
            added.filled = self.holes.take_out(from, to);
        }
        added.again = length - added.new - added.filled;
        added
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_pass_the_wrap() {
        let mut own = Numbers::default();
        let first = own.of(u32::MAX - 9);
        assert_eq!(own.of(10) - first, 20);
        assert_eq!(own.of(u32::MAX) - first, 9, "an earlier one");
        assert_eq!(own.of(20) - first, 30);
    }

    #[test]
    fn segments_are_new_fill_holes_or_come_again() {
        let mut own = Stream::default();
        let added = |new, filled, again, skipped| Added { new, filled, again, skipped };
        assert_eq!(own.add(0, 10), added(10, 0, 0, 0));
        assert_eq!(own.add(20, 30), added(10, 0, 0, 10));
        assert_eq!(own.holes.bytes(), 10);
        assert_eq!(own.add(12, 15), added(0, 3, 0, 0));
        assert_eq!(own.add(5, 25), added(0, 7, 13, 0));
        assert_eq!(own.holes.bytes(), 0);
        assert_eq!(own.add(25, 40), added(10, 0, 5, 0));
        assert_eq!(own.top(), Some(40));
    }

    proptest! {
        #[test]
        fn parts_are_those_of_a_plain_set(parts in prop::collection::vec((0_u64..60, 1_u64..20), 1..40)) {
            let mut own = Stream::default();
            let mut seen = std::collections::BTreeSet::new();
            for (from, length) in parts {
                let bytes = from..from + length;
                let before = bytes.clone().filter(|at| seen.contains(at)).count() as u64;
                let added = own.add(from, from + length);
                let first = own.top.is_some() && seen.is_empty();
                seen.extend(bytes);
                // Bytes before the first segment are no hole: nothing says that they were sent.
                let start = *seen.first().expect("a byte");
                prop_assert!(first || added.new + added.filled + added.again == length);
                prop_assert!(added.again >= before);
                let top = *seen.last().expect("a byte") + 1;
                prop_assert_eq!(own.top(), Some(top));
                prop_assert!(own.holes.bytes() <= top - start - seen.len() as u64);
            }
        }
    }
}
