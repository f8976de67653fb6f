//! The transmit ring and the wire behind it. Unit of decision: the skb, which enters whole.
//!
//! The ring counts one descriptor per segment and frees it when the segment is on the wire; an skb
//! enters it when all of its segments fit, or when it is empty. The card sends the ring's segments
//! back to back. With byte queue limits ([`Bql`]) it may be closed although there is room.

use super::bql::Bql;
use crate::config::Host;
use crate::path::Serialiser;
use crate::tally::{Counters, Samples, Tally};
use crate::tcp::write::largest_skb;
use crate::trace::{StageInfo, StageSample};
use crate::train::{Train, append, come_by};
use crate::units::{Framing, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// What a card fetches ahead of the wire: the largest skb, and so much time of its rate. That is what the token bucket
/// lets go at once which is the card of engine `linux`.
const CARD_AHEAD: Time = Time(4_000);

/// Segments whose transmission ends at even pace.
#[derive(Clone, Copy, Debug)]
struct Finishes {
    first: u64,
    spacing: u64,
    count: u32,
}

/// See the module's description.
pub(super) struct TxRing {
    size: u64,
    wire: Serialiser,
    wire_free: u64,
    /// Time at which the last skb entered.
    last_entry: u64,
    /// Ends of transmission of the segments in the ring.
    finishes: VecDeque<Finishes>,
    held: u64,
    /// Segments that were taken.
    taken: u64,
    /// Byte queue limits, where the driver has them.
    bql: Option<Box<Bql>>,
    counters: Counters,
    /// How long the wire takes for what the card's own buffer holds.
    buffered: Time,
    /// Ends of transmission, each with the time it took.
    sent: Tally,
}

impl TxRing {
    /// The empty ring of a host at its wire, for packets of at most `mtu` bytes; `samples` are the trace's.
    pub(super) fn new(host: &Host, mtu: u32, samples: Samples) -> TxRing {
        let rate = host.nic_rate;
        // Of one segment, if the card does not split them.
        let largest = largest_skb(mtu, host.tso, Framing::EthernetWire);
        TxRing {
            size: u64::from(host.tx_ring),
            wire: Serialiser::new(rate, Framing::EthernetWire.overhead()),
            wire_free: 0,
            last_entry: 0,
            finishes: VecDeque::new(),
            held: 0,
            taken: 0,
            bql: host.bql.then(|| Box::new(Bql::new(host.hz))),
            counters: Counters::new(samples),
            buffered: rate.time_for(largest.into()) + CARD_AHEAD,
            sent: Tally::new(samples),
        }
    }

    /// Whether an skb of `segments` may enter now; nothing waits in front of it.
    pub(super) fn has_room(&mut self, now: Time, segments: u64) -> bool {
        self.free(now.0);
        let open = self.bql.as_ref().is_none_or(|bql| !bql.is_stopped());
        open && (self.held == 0 || self.held + segments <= self.size)
    }

    /// When an skb of `segments` that is taken now moves in. From here on the ring is kept as it
    /// will be then.
    pub(super) fn entry_time(&mut self, now: Time, segments: u64) -> u64 {
        let mut entry = self.last_entry.max(now.0);
        self.free(entry);
        while self.held > 0 && self.held + segments > self.size {
            let head = self.finishes.front().expect("the ring counts what it holds");
            let excess = (self.held + segments - self.size).min(self.held);
            let wait_for = excess.min(u64::from(head.count));
            entry = entry.max(head.first + (wait_for - 1) * head.spacing);
            self.free(entry);
        }
        while let Some(done) = self.bql.as_ref().and_then(|bql| bql.next_chance()) {
            entry = done;
            self.free(entry);
        }
        entry
    }

    /// Forgets what has left by `now`.
    pub(super) fn free(&mut self, now: u64) {
        if let Some(bql) = &mut self.bql {
            bql.complete(now);
        }
        while let Some(run) = self.finishes.front_mut() {
            if run.first > now {
                return;
            }
            let done = come_by(run.first, run.spacing, run.count, now);
            self.held -= u64::from(done);
            if done < run.count {
                run.count -= done;
                run.first += u64::from(done) * run.spacing;
                return;
            }
            self.finishes.pop_front();
        }
    }

    /// Takes an skb of `segments` at `entry` and appends what goes on the wire to `out`.
    pub(super) fn enter(&mut self, entry: u64, segments: u64, skb: &[Train], out: &mut Vec<Train>) {
        self.last_entry = entry;
        self.held += segments;
        self.counters.peaks.reach(Time(entry), self.held);
        for train in skb {
            let service = self.wire.time(train.ip_len);
            let first = self.wire_free.max(entry) + service;
            let leaving =
                Train { serial: self.taken, first: Time(first), spacing: service, ..*train };
            self.taken += u64::from(train.count);
            self.wire_free = leaving.last().0;
            let (count, len) = (train.count, train.ip_len);
            self.counters.entered.add(Time(entry), 0, count, len);
            self.counters.left.add(Time(first), service, count, len);
            self.sent.add(Time(first), service, count, service);
            self.finishes.push_back(Finishes { first, spacing: service, count });
            append(out, leaving);
        }
        if let Some(bql) = &mut self.bql {
            bql.enter(skb.iter().map(counted).sum(), self.wire_free);
        }
    }

    /// Whether each of these packets finds the ring empty and the wire free.
    pub(super) fn passes(&mut self, packets: &Train) -> bool {
        self.free(packets.first.0);
        self.held == 0 && self.wire.time(packets.ip_len) <= packets.spacing
    }

    /// Takes packets that each find the ring empty and the wire free.
    pub(super) fn pass(&mut self, packets: &Train, out: &mut Vec<Train>) {
        let &Train { first, spacing, count, ip_len, .. } = packets;
        let service = self.wire.time(ip_len);
        let done = first + Time(service);
        self.last_entry = packets.last().0;
        self.wire_free = self.last_entry + service;
        self.held = u64::from(count);
        self.finishes.push_back(Finishes { first: done.0, spacing, count });
        if let Some(bql) = &mut self.bql {
            let bytes = counted(&packets.part(0, 1));
            for at in (0..count).map(|i| packets.time(i).0) {
                bql.complete(at);
                bql.enter(bytes, at + service);
            }
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

    /// When the skb taken last enters.
    pub(super) fn last_entry(&self) -> Time {
        Time(self.last_entry)
    }

    /// When all that was taken is on the wire or in the card's own buffer.
    pub(super) fn fetched(&self) -> Time {
        Time(self.wire_free).saturating_sub(self.buffered)
    }

    pub(super) fn info(&self, host: &str) -> StageInfo {
        super::info(host, "tx_ring", "segment", Some(self.size))
    }

    pub(super) fn sample(&mut self, now: Time) -> StageSample {
        self.sent.advance(now);
        StageSample { busy_ns: self.sent.work(now), ..self.counters.sample(now) }
    }
}

/// Bytes that the driver counts of segments: with the Ethernet header of each, as cards are told that split an skb.
fn counted(segments: &Train) -> u64 {
    u64::from(segments.count) * u64::from(segments.ip_len + Framing::Ethernet.overhead())
}
