//! Output side of a host: qdisc, transmit ring, wire.
//!
//! At equal times a descriptor becomes free first, then waiting skbs enter the ring, then an skb arrives. An skb that
//! enters the ring at once has not waited.

pub mod bql;
mod completion;
mod dequeue_qdisc;
mod qdisc;
mod tx_ring;

pub use completion::Stopped;
pub use dequeue_qdisc::{Entered, SkbFate, Tag};
pub use tx_ring::Passed;

use crate::config::{self, Config, Direction, Element, Host, Station};
use crate::packet::Train;
use crate::qdisc::Verdict;
use crate::stage::Samples;
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use dequeue_qdisc::{DequeueQdisc, Skb};
use qdisc::Qdisc;
use tx_ring::TxRing;

/// Queue in front of the ring.
enum RootQdisc {
    /// First in, first out: the fate of an skb is known on arrival.
    PfifoFast(Box<Qdisc>),
    /// A qdisc that decides at dequeue.
    Dequeue(Box<DequeueQdisc>),
}

/// Output side of a host.
pub struct Transmit {
    qdisc: RootQdisc,
    ring: TxRing,
    /// Whether the path distinguishes skbs, and the number of the next one.
    numbered: bool,
    skb: u32,
    /// Time at which the driver refused the skb that was taken last, if it did.
    refused: Option<Time>,
}

impl Transmit {
    /// Idle output side of `host` before a direction of `elements`. Its qdisc draws random numbers from `seed` and the
    /// host's `name`. The trace takes `samples`.
    pub fn new(
        host: &Host,
        name: &str,
        elements: &[Element],
        seed: u64,
        mtu: u32,
        samples: Samples,
    ) -> Transmit {
        let qdisc = match host.qdisc {
            config::Qdisc::PfifoFast => {
                let (limit, driver) = (host.qdisc_limit, host.driver);
                RootQdisc::PfifoFast(Box::new(Qdisc::new(limit, driver, samples)))
            }
            config::Qdisc::Of(discipline, limit) => RootQdisc::Dequeue(Box::new(
                DequeueQdisc::new(discipline, limit, seed, name, samples),
            )),
        };
        Transmit {
            qdisc,
            ring: TxRing::new(host, mtu, samples),
            numbered: elements.iter().any(Element::per_skb),
            skb: 0,
            refused: None,
        }
    }

    /// Idle output side of one of the hosts of `config`.
    pub fn of(host: Station, config: &Config) -> Transmit {
        let way = match host.direction {
            Direction::Forward => &config.forward,
            Direction::Backward => &config.back,
        };
        let name = format!("{}.qdisc", host.name);
        Transmit::new(host.host, &name, way, config.seed, config.mtu, config.samples())
    }

    /// [`Train::skb`] of the skb that is offered next.
    pub fn skb(&self) -> u32 {
        self.skb
    }

    /// Whether the wait of an skb may be unknown on arrival; then [`Transmit::gone`] reports its end.
    pub fn holds(&self) -> bool {
        matches!(self.qdisc, RootQdisc::Dequeue(_))
    }

    /// Whether a waiting skb's memory no longer counts for its sender.
    pub fn orphans(&self) -> bool {
        matches!(&self.qdisc, RootQdisc::Dequeue(qdisc) if qdisc.orphans)
    }

    /// Offers an skb as trains that all start now, one per segment length. Appends packets for the wire to `out`,
    /// numbered.
    pub fn push(&mut self, now: Time, skb: &[Train], tag: Tag, out: &mut Vec<Train>) -> Verdict {
        self.skb = self.skb.wrapping_add(u32::from(self.numbered));
        match &mut self.qdisc {
            RootQdisc::PfifoFast(qdisc) => {
                let Some(entered) = offer(qdisc, &mut self.ring, now, skb, out) else {
                    return Verdict::Refused;
                };
                self.refused = entered.requeued;
                Verdict::Taken
            }
            RootQdisc::Dequeue(qdisc) => {
                qdisc.push(now, Skb { trains: skb.to_vec(), tag }, &mut self.ring, out)
            }
        }
    }

    /// Whether packets, each an skb of its own that is offered at its time, all go on the wire at once. Smaller packets
    /// do so then, too.
    pub fn passes_each(&mut self, packets: &Train) -> bool {
        let at_once = matches!(self.qdisc, RootQdisc::PfifoFast(_)) && !self.numbered;
        at_once && self.ring.passes(packets)
    }

    /// Offers packets for which [`Transmit::passes_each`] is true.
    pub fn pass_each(&mut self, packets: &Train, out: &mut Vec<Train>) {
        let RootQdisc::PfifoFast(qdisc) = &mut self.qdisc else { return };
        // Skbs that waited in front of the ring have entered it, and left.
        self.ring.free(packets.first.0);
        qdisc.forget_entered(packets.first);
        qdisc.pass(packets);
        self.ring.pass(packets, out);
    }

