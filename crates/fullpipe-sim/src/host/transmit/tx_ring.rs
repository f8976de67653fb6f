//! The transmit ring and the wire behind it. Unit of decision: the skb, which enters whole.
//!
//! The ring counts one descriptor per segment. A descriptor becomes free when the driver notices that its segment is on
//! the wire ([`Interrupts`]). An skb enters the ring when all of its segments fit, or when the ring is empty. The NIC
//! sends the ring's segments back to back. The driver may close the ring although there is room ([`Gate`]), and so may
//! byte queue limits ([`Bql`]).
//!
//! Limits:
//! - A segment takes one descriptor, also with TSO, although drivers of such NICs need only one or a few for an skb.
//! - An skb that finds too few free descriptors stops the queue until they are free. A real driver wakes at `tx_wake`
//!   and refuses the skb again.
//! - A NIC takes one skb and 4 us ahead of its wire, as the token bucket that represents it on real Linux. Real NICs
//!   differ in what they fetch.

use super::bql::Bql;
use super::completion::{Finishes, Gate, Interrupts, Stopped};
use crate::config::Host;
use crate::host::stage::info;
use crate::packet::{Serialiser, Train, append};
use crate::stage::{Counters, DueCounter, Samples, Span};
use crate::trace::{StageInfo, StageSample};
use crate::units::{Framing, Rate, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fullpipe_base::tcp::largest_skb;

/// Data that a NIC fetches ahead of the wire: the largest skb, and this time at its rate.
const CARD_AHEAD: Time = Time(4_000);
/// Unit in which the token bucket counts this time, ns (PSCHED_SHIFT).
const TICK: u64 = 64;
/// Bytes that the driver counts of a segment for byte queue limits, as for NICs that split an skb.
const BQL_COUNTS: Framing = Framing::Ethernet;

/// The NIC's own buffer, which it fills from the ring. It counts as the token bucket that represents the NIC on engine
/// `linux`: skbs, each in whole nanoseconds (6.12 `tbf_dequeue_soft`).
struct Fetched {
    /// Serialisation of bytes with their framing.
    wire: Serialiser,
    framing: Framing,
    /// Content of the full buffer, as time on the wire, ns.
    holds: u64,
    /// Time at which all fetched skbs are paid for, ns.
    paid: u64,
}

impl Fetched {
    /// The buffer of a host's NIC. Segments that leave at once count with their Ethernet header alone, at a rate that
    /// is lower by as much. Rates are whole bytes.
    fn new(host: &Host, mtu: u32) -> Fetched {
        let (rate, framing) = match host.tso {
            true => (host.nic_rate.in_frames(mtu), Framing::Ethernet),
            false => (host.nic_rate, Framing::EthernetWire),
        };
        let rate = Rate((rate.0 / 8).max(1) * 8);
        let largest = largest_skb(mtu, host.tso, framing);
        let holds = (rate.time_for(largest.into()) + CARD_AHEAD).0.next_multiple_of(TICK);
        Fetched { wire: Serialiser::new(rate, 0), framing, holds, paid: 0 }
    }

    /// Takes an skb at `at`.
    fn take(&mut self, at: u64, skb: &[Train]) {
        let bytes: u64 = skb.iter().map(|segments| counted(segments, self.framing)).sum();
        self.paid = self.paid.max(at) + self.wire.time(bytes as u32);
    }

    /// Takes packets of which each arrives when the one before it is fetched.
    fn take_each(&mut self, packets: &Train) {
        let each = self.wire.time(packets.ip_len + self.framing.overhead());
        let all = self.paid.max(packets.first.0) + each * u64::from(packets.count);
        self.paid = all.max(packets.last().0 + each);
    }

    /// Time at which the buffer holds all skbs.
    fn at(&self) -> Time {
        Time(self.paid.saturating_sub(self.holds))
    }
}

/// Segments that have passed a ring, and their bytes of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Segments that the qdisc has given to the driver.
    pub entered: (u64, u64),
    /// Segments that the driver has noticed as sent.
    pub left: (u64, u64),
}

/// State of the transmit ring.
pub(super) struct TxRing {
    size: u64,
    wire: Serialiser,
    wire_free: u64,
    /// Time at which the last skb entered.
    last_entry: u64,
    interrupts: Interrupts,
    /// Times at which the driver notices the transmission of the segments in the ring.
    finishes: VecDeque<Finishes>,
    /// Descriptors in use.
    held: u64,
    gate: Gate,
    /// Segments that were taken.
    taken: u64,
    /// Byte queue limits, where the driver has them.
    bql: Option<Box<Bql>>,
    counters: Counters,
    fetched: Fetched,
    /// Ends of transmission, each with its duration.
    sent: DueCounter,
    /// Entries of skbs that had to wait for the ring, each with its time as the first waiting skb.
    blocked: DueCounter,
}

