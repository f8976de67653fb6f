//! The way out of a host: qdisc (`pfifo_fast` with one band in use), transmit ring, wire.
//!
//! The qdisc decides per skb: when it holds `limit` skbs, an arriving skb is refused whole and its
//! sender is told (NET_XMIT_DROP, Linux 2.6.20 `pfifo_fast_enqueue`). The ring counts one
//! descriptor per segment and frees it when the segment is on the wire; an skb enters it when all
//! of its segments fit, or when it is empty. The card sends the ring's segments back to back.
//! At equal times a descriptor is freed, then waiting skbs enter the ring, then an skb arrives; one
//! that enters the ring at once has not waited.

use crate::path::Serialiser;
use crate::tally::{Peaks, Samples, Tally};
use crate::trace::{StageInfo, StageSample};
use crate::train::{Train, append, come_by};
use crate::units::{Framing, Rate, Time};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Segments whose transmission ends at even pace.
#[derive(Clone, Copy, Debug)]
struct Finishes {
    first: u64,
    spacing: u64,
    count: u32,
}

/// See the module's description.
pub struct Transmit {
    qdisc_limit: u64,
    ring_size: u64,
    wire: Serialiser,
    wire_free: u64,
    /// Time at which the last skb entered the ring.
    last_entry: u64,
    /// Ring entry times of the skbs that wait in the qdisc.
    qdisc: VecDeque<u64>,
    /// Ends of transmission of the segments in the ring, and how many were removed in front.
    finishes: VecDeque<Finishes>,
    in_ring: u64,
    /// Segments that were taken, of all flows.
    taken: u64,
    qdisc_entered: Tally,
    qdisc_left: Tally,
    qdisc_dropped: Tally,
    qdisc_peaks: Peaks,
    ring_entered: Tally,
    ring_left: Tally,
    ring_peaks: Peaks,
    wire_busy: Tally,
}

impl Transmit {
    /// An idle way out; `samples` are the trace's.
    pub fn new(qdisc_limit: u32, ring_size: u32, rate: Rate, samples: Samples) -> Transmit {
        Transmit {
            qdisc_limit: u64::from(qdisc_limit),
            ring_size: u64::from(ring_size),
            wire: Serialiser::new(rate, Framing::EthernetWire.overhead()),
            wire_free: 0,
            last_entry: 0,
            qdisc: VecDeque::new(),
            finishes: VecDeque::new(),
            in_ring: 0,
            taken: 0,
            qdisc_entered: Tally::default(),
            qdisc_left: Tally::default(),
            qdisc_dropped: Tally::default(),
            qdisc_peaks: Peaks::new(samples),
            ring_entered: Tally::default(),
            ring_left: Tally::default(),
            ring_peaks: Peaks::new(samples),
            wire_busy: Tally::default(),
        }
    }

    /// Offers an skb, given as trains that all start now (one per segment length), and appends
    /// what goes on the wire to `out`, numbered. Returns false when the qdisc refused it.
    pub fn push(&mut self, now: Time, skb: &[Train], out: &mut Vec<Train>) -> bool {
        let segments: u64 = skb.iter().map(|t| u64::from(t.count)).sum();
        let bytes: u32 = skb.iter().map(|t| t.count * t.ip_len).sum();
        while self.qdisc.front().is_some_and(|&entry| entry <= now.0) {
            self.qdisc.pop_front();
        }
        let passes = self.qdisc.is_empty() && self.has_room(now.0, segments);
        if !passes && self.qdisc.len() as u64 >= self.qdisc_limit {
            self.qdisc_dropped.one(now, bytes);
            return false;
        }
        let entry = self.entry_time(now.0, segments);
        self.enter_qdisc(now.0, entry, bytes);
        self.enter_ring(entry, segments, skb, out);
        true
    }

    /// Whether an skb of `segments` may enter the ring now; nothing waits in front of it.
    fn has_room(&mut self, now: u64, segments: u64) -> bool {
        self.free_ring(now);
        self.in_ring == 0 || self.in_ring + segments <= self.ring_size
    }

