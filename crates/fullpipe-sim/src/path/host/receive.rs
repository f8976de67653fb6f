//! The way into a host: receive ring, interrupt moderation, and the backlog of old drivers.
//!
//! An interrupt comes with the first packet, but at least `coalesce` after the one before. The ring
//! holds what arrives between two interrupts; what arrives while it is full is dropped by the card.
//! A NAPI driver leaves packets in the ring until the softirq has time. A `netif_rx` driver moves
//! them into the backlog at each interrupt; what does not fit there is dropped by the kernel
//! (`net.core.netdev_max_backlog`, Linux 2.6.20 `netif_rx`). Unit of decision: the segment.

use crate::config::ReceivePath;
use crate::tally::{Peaks, Samples, Tally};
use crate::trace::{StageInfo, StageSample};
use crate::train::Train;
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// See the module's description.
pub struct Receive {
    path: ReceivePath,
    ring_size: u64,
    backlog_limit: u64,
    coalesce: u64,
    /// Before this no interrupt comes.
    next_interrupt: u64,
    /// Packets that arrived, or will, since the last interrupt.
    arrivals: VecDeque<Train>,
    backlog: Vec<Train>,
    backlog_packets: u64,
    ring: Counters,
    in_backlog: Counters,
}

struct Counters {
    entered: Tally,
    left: Tally,
    dropped: Tally,
    peaks: Peaks,
}

impl Counters {
    fn new(samples: Samples) -> Counters {
        Counters {
            entered: Tally::default(),
            left: Tally::default(),
            dropped: Tally::default(),
            peaks: Peaks::new(samples),
        }
    }
}

impl Receive {
    /// An empty ring; `samples` are the trace's.
    pub fn new(host: &crate::config::Host, samples: Samples) -> Receive {
        Receive {
            path: host.receive_path,
            ring_size: u64::from(host.rx_ring),
            backlog_limit: u64::from(host.sysctl.netdev_max_backlog),
            coalesce: host.coalesce.0,
            next_interrupt: 0,
            arrivals: VecDeque::new(),
            backlog: Vec::new(),
            backlog_packets: 0,
            ring: Counters::new(samples),
            in_backlog: Counters::new(samples),
        }
    }

    /// A train comes from the wire (its packets lie in the future).
    pub fn arrive(&mut self, train: Train) {
        if !self.arrivals.back_mut().is_some_and(|last| last.extend(&train)) {
            self.arrivals.push_back(train);
        }
    }

    /// When the softirq will next have something to do, if the CPU is free from `cpu_free` on.
    pub fn ready_time(&self, cpu_free: Time) -> Time {
        if self.backlog_packets > 0 {
            return cpu_free;
        }
        match self.interrupt_time() {
            Some(time) => Time(time.max(cpu_free.0)),
            None => Time::NEVER,
        }
    }

    fn interrupt_time(&self) -> Option<u64> {
        Some(self.arrivals.front()?.first.0.max(self.next_interrupt))
    }

    /// Gives what the softirq takes at `now`, in order.
    pub fn take(&mut self, now: Time, batch: &mut Vec<Train>) {
        match self.path {
            ReceivePath::Napi => {
                self.interrupt(now, batch);
            }
            ReceivePath::NetifRx => self.take_backlog(now, batch),
        }
    }

    /// The packets from `now` up to `last` that have an interrupt each, if the CPU is free at each of
    /// them; none if they are fewer than two, when [`Receive::take`] does as well.
    pub fn take_one_by_one(&mut self, now: Time, last: Time) -> Option<Train> {
        // The last packet of a train may share its interrupt with the next one's first.
        let followed = u32::from(self.arrivals.len() > 1);
        let train = self.arrivals.front_mut()?;
        let moderated = self.path != ReceivePath::Napi || self.coalesce > 0;
        if moderated || train.spacing == 0 || train.first != now {
            return None;
        }
        let count = train.until(last).min(train.count - followed);
        if count < 2 {
            return None;
        }
        let taken = train.part(0, count);
        if count == train.count {
            self.arrivals.pop_front();
        } else {
            *train = train.part(count, train.count - count);
        }
        self.ring.entered.add(taken.first, taken.spacing, count, taken.ip_len);
        self.ring.left.add(taken.first, taken.spacing, count, taken.ip_len);
        for i in 0..count {
            self.ring.peaks.reach(taken.time(i), 1);
        }
        self.next_interrupt = taken.last().0;
        Some(taken)
    }