impl TxRing {
    /// The empty ring of a host at its wire, for packets of at most `mtu` bytes; `samples` are the trace's.
    pub(super) fn new(host: &Host, mtu: u32, samples: Samples) -> TxRing {
        TxRing {
            size: u64::from(host.tx_ring),
            wire: Serialiser::new(host.nic_rate, Framing::EthernetWire.overhead()),
            wire_free: 0,
            last_entry: 0,
            interrupts: Interrupts::new(host.tx_coalesce),
            finishes: VecDeque::new(),
            held: 0,
            gate: Gate::new(host, samples),
            taken: 0,
            bql: host.bql.then(|| Box::new(Bql::new(host.hz))),
            counters: Counters::new(samples),
            fetched: Fetched::new(host, mtu),
            sent: DueCounter::new(samples),
            blocked: DueCounter::new(samples),
        }
    }

    /// Whether an skb of `segments` may enter now, with none waiting in front of it.
    pub(super) fn has_room(&mut self, now: Time, segments: u64) -> bool {
        self.free(now.0);
        let open = self.bql.as_ref().is_none_or(|bql| !bql.is_stopped());
        open && self.gate.opens <= now.0 && (self.held == 0 || self.held + segments <= self.size)
    }

    /// Entry of an skb of `segments` that is taken now. From here on the ring's state is that of the entry.
    pub(super) fn entry_time(&mut self, now: Time, segments: u64) -> u64 {
        let first = self.last_entry.max(now.0);

        // Three bounds hold the skb back, one after the other: the gate, BQL, the descriptors.
        let mut entry = first.max(self.gate.opens);
        self.free(entry);

        // dql_avail: the skb waits for the first completion that frees its limit.
        while let Some(done) = self.bql.as_ref().and_then(|bql| bql.next_chance()) {
            entry = done;
            self.free(entry);
        }

        // netif_stop_queue: the driver stops its queue until enough descriptors are free.
        if self.held > 0 && self.held + segments > self.size {
            let opens = self.goes_on(segments);
            self.gate.stop(entry, opens);
            entry = opens;
            self.free(entry);
        }
        if entry > first {
            self.blocked.one(Time(entry), entry - first);
        }
        entry
    }

    /// Time at which enough descriptors are free for the queue to wake, and for an skb of so many segments.
    fn goes_on(&self, segments: u64) -> u64 {
        self.freed(self.gate.to_be_freed(self.held, self.size, segments))
    }

    /// Time at which `to_free` of the descriptors in use are free.
    fn freed(&self, mut to_free: u64) -> u64 {
        for run in &self.finishes {
            match to_free.checked_sub(run.count.into()) {
                Some(more) if more > 0 => to_free = more,
                _ => return run.time(to_free),
            }
        }
        unreachable!("no more is to be freed than is in use")
    }

    /// Removes segments that have left by `now`.
    pub(super) fn free(&mut self, now: u64) {
        if let Some(bql) = &mut self.bql {
            bql.complete(now);
        }
        while let Some(run) = self.finishes.front_mut() {
            if run.first > now {
                return;
            }
            self.held -= u64::from(run.take_until(now));
            if run.count > 0 {
                return;
            }
            self.finishes.pop_front();
        }
    }