    /// When an skb of `segments` that is taken now moves into the ring. From here on the ring is
    /// kept as it will be then.
    fn entry_time(&mut self, now: u64, segments: u64) -> u64 {
        let mut entry = self.last_entry.max(now);
        self.free_ring(entry);
        while self.in_ring > 0 && self.in_ring + segments > self.ring_size {
            let head = self.finishes.front().expect("the ring counts what it holds");
            let excess = (self.in_ring + segments - self.ring_size).min(self.in_ring);
            let wait_for = excess.min(u64::from(head.count));
            entry = entry.max(head.first + (wait_for - 1) * head.spacing);
            self.free_ring(entry);
        }
        entry
    }

    fn free_ring(&mut self, now: u64) {
        while let Some(run) = self.finishes.front_mut() {
            if run.first > now {
                return;
            }
            let done = come_by(run.first, run.spacing, run.count, now);
            self.in_ring -= u64::from(done);
            if done < run.count {
                run.count -= done;
                run.first += u64::from(done) * run.spacing;
                return;
            }
            self.finishes.pop_front();
        }
    }

    fn enter_qdisc(&mut self, now: u64, entry: u64, bytes: u32) {
        self.qdisc_entered.one(Time(now), bytes);
        self.qdisc_left.one(Time(entry), bytes);
        if entry > now {
            self.qdisc.push_back(entry);
            self.qdisc_peaks.reach(Time(now), self.qdisc.len() as u64);
        }
    }

    fn enter_ring(&mut self, entry: u64, segments: u64, skb: &[Train], out: &mut Vec<Train>) {
        self.last_entry = entry;
        self.in_ring += segments;
        self.ring_peaks.reach(Time(entry), self.in_ring);
        for train in skb {
            let service = self.wire.time(train.ip_len);
            let first = self.wire_free.max(entry) + service;
            let leaving = train.retimed(0, train.count, Time(first), service);
            let leaving = Train { serial: self.taken, ..leaving };
            self.taken += u64::from(train.count);
            self.wire_free = leaving.last().0;
            let (count, len) = (train.count, train.ip_len);
            self.ring_entered.add(Time(entry), 0, count, len);
            self.ring_left.add(Time(first), service, count, len);
            self.wire_busy.add(Time(first), service, count, service);
            self.finishes.push_back(Finishes { first, spacing: service, count });
            append(out, leaving);
        }
    }

    /// Segments taken so far: the [`Train::serial`] of the next one.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// When the skb taken last goes from the qdisc into the ring.
    pub fn last_entry(&self) -> Time {
        Time(self.last_entry)
    }

    /// Descriptions of the qdisc and the ring.
    pub fn infos(&self, host: &str) -> [StageInfo; 2] {
        [
            super::info(host, "qdisc", "skb", Some(self.qdisc_limit)),
            super::info(host, "tx_ring", "segment", Some(self.ring_size)),
        ]
    }

    /// Counters of the qdisc and the ring at `now`.
    pub fn sample(&mut self, now: Time) -> [StageSample; 2] {
        for tally in [
            &mut self.qdisc_entered,
            &mut self.qdisc_left,
            &mut self.qdisc_dropped,
            &mut self.ring_entered,
            &mut self.ring_left,
            &mut self.wire_busy,
        ] {
            tally.advance(now);
        }
        let in_qdisc = self.qdisc_entered.count - self.qdisc_left.count;
        let in_ring = self.ring_entered.count - self.ring_left.count;
        let qdisc = StageSample {
            waiting: in_qdisc,
            waiting_bytes: self.qdisc_entered.weight - self.qdisc_left.weight,
            peak: self.qdisc_peaks.take(now, in_qdisc),
            entered: self.qdisc_entered.count,
            left: self.qdisc_left.count,
            dropped: self.qdisc_dropped.count,
            ..StageSample::default()
        };
        let ring = StageSample {
            waiting: in_ring,
            waiting_bytes: self.ring_entered.weight - self.ring_left.weight,
            peak: self.ring_peaks.take(now, in_ring),
            entered: self.ring_entered.count,
            left: self.ring_left.count,
            busy_ns: self.wire_busy.work(now),
            ..StageSample::default()
        };
        [qdisc, ring]
    }
}
