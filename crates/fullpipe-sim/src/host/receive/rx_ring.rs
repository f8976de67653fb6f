//! The receive ring and interrupt moderation. Unit of decision: the segment.
//!
//! An interrupt comes `wait` after the first packet, or with packet number `frames` if that is earlier. Source: Linux
//! `ETHTOOL_GCOALESCE`: rx_coalesce_usecs, rx_max_coalesced_frames, include/uapi/linux/ethtool.h. Two interrupts are at
//! least `interrupt_gap` apart.
//!
//! The softirq then polls the ring until it is empty, a number of packets at a time (NAPI's weight). Only then
//! interrupts come again. The NIC drops packets that arrive while the ring is full.
//!
//! Limits:
//! - NICs follow different rules: `rx_coalesce` is ethtool's `rx-usecs`, `coalesce` the gap.

use crate::config::Host;
use crate::host::stage::info;
use crate::packet::Train;
use crate::stage::{Counters, Drops, DueCounter, Samples, waited};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Most packets of one poll: the weight of NAPI drivers (Linux 2.6.20 e1000, myri10ge).
pub const WEIGHT: u32 = 64;

/// Packets that have arrived since the last poll.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    /// Number of packets.
    come: u64,
    /// Packets that found a descriptor, and their time in the ring, nanoseconds added up.
    held: u64,
    held_ns: u64,
    /// Time in which they filled the ring, nanoseconds.
    full_ns: u64,
}

/// Receive ring with interrupt moderation.
pub(super) struct RxRing {
    size: u64,
    wait: Time,
    /// Packets that end the wait; 0: no such number.
    frames: u32,
    /// Arrival of packet number `frames`; never, where that is unset or not yet on the wire.
    last_of_frames: Time,
    interrupt_gap: u64,
    /// Earliest time of the next interrupt.
    next_interrupt: u64,
    /// Packets in the ring that a poll has left.
    held: VecDeque<Train>,
    held_packets: u64,
    /// Packets that arrived, or will, since the last poll.
    arrivals: VecDeque<Train>,
    /// Counters up to the last poll, which do not weigh packets.
    counters: Counters,
}

impl RxRing {
    /// An empty ring for `host`; `samples` are the trace's.
    pub(super) fn new(host: &Host, samples: Samples) -> RxRing {
        RxRing {
            size: u64::from(host.rx_ring),
            wait: host.rx_coalesce,
            // A ring smaller than this number never reaches it.
            frames: if host.rx_frames <= host.rx_ring { host.rx_frames } else { 0 },
            last_of_frames: Time::NEVER,
            interrupt_gap: host.interrupt_gap.0,
            next_interrupt: 0,
            held: VecDeque::new(),
            held_packets: 0,
            arrivals: VecDeque::new(),
            counters: Counters::new(samples),
        }
    }

    /// Takes a train from the wire; its packets lie in the future.
    pub(super) fn arrive(&mut self, train: Train) {
        if !self.arrivals.back_mut().is_some_and(|last| last.extend(&train)) {
            self.arrivals.push_back(train);
        }
        if self.frames > 0 {
            self.count_frames();
        }
    }

    /// Time at which the softirq has packets to take: the next interrupt, or at once if it has left some.
    pub(super) fn interrupt_time(&self) -> Option<u64> {
        if self.held_packets > 0 {
            return Some(self.next_interrupt);
        }
        let over = self.arrivals.front()?.first + self.wait;
        Some(over.min(self.last_of_frames).0.max(self.next_interrupt))
    }

    /// Finds the packet that ends the interrupt's wait, after arrivals or a poll.
    #[cold]
    fn count_frames(&mut self) {
        self.last_of_frames = Time::NEVER;
        let mut left = self.frames - 1;
        for train in &self.arrivals {
            if left < train.count {
                self.last_of_frames = train.time(left);
                return;
            }
            left -= train.count;
        }
    }

    /// Whether the last poll left no packets.
    pub(super) fn is_empty(&self) -> bool {
        self.held_packets == 0
    }

    /// Polls the ring at `now`: puts at most `most` packets into `out`.
    pub(super) fn interrupt(&mut self, now: Time, most: u32, out: &mut Vec<Train>) {
        self.admit(now);
        if self.frames > 0 {
            self.count_frames();
        }
        let taken = u64::from(most).min(self.held_packets);
        self.held_packets -= taken;
        if taken > 0 {
            self.counters.left.add(now, 0, taken as u32, 0u32);
        }
        self.counters.times.hold(now, self.held_packets, self.size);
        if self.held_packets == 0 {
            out.extend(self.held.drain(..));
        } else {
            super::take_first(&mut self.held, taken, out);
        }

        // NAPI polls again at once while packets are left; else the next interrupt keeps its distance.
        self.next_interrupt = now.0 + if self.held_packets > 0 { 0 } else { self.interrupt_gap };
    }

