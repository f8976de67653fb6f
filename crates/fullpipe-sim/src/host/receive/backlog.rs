//! The backlog of drivers without NAPI. Unit of decision: the segment.
//!
//! Each interrupt moves the ring into the backlog. Packets that do not fit are dropped by the kernel
//! (`net.core.netdev_max_backlog`, Linux 2.6.20 `netif_rx`).

use crate::host::stage::info;
use crate::packet::Train;
use crate::stage::{Counters, Drops, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// State of the backlog.
pub(super) struct Backlog {
    limit: u64,
    held: VecDeque<Train>,
    packets: u64,
    /// Counters, which do not weigh packets.
    counters: Counters,
}

impl Backlog {
    /// An empty backlog for `limit` packets; `samples` are the trace's.
    pub(super) fn new(limit: u32, samples: Samples) -> Backlog {
        Backlog {
            limit: u64::from(limit),
            held: VecDeque::new(),
            packets: 0,
            counters: Counters::new(samples),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Adds a train that an interrupt moves in.
    pub(super) fn enter(&mut self, now: Time, train: Train) {
        let room = self.limit.saturating_sub(self.packets);
        let taken = u64::from(train.count).min(room) as u32;

        // enqueue_to_backlog drops each packet beyond netdev_max_backlog.
        if taken < train.count {
            let lost = train.part(taken, train.count - taken);
            self.counters.dropped.lose_at(now, &lost, 0u32);
        }
        if taken > 0 {
            self.packets += u64::from(taken);
            self.counters.entered.add(now, 0, taken, 0u32);
            self.counters.peaks.reach(now, self.packets);
            self.counters.times.hold(now, self.packets, self.limit);
            self.held.push_back(train.part(0, taken));
        }
    }

    /// Takes the packets of a poll, at most `most` (`process_backlog`).
    pub(super) fn take(&mut self, now: Time, most: u32, batch: &mut Vec<Train>) {
        let taken = u64::from(most).min(self.packets);
        if taken > 0 {
            self.counters.left.add(now, 0, taken as u32, 0u32);
        }
        self.packets -= taken;
        self.counters.times.hold(now, self.packets, self.limit);
        super::take_first(&mut self.held, taken, batch);
    }

    /// Calls `each` for every train in the backlog or on its way here.
    pub(super) fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.held.iter().for_each(each);
    }

    pub(super) fn drops(&mut self) -> &mut Drops {
        &mut self.counters.dropped
    }

    pub(super) fn info(&self, host: &str) -> StageInfo {
        info(host, "backlog", "segment", Some(self.limit))
    }

    pub(super) fn sample(&mut self, now: Time) -> StageSample {
        self.counters.sample(now)
    }
}
