//! Packets held back, each until a time of its own, so that one can overtake another.
//!
//! Later input arrives later. So a held packet leaves at the first input at or after its time, or at the element's
//! wake-up. At equal times held packets leave first, in the order of arrival, then the arriving packet.

use super::chain::Stage;
use crate::packet::{Kind, Train, append};
use crate::stage::{Counters, Drops, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Decides when packets leave.
pub(super) trait Law {
    /// Time at which a packet of `flow` leaves that arrives at `now`; an earlier time means `now`.
    fn leaving(&mut self, now: Time, flow: u16) -> Time;
}

/// State of an element that holds packets.
pub(super) struct Holding<L> {
    info: StageInfo,
    law: L,
    /// Packets by time of departure and order of arrival.
    inside: BTreeMap<(Time, u64), Train>,
    come: u64,
    counters: Counters,
}

impl<L: Law> Holding<L> {
    /// An empty element; `samples` are the trace's.
    pub(super) fn new(info: StageInfo, law: L, samples: Samples) -> Holding<L> {
        Holding { info, law, inside: BTreeMap::new(), come: 0, counters: Counters::new(samples) }
    }

    /// Takes a packet.
    fn take(&mut self, packet: Train, out: &mut Vec<Train>) {
        let now = packet.first;
        // A router's message is no packet of the flow in its header.
        let flow = if packet.kind == Kind::FragNeeded { u16::MAX } else { packet.flow };
        let leaving = self.law.leaving(now, flow);

        // Held packets that are due leave before this one.
        self.wake(now, out);
        self.counters.entered.one(now, packet.ip_len);
        if leaving <= now {
            self.counters.left.one(now, packet.ip_len);
            append(out, packet);
        } else {
            self.inside.insert((leaving, self.come), packet);
            self.come += 1;
        }
        self.counters.times.occupied.set(now, !self.inside.is_empty());
        self.counters.peaks.reach(now, self.inside.len() as u64);
    }
}

impl<L: Law> Stage for Holding<L> {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        for i in 0..train.count {
            self.take(train.part(i, 1), out);
        }
    }

    fn wake_time(&self) -> Option<Time> {
        Some(self.inside.first_key_value()?.0.0)
    }

    fn wake(&mut self, now: Time, out: &mut Vec<Train>) {
        while let Some(first) = self.inside.first_entry()
            && first.key().0 <= now
        {
            let ((time, _), packet) = first.remove_entry();
            self.counters.left.one(time, packet.ip_len);
            self.counters.times.occupied.set(time, !self.inside.is_empty());
            append(out, packet.retimed(0, 1, time, 0));
        }
    }

    fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.inside.values().for_each(each);
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.counters.dropped
    }

    fn info(&self) -> StageInfo {
        self.info.clone()
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.counters.sample(now)
    }
}
