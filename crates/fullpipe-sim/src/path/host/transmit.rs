//! The way out of a host: qdisc, transmit ring, wire.
//!
//! At equal times a descriptor is freed, then waiting skbs enter the ring, then an skb arrives; one
//! that enters the ring at once has not waited.

use super::qdisc::Qdisc;
use super::tx_ring::TxRing;
use crate::config::{Element, Host};
use crate::tally::Samples;
use crate::trace::{StageInfo, StageSample};
use crate::train::Train;
use crate::units::Time;
use alloc::vec::Vec;

/// See the module's description.
pub struct Transmit {
    qdisc: Qdisc,
    ring: TxRing,
    /// Whether skbs are told apart on their way, and the number of the next one.
    numbered: bool,
    skb: u32,
}

impl Transmit {
    /// An idle way out of `host` onto a way of `elements`; `samples` are the trace's.
    pub fn new(host: &Host, elements: &[Element], samples: Samples) -> Transmit {
        Transmit {
            qdisc: Qdisc::new(host.qdisc_limit, samples),
            ring: TxRing::new(host.tx_ring, host.nic_rate, samples),
            numbered: elements.iter().any(Element::per_skb),
            skb: 0,
        }
    }

    /// [`Train::skb`] of the skb that is offered next.
    pub fn skb(&self) -> u32 {
        self.skb
    }

    /// Offers an skb, given as trains that all start now (one per segment length), and appends
    /// what goes on the wire to `out`, numbered. Returns false when the qdisc refused it.
    pub fn push(&mut self, now: Time, skb: &[Train], out: &mut Vec<Train>) -> bool {
        self.skb = self.skb.wrapping_add(u32::from(self.numbered));
        let segments: u64 = skb.iter().map(|t| u64::from(t.count)).sum();
        let bytes: u32 = skb.iter().map(|t| t.count * t.ip_len).sum();
        self.qdisc.forget_entered(now);
        let passes = self.qdisc.is_empty() && self.ring.has_room(now, segments);
        if !passes && self.qdisc.is_full() {
            self.qdisc.refuse(now, bytes);
            return false;
        }
        let entry = self.ring.entry_time(now, segments);
        self.qdisc.enter(now, entry, bytes);
        self.ring.enter(entry, segments, skb, out);
        true
    }

    /// Offers packets, each an skb of its own that is offered at its time, if all of them go on the wire
    /// at once; whether they do.
    pub fn push_each(&mut self, packets: &Train, out: &mut Vec<Train>) -> bool {
        if self.numbered || !self.ring.passes(packets) {
            return false;
        }
        // What waited in front of the ring has entered it, and left.
        self.qdisc.forget_entered(packets.first);
        self.qdisc.pass(packets);
        self.ring.pass(packets, out);
        true
    }

    /// Segments taken so far: the [`Train::serial`] of the next one.
    pub fn taken(&self) -> u64 {
        self.ring.taken()
    }

    /// When the skb taken last goes from the qdisc into the ring.
    pub fn last_entry(&self) -> Time {
        self.ring.last_entry()
    }

    /// When the skb taken last at `now` has left the host's memory: the card has a buffer of its own.
    pub fn last_leaves(&self, now: Time) -> Time {
        self.ring.fetched().max(now)
    }

    /// Descriptions of the qdisc and the ring.
    pub fn infos(&self, host: &str) -> [StageInfo; 2] {
        [self.qdisc.info(host), self.ring.info(host)]
    }

    /// Counters of the qdisc and the ring at `now`.
    pub fn sample(&mut self, now: Time) -> [StageSample; 2] {
        [self.qdisc.sample(now), self.ring.sample(now)]
    }
}