    /// Takes an skb of `segments` at `entry`, and appends packets for the wire to `out`.
    pub(super) fn enter(&mut self, entry: u64, segments: u64, skb: &[Train], out: &mut Vec<Train>) {
        self.last_entry = entry;
        self.held += segments;
        self.fetched.take(entry, skb);
        self.counters.peaks.reach(Time(entry), self.held);

        // The NIC sends segments back to back, the first one not before the skb has entered.
        for train in skb {
            let service = self.wire.time(train.ip_len);
            let first = self.wire_free.max(entry) + service;
            let leaving =
                Train { serial: self.taken, first: Time(first), spacing: service, ..*train };
            self.taken += u64::from(train.count);
            self.wire_free = leaving.last().0;
            let (count, len) = (train.count, train.ip_len);
            self.counters.entered.add(Time(entry), 0, count, len);
            self.sent.add(Time(first), service, count, service);
            self.interrupts.sent(Finishes { first, spacing: service, count }, |reported| {
                self.counters.left.add(Time(reported.first), reported.spacing, reported.count, len);
                self.finishes.push_back(reported);
            });
            append(out, leaving);
        }

        // netdev_tx_sent_queue: BQL counts the skb until an interrupt reports it.
        if let Some(bql) = &mut self.bql {
            let bytes = skb.iter().map(|segments| counted(segments, BQL_COUNTS)).sum();
            let immediate = self.interrupts.are_immediate();
            bql.enter(bytes, if immediate { self.wire_free } else { self.interrupts.last() });
        }

        // A driver may stop its queue although some descriptors are free.
        if self.gate.stops_at(self.held, self.size) {
            let opens = self.goes_on(0);
            self.gate.stop(entry, opens);
        }
        let last = self.finishes.back().map_or(entry, |run| run.time(run.count.into()));
        self.counters.times.occupied.add(entry, last);

        // The ring is full until an interrupt frees enough descriptors.
        if self.held >= self.size {
            let room = self.freed(self.held + 1 - self.size);
            self.counters.times.full.add(entry, room);
        }
    }

    /// Whether each of these packets finds the ring empty and the wire free.
    pub(super) fn passes(&mut self, packets: &Train) -> bool {
        self.free(packets.first.0);
        let immediate = self.interrupts.are_immediate();
        immediate && self.held == 0 && self.wire.time(packets.ip_len) <= packets.spacing
    }

    /// Takes packets that each find the ring empty and the wire free.
    pub(super) fn pass(&mut self, packets: &Train, out: &mut Vec<Train>) {
        let &Train { first, spacing, count, ip_len, .. } = packets;
        let service = self.wire.time(ip_len);
        let done = first + Time(service);
        self.last_entry = packets.last().0;
        self.wire_free = self.last_entry + service;
        self.fetched.take_each(packets);
        self.held = u64::from(count);
        self.finishes.push_back(Finishes { first: done.0, spacing, count });

        // Each packet is complete before the next one enters.
        if let Some(bql) = &mut self.bql {
            let bytes = counted(&packets.part(0, 1), BQL_COUNTS);
            for at in (0..count).map(|i| packets.time(i).0) {
                bql.complete(at);
                bql.enter(bytes, at + service);
            }
        }
        if self.gate.stops_at(1, self.size) {
            self.gate.stop_each(Finishes { first: first.0, spacing, count }, service);
        }
        let span = Span { from: first.0, to: done.0 };
        self.counters.times.occupied.add_each(span, spacing, spacing, count);
        if self.size <= 1 {
            self.counters.times.full.add_each(span, spacing, spacing, count);
        }
        self.counters.peaks.reach_at_each(packets, 1);
        self.counters.entered.add(first, spacing, count, ip_len);
        self.counters.left.add(done, spacing, count, ip_len);
        self.sent.add(done, spacing, count, service);
        append(out, Train { serial: self.taken, ..packets.retimed(0, count, done, spacing) });
        self.taken += u64::from(count);
    }

    /// Segments taken so far, of all flows.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Entry of the skb taken last.
    pub(super) fn last_entry(&self) -> Time {
        Time(self.last_entry)
    }

    /// Time at which the memory of all skbs is free: when the NIC has reported them. Where it reports each at once:
    /// when they are in its own buffer.
    pub(super) fn memory_is_free(&self) -> Time {
        match self.interrupts.are_immediate() {
            true => self.fetched.at(),
            false => Time(self.interrupts.last()),
        }
    }

    /// Counters of the driver's queue at `now`.
    pub(super) fn stopped(&mut self, now: Time) -> Stopped {
        self.gate.count(now)
    }

    /// Segments that have entered and left the ring by the last [`TxRing::sample`].
    pub(super) fn passed(&self) -> Passed {
        let Counters { entered, left, .. } = &self.counters;
        Passed { entered: (entered.count, entered.weight), left: (left.count, left.weight) }
    }

    pub(super) fn info(&self, host: &str) -> StageInfo {
        info(host, "tx_ring", "segment", Some(self.size))
    }

    pub(super) fn sample(&mut self, now: Time) -> StageSample {
        self.sent.advance(now);
        self.blocked.advance(now);
        let (busy_ns, blocked_ns) = (self.sent.work(now), self.blocked.work(now));
        StageSample { busy_ns, blocked_ns, ..self.counters.sample(now) }
    }
}

/// Bytes of segments, each with its framing.
fn counted(segments: &Train, framing: Framing) -> u64 {
    u64::from(segments.count) * u64::from(segments.ip_len + framing.overhead())
}
