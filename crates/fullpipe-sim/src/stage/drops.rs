//! Packets that a stage dropped: their count and, for a capture, the packets themselves.

use super::DueCounter;
use crate::packet::Train;
use crate::units::Time;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// Drops of a stage. They count as events of a [`DueCounter`].
#[derive(Clone, Debug, Default)]
pub struct Drops {
    counter: DueCounter,
    /// Packets dropped since the last [`Drops::take`]; none where nobody asks.
    named: Option<Vec<Train>>,
}

impl Drops {
    /// Keeps the dropped packets from now on, for [`Drops::take`].
    pub fn name(&mut self) {
        self.named.get_or_insert_default();
    }

    /// Counts packets that were dropped on arrival, each of weight `each`.
    pub fn lose(&mut self, packets: &Train, each: impl Into<u64>) {
        self.counter.add(packets.first, packets.spacing, packets.count, each);
        self.remember(packets);
    }

    /// Counts packets that were dropped at `time`, each of weight `each`.
    pub fn lose_at(&mut self, time: Time, packets: &Train, each: impl Into<u64>) {
        self.counter.add(time, 0, packets.count, each);
        self.remember(packets);
    }

    fn remember(&mut self, packets: &Train) {
        if let Some(named) = &mut self.named {
            named.push(*packets);
        }
    }

    /// The packets that were dropped since the last call.
    pub fn take(&mut self) -> impl Iterator<Item = Train> {
        self.named.iter_mut().flat_map(|named| named.drain(..))
    }
}

impl From<DueCounter> for Drops {
    /// Drops with the counts of `counter`; the packets are not kept.
    fn from(counter: DueCounter) -> Drops {
        Drops { counter, named: None }
    }
}

impl Deref for Drops {
    type Target = DueCounter;
    fn deref(&self) -> &DueCounter {
        &self.counter
    }
}

impl DerefMut for Drops {
    fn deref_mut(&mut self) -> &mut DueCounter {
        &mut self.counter
    }
}
