//! Unit of a decision: each segment, or each skb of the sender.

use crate::packet::Train;
pub use fullpipe_base::path::Unit;

/// Recognises trains that continue the last unit.
#[derive(Debug)]
pub(super) struct Units {
    unit: Unit,
    last: Option<u32>,
}

impl Units {
    pub(super) fn new(unit: Unit) -> Units {
        Units { unit, last: None }
    }

    /// Whether segments of this train's skb passed immediately before; none where the unit is the segment. All of
    /// `train` is of one skb: trains do not join over its ends. An skb with segments of others in between counts as
    /// two.
    pub(super) fn skb(&mut self, train: &Train) -> Option<bool> {
        match self.unit {
            Unit::Segment => None,
            Unit::Skb => Some(self.last.replace(train.skb) == Some(train.skb)),
        }
    }
}