    /// Lets the interrupts up to `now` move the ring into the backlog.
    fn run_interrupts(&mut self, now: Time) {
        while let Some(time) = self.interrupt_time().filter(|&t| t <= now.0) {
            let mut moved = Vec::new();
            self.interrupt(Time(time), &mut moved);
            for train in moved {
                self.enter_backlog(Time(time), train);
            }
        }
    }

    fn take_backlog(&mut self, now: Time, batch: &mut Vec<Train>) {
        self.run_interrupts(now);
        if self.backlog_packets > 0 {
            self.in_backlog.left.add(now, 0, self.backlog_packets as u32, 0u32);
        }
        self.backlog_packets = 0;
        batch.append(&mut self.backlog);
    }

    fn enter_backlog(&mut self, now: Time, train: Train) {
        let room = self.backlog_limit.saturating_sub(self.backlog_packets);
        let taken = u64::from(train.count).min(room) as u32;
        if taken < train.count {
            self.in_backlog.dropped.add(now, 0, train.count - taken, train.ip_len);
        }
        if taken > 0 {
            self.backlog_packets += u64::from(taken);
            self.in_backlog.entered.add(now, 0, taken, train.ip_len);
            self.in_backlog.peaks.reach(now, self.backlog_packets);
            self.backlog.push(train.part(0, taken));
        }
    }

    /// Empties the ring at `now` into `out`.
    fn interrupt(&mut self, now: Time, out: &mut Vec<Train>) {
        let mut held = 0u64;
        while let Some(train) = self.arrivals.front_mut() {
            let come = train.until(now);
            if come == 0 {
                break;
            }
            let kept = u64::from(come).min(self.ring_size - held) as u32;
            if kept > 0 {
                let part = train.part(0, kept);
                self.ring.entered.add(part.first, part.spacing, kept, part.ip_len);
                self.ring.left.add(now, 0, kept, part.ip_len);
                for i in 0..kept {
                    self.ring.peaks.reach(part.time(i), held + u64::from(i) + 1);
                }
                held += u64::from(kept);
                out.push(part);
            }
            if kept < come {
                let lost = train.part(kept, come - kept);
                self.ring.dropped.add(lost.first, lost.spacing, lost.count, lost.ip_len);
            }
            if come == train.count {
                self.arrivals.pop_front();
            } else {
                *train = train.part(come, train.count - come);
                break;
            }
        }
        self.next_interrupt = now.0 + self.coalesce;
    }

    /// Descriptions of the ring and the backlog.
    pub fn infos(&self, host: &str) -> [StageInfo; 2] {
        [
            super::info(host, "rx_ring", "segment", Some(self.ring_size)),
            super::info(host, "backlog", "segment", Some(self.backlog_limit)),
        ]
    }

    /// Counters of the ring and the backlog at `now`.
    pub fn sample(&mut self, now: Time) -> [StageSample; 2] {
        if self.path == ReceivePath::NetifRx {
            self.run_interrupts(now);
        }
        let arrived = self.arrivals.iter().take_while(|t| t.first <= now);
        let come: u64 = arrived.map(|t| u64::from(t.until(now))).sum();
        let held = come.min(self.ring_size);
        let ring = Self::sample_of(&mut self.ring, now, held, come - held);
        let backlog = Self::sample_of(&mut self.in_backlog, now, 0, 0);
        [ring, backlog]
    }

    /// `held` and `lost`: packets that arrived since the last interrupt, not in the tallies yet.
    fn sample_of(counters: &mut Counters, now: Time, held: u64, lost: u64) -> StageSample {
        for tally in [&mut counters.entered, &mut counters.left, &mut counters.dropped] {
            tally.advance(now);
        }
        let waiting = counters.entered.count + held - counters.left.count;
        StageSample {
            waiting,
            peak: counters.peaks.take(now, waiting).max(waiting),
            entered: counters.entered.count + held,
            left: counters.left.count,
            dropped: counters.dropped.count + lost,
            ..StageSample::default()
        }
    }
}