    /// Time at which the qdisc is to be woken without an arriving skb.
    pub fn wake_time(&self) -> Option<Time> {
        match &self.qdisc {
            RootQdisc::PfifoFast(_) => None,
            RootQdisc::Dequeue(qdisc) => qdisc.wake_time(),
        }
    }

    /// Lets skbs into the ring up to `now`.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Train>) {
        if let RootQdisc::Dequeue(qdisc) = &mut self.qdisc {
            qdisc.advance(now, &mut self.ring, out);
        }
    }

    /// Fates of skbs that had to wait, since the last call.
    pub fn gone(&mut self) -> impl Iterator<Item = SkbFate> {
        let gone = match &mut self.qdisc {
            RootQdisc::PfifoFast(_) => None,
            RootQdisc::Dequeue(qdisc) => Some(qdisc.gone.drain(..)),
        };
        gone.into_iter().flatten()
    }

    /// Calls `each` for every train that waits in front of the wire.
    pub fn held(&self, each: &mut dyn FnMut(&Train)) {
        if let RootQdisc::Dequeue(qdisc) = &self.qdisc {
            qdisc.each(each);
        }
    }

    /// Segments taken so far: [`Train::serial`] of the next one.
    pub fn taken(&self) -> u64 {
        self.ring.taken()
    }

    /// Time at which the driver refused the skb taken last, which was requeued.
    pub fn refused(&self) -> Option<Time> {
        self.refused
    }

    /// Time at which the skb taken last moves from the qdisc into the ring.
    pub fn last_entry(&self) -> Time {
        self.ring.last_entry()
    }

    /// Time at which the memory of the skb taken last at `now` becomes free. The driver frees it when it notices the
    /// transmission (skb_release at completion). Without moderation the memory is free when the NIC has the skb in a
    /// buffer of its own, which it fills from the ring alone.
    pub fn last_leaves(&self, now: Time) -> Time {
        self.ring.memory_is_free().max(self.ring.last_entry()).max(now)
    }

    /// Stops of the driver's queue by `now`.
    pub fn stopped(&mut self, now: Time) -> Stopped {
        self.ring.stopped(now)
    }

    /// Skbs that have passed the ring by the last sample.
    pub fn passed(&self) -> Passed {
        self.ring.passed()
    }

    /// Descriptions of the qdisc and the ring.
    pub fn infos(&self, host: &str) -> [StageInfo; 2] {
        let qdisc = match &self.qdisc {
            RootQdisc::PfifoFast(qdisc) => qdisc.info(host),
            RootQdisc::Dequeue(qdisc) => qdisc.info(host),
        };
        [qdisc, self.ring.info(host)]
    }

    /// Counters of the qdisc and the ring at `now`.
    pub fn sample(&mut self, now: Time) -> [StageSample; 2] {
        let qdisc = match &mut self.qdisc {
            RootQdisc::PfifoFast(qdisc) => qdisc.sample(now),
            RootQdisc::Dequeue(qdisc) => qdisc.sample(now),
        };
        [qdisc, self.ring.sample(now)]
    }
}

/// An skb that `pfifo_fast` has accepted.
struct Accepted {
    /// Time at which the driver refused it, if it did.
    requeued: Option<Time>,
}

/// Offers an skb to `pfifo_fast`, and to the `ring` behind it; none where the qdisc is full.
fn offer(
    qdisc: &mut Qdisc,
    ring: &mut TxRing,
    now: Time,
    skb: &[Train],
    out: &mut Vec<Train>,
) -> Option<Accepted> {
    let (segments, bytes) = size(skb);
    qdisc.forget_entered(now);

    // qdisc_run: an empty queue hands the skb to the driver at once.
    let passes = qdisc.is_empty() && ring.has_room(now, segments);
    if !passes && qdisc.is_full() {
        qdisc.refuse(now, bytes);
        return None;
    }
    // If no skb waits, none will enter the ring later than now.
    debug_assert!(!passes || ring.last_entry() <= now);
    let first = ring.last_entry().max(now);
    let entry = if passes { now.0 } else { ring.entry_time(now, segments) };

    // The skb becomes the first when the one before enters, and enters when there is room.
    let requeued = qdisc.enter(now, first, entry, bytes);
    ring.enter(entry, segments, skb, out);
    Some(Accepted { requeued })
}

/// Segments of an skb, and their bytes.
fn size(skb: &[Train]) -> (u64, u32) {
    if let [train] = skb {
        return (train.count.into(), train.count * train.ip_len);
    }
    let segments = skb.iter().map(|t| u64::from(t.count)).sum();
    (segments, skb.iter().map(|t| t.count * t.ip_len).sum())
}
