//! Input of a host: receive ring, interrupts, and the backlog of old drivers.
//!
//! A NAPI driver leaves packets in the ring until the softirq polls it. A `netif_rx` driver moves all of them into the
//! backlog at each interrupt.

mod backlog;
pub mod gro;
mod rx_ring;

pub use rx_ring::WEIGHT;

use crate::config::{Host, ReceivePath};
use crate::packet::Train;
use crate::stage::{Drops, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use backlog::Backlog;
use rx_ring::RxRing;

/// Input side of a host.
pub struct Receive {
    path: ReceivePath,
    ring: RxRing,
    backlog: Backlog,
}

impl Receive {
    /// Idle input side of `host`; `samples` are the trace's.
    pub fn new(host: &Host, samples: Samples) -> Receive {
        Receive {
            path: host.receive_path,
            ring: RxRing::new(host, samples),
            backlog: Backlog::new(host.sysctl.netdev_max_backlog, samples),
        }
    }

    /// Takes a train from the wire; its packets lie in the future.
    pub fn arrive(&mut self, train: Train) {
        self.ring.arrive(train);
    }

    /// Time at which the softirq next has packets to take, if the CPU is free from `cpu_free` on.
    pub fn ready_time(&self, cpu_free: Time) -> Time {
        if !self.backlog.is_empty() {
            return cpu_free;
        }
        match self.ring.interrupt_time() {
            Some(time) => Time(time.max(cpu_free.0)),
            None => Time::NEVER,
        }
    }

    /// Whether the last poll left no packets.
    pub fn is_empty(&self) -> bool {
        self.backlog.is_empty() && (self.path == ReceivePath::NetifRx || self.ring.is_empty())
    }

    /// Next interrupt from `from` on that moves packets into the backlog.
    pub fn next_backlogged(&self, from: Time) -> Time {
        let next = (self.path == ReceivePath::NetifRx).then(|| self.ring.interrupt_time());
        next.flatten().map_or(Time::NEVER, |time| from.max(Time(time)))
    }

    /// Takes the packets of a poll at `now` into `batch`, at most `most`, in order.
    pub fn take(&mut self, now: Time, most: u32, batch: &mut Vec<Train>) {
        match self.path {
            ReceivePath::Napi => self.ring.interrupt(now, most, batch),
            ReceivePath::NetifRx => {
                self.run_interrupts(now);
                self.backlog.take(now, most, batch);
            }
        }
    }

    /// Packets from `now` up to `last` that have one interrupt each, if the CPU is free at each of them.
    pub fn take_one_by_one(&mut self, now: Time, last: Time) -> Option<Train> {
        match self.path {
            ReceivePath::Napi => self.ring.interrupt_each(now, last),
            ReceivePath::NetifRx => None,
        }
    }

    /// Lets the interrupts up to `now` move the ring into the backlog; returns the time of the last one.
    pub fn run_interrupts(&mut self, now: Time) -> Option<Time> {
        let mut last = None;
        while let Some(time) = self.ring.interrupt_time().map(Time).filter(|&time| time <= now) {
            let mut moved = Vec::new();
            self.ring.interrupt(time, WEIGHT, &mut moved);
            for train in moved {
                self.backlog.enter(time, train);
            }
            last = Some(time);
        }
        last
    }

    /// Calls `each` for every train in the ring, in the backlog or on its way here.
    pub fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.ring.held(each);
        self.backlog.held(each);
    }

    /// Drops of the ring and of the backlog.
    pub fn drops(&mut self) -> [&mut Drops; 2] {
        [self.ring.drops(), self.backlog.drops()]
    }

    /// Descriptions of the ring and the backlog.
    pub fn infos(&self, host: &str) -> [StageInfo; 2] {
        [self.ring.info(host), self.backlog.info(host)]
    }

    /// Counters of the ring and the backlog at `now`.
    pub fn sample(&mut self, now: Time) -> [StageSample; 2] {
        if self.path == ReceivePath::NetifRx {
            self.run_interrupts(now);
        }
        [self.ring.sample(now), self.backlog.sample(now)]
    }
}

/// Moves the first `left` packets of `held` to `out`.
fn take_first(held: &mut VecDeque<Train>, mut left: u64, out: &mut Vec<Train>) {
    while left > 0
        && let Some(train) = held.front_mut()
    {
        let taken = u64::from(train.count).min(left) as u32;
        out.push(train.part(0, taken));
        if taken == train.count {
            held.pop_front();
        } else {
            *train = train.part(taken, train.count - taken);
        }
        left -= u64::from(taken);
    }
}
