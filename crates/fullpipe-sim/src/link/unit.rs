//! What a decision is about: each segment, or what the sender handed down as one.

use crate::packet::Train;
pub use fullpipe_base::path::Unit;

/// Tells whether a train goes on with the unit before it.
#[derive(Debug)]
pub(super) struct Units {
    unit: Unit,
    last: Option<u32>,
}

impl Units {
    pub(super) fn new(unit: Unit) -> Units {
        Units { unit, last: None }
    }

    /// Whether all of `train` is of one unit (of an skb; trains do not join over its ends). The answer
    /// says whether segments of this skb came just before; one that others came in between of counts
    /// as another.
    pub(super) fn skb(&mut self, train: &Train) -> Option<bool> {
        match self.unit {
            Unit::Segment => None,
            Unit::Skb => Some(self.last.replace(train.skb) == Some(train.skb)),
        }
    }
}
