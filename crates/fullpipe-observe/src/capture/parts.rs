//! Parts of a stream, in their order and apart.

/// Parts, each from its first byte to the byte behind its last one.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    all: Vec<[u64; 2]>,
    /// Bytes of all.
    bytes: u64,
}

impl Parts {
    /// Number of parts.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Bytes of all parts.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// End of the last part.
    pub fn top(&self) -> Option<u64> {
        self.all.last().map(|own| own[1])
    }

    /// Adds a part; those that it touches become one with it.
    pub fn insert(&mut self, from: u64, to: u64) {
        let first = self.all.partition_point(|own| own[1] < from);
        let last = self.all.partition_point(|own| own[0] <= to);
        let joined = self.all[first..last]
            .iter()
            .fold([from, to], |sum, own| [sum[0].min(own[0]), sum[1].max(own[1])]);
        let removed: u64 = self.all.splice(first..last, [joined]).map(length).sum();
        self.bytes = self.bytes + length(joined) - removed;
    }

    /// Takes the bytes from one number to another out; returns how many there were.
    pub fn take_out(&mut self, from: u64, to: u64) -> u64 {
        let first = self.all.partition_point(|own| own[1] <= from);
        let last = self.all.partition_point(|own| own[0] < to);
        if first >= last {
            return 0;
        }
        let mut left = Vec::new();
        let mut taken = 0;
        for [begin, end] in self.all.drain(first..last) {
            taken += end.min(to) - begin.max(from);
            let rest = [[begin, from.max(begin).min(end)], [to.min(end).max(begin), end]];
            left.extend(rest.into_iter().filter(|[begin, end]| begin < end));
        }
        self.all.splice(first..first, left);
        self.bytes -= taken;
        taken
    }

    /// Forgets the first part.
    pub fn forget_first(&mut self) {
        self.bytes -= length(self.all.remove(0));
    }

    /// Makes the first two parts one, with the bytes between them.
    pub fn join_first(&mut self) {
        if let [first, second, ..] = self.all[..] {
            self.insert(first[0], second[1]);
        }
    }

    /// Whether a part has a byte between two numbers.
    pub fn overlaps(&self, [from, to]: [u64; 2]) -> bool {
        let next = self.all.partition_point(|own| own[1] <= from);
        self.all.get(next).is_some_and(|own| own[0] < to)
    }

    /// The first bytes between two numbers that no part has.
    pub fn first_gap(&self, from: u64, to: u64) -> Option<[u64; 2]> {
        let mut at = from;
        for own in &self.all {
            if own[0] > at {
                break;
            }
            at = at.max(own[1]);
        }
        let next = self.all.iter().map(|own| own[0]).find(|own| *own > at).unwrap_or(to);
        (at < to).then_some([at, next.min(to)])
    }
}

fn length([from, to]: [u64; 2]) -> u64 {
    to - from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_in_order_and_apart() {
        let mut parts = Parts::default();
        for [from, to] in [[10, 20], [40, 50], [20, 25], [45, 60], [0, 5]] {
            parts.insert(from, to);
        }
        assert_eq!(parts.all, [[0, 5], [10, 25], [40, 60]]);
        assert_eq!(parts.first_gap(0, 60), Some([5, 10]));
        assert_eq!(parts.first_gap(10, 25), None);
        assert_eq!((parts.overlaps([5, 10]), parts.overlaps([24, 30])), (false, true));
        assert_eq!(parts.take_out(12, 45), 13 + 5);
        assert_eq!(parts.all, [[0, 5], [10, 12], [45, 60]]);
        assert_eq!(parts.bytes(), 5 + 2 + 15);
        parts.join_first();
        assert_eq!((parts.count(), parts.bytes(), parts.top()), (2, 12 + 15, Some(60)));
        parts.forget_first();
        assert_eq!((parts.count(), parts.bytes()), (1, 15));
    }
}