    /// Moves arrivals up to `now` into the ring; no descriptor has become free since the last poll.
    fn admit(&mut self, now: Time) {
        while let Some(train) = self.arrivals.front_mut() {
            let come = train.until(now);
            if come == 0 {
                break;
            }

            // Each packet takes a descriptor; no poll has freed any since the last one.
            let kept = u64::from(come).min(self.size - self.held_packets) as u32;
            if kept > 0 {
                let part = train.part(0, kept);
                self.counters.entered.add(part.first, part.spacing, kept, 0u32);
                for i in 0..kept {
                    let level = self.held_packets + u64::from(i) + 1;
                    self.counters.peaks.reach(part.time(i), level);
                }
                self.held_packets += u64::from(kept);
                self.counters.times.occupied.set(part.first, true);
                if self.held_packets == self.size {
                    self.counters.times.full.set(part.last(), true);
                }
                self.held.push_back(part);
            }

            // The NIC drops what finds no descriptor (rx_missed_errors).
            if kept < come {
                let lost = train.part(kept, come - kept);
                self.counters.dropped.lose(&lost, 0u32);
            }
            if come == train.count {
                self.arrivals.pop_front();
            } else {
                *train = train.part(come, train.count - come);
                break;
            }
        }
    }

    /// Takes packets from `now` up to `last` that find the ring empty and have one interrupt each.
    pub(super) fn interrupt_each(&mut self, now: Time, last: Time) -> Option<Train> {
        if self.held_packets > 0 {
            return None;
        }
        let next = self.arrivals.get(1).map(|next| next.first);
        let train = self.arrivals.front_mut()?;

        // Moderated interrupts, and packets at one moment, share a poll.
        if self.interrupt_gap > 0
            || self.wait > Time::ZERO
            || train.first != now
            || train.spacing == 0 && train.count > 1
        {
            return None;
        }
        // The last packet of a train may share its interrupt with the next one's first.
        let shared = next.is_some_and(|next| next <= train.last());
        let count = train.until(last).min(train.count - u32::from(shared));
        if count == 0 {
            return None;
        }
        let taken = train.part(0, count);
        if count == train.count {
            self.arrivals.pop_front();
        } else {
            *train = train.part(count, train.count - count);
        }
        self.counters.passed.add(taken.first, taken.spacing, count, 0u32);
        self.counters.peaks.reach_at_each(&taken, 1);
        self.next_interrupt = taken.last().0;
        Some(taken)
    }

    /// Calls `each` for every train in the ring or on its way here.
    pub(super) fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.held.iter().chain(&self.arrivals).for_each(each);
    }

    pub(super) fn drops(&mut self) -> &mut Drops {
        &mut self.counters.dropped
    }

    pub(super) fn info(&self, host: &str) -> StageInfo {
        info(host, "rx_ring", "segment", Some(self.size))
    }

    /// The counters at `now`, with the packets that arrived since the last poll.
    pub(super) fn sample(&mut self, now: Time) -> StageSample {
        // No poll has admitted these arrivals yet; in the ring they wait all the same.
        let Arrived { come, held, held_ns, full_ns } = self.arrived(now);
        let occupied_ns = match (self.held_packets, self.arrivals.front()) {
            (0, Some(first)) if held > 0 => (now - first.first).0,
            _ => 0,
        };
        self.counters.advance(now);
        let counted = &self.counters;
        let waiting = counted.entered.count + held - counted.left.count;
        let left = counted.passed.count + counted.left.count;
        let waiting_ns = waited(now, &counted.entered, &[&counted.left]);
        let sample = StageSample {
            waiting,
            peak: self.counters.peaks.take(now, waiting).max(waiting),
            entered: left + waiting,
            left,
            dropped: self.counters.dropped.count + (come - held),
            waiting_ns: waiting_ns.wrapping_add(held_ns),
            ..StageSample::default()
        };
        let mut sample = self.counters.times.add_times(now, sample);
        // The ring was occupied since the first arrival, which its clock does not know yet.
        sample.empty_ns -= occupied_ns;
        sample.full_ns += full_ns;
        sample
    }

    /// Packets that have arrived up to `now` since the last poll.
    fn arrived(&self, now: Time) -> Arrived {
        let room = self.size - self.held_packets;
        let mut arrived = Arrived::default();
        for train in self.arrivals.iter().take_while(|train| train.first <= now) {
            let come = train.until(now);
            let kept = u64::from(come).min(room - arrived.held) as u32;
            let mut kept_ones = DueCounter::default();
            kept_ones.add(train.first, train.spacing, kept, 0u32);
            kept_ones.advance(now);
            arrived.held_ns += kept_ones.age(now);
            arrived.come += u64::from(come);
            arrived.held += u64::from(kept);
            if kept > 0 && arrived.held == room {
                arrived.full_ns = (now - train.time(kept - 1)).0;
            }
        }
        arrived
    }
}
