//! The queue in front of a rate: how much it holds, and its discipline, a file each.
//!
//! A new discipline is a new file, its keys in [`PathQueue`], its name in the list of [`Kind`]s and its row in
//! [`Discipline`].

mod cake;
mod codel;
mod fq;
mod pie;
mod red;

pub use cake::Cake;
pub use codel::Codel;
pub use fq::Fq;
pub use pie::Pie;
pub use red::Red;

use super::whole::Whole;
use crate::format::context::{Context, Place};
use crate::format::keys::Default::{Absent, Is};
use crate::format::keys::{At, group};
use crate::format::special;
use crate::format::values::{AnyTime, InPackets, InSize, Int, Probability, Quantity, choices};
use crate::show;
use fullpipe_base::units::{Framing, Rate, Time};
use fullpipe_sim::config::{self, QueueLimit};
use serde::Serialize;

pub use codel::FQ_LIMIT as FQ_CODEL_PACKETS;
pub use fq::{FLOW_LIMIT as FQ_FLOW_PACKETS, LIMIT as FQ_PACKETS};

/// Least length of a queue by default, in packets of the MTU.
const LEAST_QUEUE: u64 = 100;

group! {
    /// The queue in front of a rate.
    PathQueue "a queue" {
        /// What it holds, without the packet in transmission: a size or packets with droptail, packets with fq, codel, fq_codel and pie, a size with red, and with cake the memory that packets take.
        limit: special::QueueLimit, Absent("droptail, red: the rate times the delay of both directions, at least 100 packets of the MTU, and as much as `max` (or three times `min`) of red; fq: 10000 packets, codel, pie: 1000 packets, fq_codel: 10240 packets; cake: four times the rate times its `rtt`, at least 4 MiB, at most 10240 packets of the MTU");
        /// What it does: "droptail" drops what finds it full. The others are Linux's queue disciplines; the simulator does not have pie and cake.
        discipline: Kind, Is("droptail");
        /// codel, fq_codel, pie, red: whether a packet of a flow with ECN is marked instead of dropped. cake always does that.
        ecn: bool, Absent("fq_codel: true; codel, pie, red: false");
        /// codel, fq_codel, pie: acceptable delay in the queue, in whole microseconds.
        target: AnyTime, Absent("codel, fq_codel: 5ms; pie: 15ms");
        /// codel, fq_codel: how long the delay may be above it, about a round trip; in whole microseconds.
        interval: AnyTime, Absent("100ms");
        /// pie: interval at which the probability of a drop is set anew. Linux takes whole ticks.
        update: AnyTime, Absent("15ms");
        /// red: average length from which on packets are dropped or marked.
        min: Quantity<InSize, 1, { (1 << 30) - 1 }>, Absent("a third of `max`");
        /// red: average length from which on all are.
        max: Quantity<InSize, 1, { (1 << 30) - 1 }>, Absent("three times `min`, at most `limit`; without `min` a quarter of `limit`");
        /// red: probability of a drop or a mark when the average is just below `max`.
        probability: Probability, Absent("0.02");
        /// red: a packet counts 1 / 2^weight in the average.
        weight: Int<1, 30>, Absent("9, or as much as `max` allows: the bits of both together are fewer than 32");
        /// fq: packets of one flow.
        flow_limit: Quantity<InPackets, 1, { u32::MAX as u64 }>, Absent("100 packets");
        /// cake: round trip time that it is tuned to, in whole microseconds.
        rtt: AnyTime, Absent("100ms");
        /// cake: whether ACKs are dropped that later ones in the queue make superfluous.
        ack_filter: bool, Absent("false");
    }
}

/// Description of a discipline for scenarios.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its keys in addition to `limit`.
    keys: &'static [&'static str],
    /// Default capacity, and its unit.
    holds: Holds,
    /// Reads its keys.
    read: fn(&PathQueue, &mut Context) -> Option<Discipline>,
}

/// Default capacity of a discipline.
#[derive(Clone, Copy, Debug)]
enum Holds {
    /// Number of packets; the limit is always one of packets.
    Packets(u32),
    /// Bytes that follow from the path.
    Bytes,
    /// Bytes that follow from the path; its limit may also be one of packets.
    Either,
}

choices! {
    Kind {
        "droptail" = Kind { keys: &[], holds: Holds::Either, read: |_, _| Some(Discipline::DropTail) },
        "fq" = fq::KIND, "codel" = codel::KIND, "fq_codel" = codel::FQ_KIND,
        "pie" = pie::KIND, "red" = red::KIND, "cake" = cake::KIND
    }
}

/// A queue of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Queue {
    /// Capacity.
    #[serde(serialize_with = "show::queue_limit")]
    pub limit: QueueLimit,
    /// Discipline of the queue.
    #[serde(flatten)]
    pub discipline: Discipline,
}

/// Discipline of a queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "discipline", rename_all = "snake_case")]
pub enum Discipline {
    /// Drops packets that find it full.
    #[serde(rename = "droptail")]
    DropTail,
    /// A queue for each flow, in turn.
    Fq(Fq),
    /// Drops or marks at its head while the delay is too long.
    Codel(Codel),
    /// A queue for each flow, in turn; each drops or marks at its head while the delay is too long.
    FqCodel(Codel),
    /// Drops or marks arriving packets, by a probability that follows the delay.
    Pie(Pie),
    /// Drops or marks arriving packets, by a probability that follows the average length.
    Red(Red),
    /// A rate of its own, a queue for each flow, and CoDel with BLUE.
    Cake(Cake),
}

/// Placeholder of a queue's limit until the whole path is known.
const UNSET: QueueLimit = QueueLimit::Bytes(0);

/// A queue. One that takes no full packet, of `packet` bytes, is reported: nothing could be sent
/// through it that has to wait.
pub(super) fn queue(queue: &PathQueue, packet: u32, cx: &mut Context) -> Option<Queue> {
    let kind = queue.discipline.as_ref()?.value;
    foreign(queue, kind.keys, cx)?;
    let discipline = (kind.read)(queue, cx)?;
    let limit = limit(queue, kind.holds, packet, cx)?;
    Some(Queue { limit, discipline })
}

/// The limit in the discipline's unit, or Linux's default.
fn limit(queue: &PathQueue, holds: Holds, packet: u32, cx: &mut Context) -> Option<QueueLimit> {
    // Without a limit the discipline has Linux's default, or the path completes it.
    let Some(at) = &queue.limit else {
        return Some(match holds {
            Holds::Packets(packets) => QueueLimit::Packets(packets),
            Holds::Bytes | Holds::Either => UNSET,
        });
    };

    // Some disciplines count packets, others bytes; a FIFO counts either.
    let wrong = match (holds, at.value.0) {
        (Holds::Packets(_), QueueLimit::Bytes(_)) => Some("packets such as \"1000 packets\""),
        (Holds::Bytes, QueueLimit::Packets(_)) => Some("a size such as \"4MB\""),
        _ => None,
    };
    if let Some(expected) = wrong {
        cx.error("bad-value", at.place, "the discipline has its limit in another unit")
            .expected(expected);
        return None;
    }

    // A queue below one packet would drop everything.
    if let QueueLimit::Bytes(bytes) = at.value.0
        && bytes < u64::from(packet)
    {
        cx.error("out-of-range", at.place, "the queue holds less than one packet")
            .expected(format!("at least {packet}B, a packet of the MTU as the link counts it"));
        return None;
    }
    Some(at.value.0)
}

/// Reports keys of other disciplines than the one with these.
fn foreign(queue: &PathQueue, own: &[&str], cx: &mut Context) -> Option<()> {
    fn place<T>(at: &Option<At<T>>) -> Option<Place> {
        at.as_ref().map(|at| at.place)
    }
    let written = [
        ("ecn", place(&queue.ecn)),
        ("target", place(&queue.target)),
        ("interval", place(&queue.interval)),
        ("update", place(&queue.update)),
        ("min", place(&queue.min)),
        ("max", place(&queue.max)),
        ("probability", place(&queue.probability)),
        ("weight", place(&queue.weight)),
        ("flow_limit", place(&queue.flow_limit)),
        ("rtt", place(&queue.rtt)),
        ("ack_filter", place(&queue.ack_filter)),
    ];
    let mut found = Some(());

    // All foreign keys are reported, not only the first.
    for (key, place) in written {
        let Some(place) = place.filter(|_| !own.contains(&key)) else { continue };
        let keys = ["limit"].iter().chain(own).copied().collect::<Vec<_>>().join(", ");
        cx.error("conflict", place, format!("`{key}` is of another discipline"))
            .expected(format!("with this one: {keys}"));
        found = None;
    }
    found
}

/// A time as the kernel takes it.
fn whole_us(key: &str, at: &Option<At<AnyTime>>, default: Time, cx: &mut Context) -> Option<Time> {
    let Some(at) = at else { return Some(default) };
    let ns = at.value.0;
    if ns == 0 || ns % 1000 != 0 || ns / 1000 > u64::from(u32::MAX) {
        cx.error("out-of-range", at.place, format!("`{key}` is {}", Time::ns(ns)))
            .expected("whole microseconds, at least 1us and at most 4294967295us");
        return None;
    }
    Some(Time::ns(ns))
}

impl Queue {
    /// Fills in defaults that depend on the rate and the path's delay. Without a limit the queue holds their product.
    pub(super) fn complete(&mut self, rate: Rate, framing: Framing, whole: &Whole) {
        if self.limit == UNSET {
            self.limit = QueueLimit::Bytes(match &self.discipline {
                Discipline::Cake(cake) => cake.memory(rate, whole.mtu),
                Discipline::Red(red) => product(rate, framing, whole).max(red.least()),
                _ => product(rate, framing, whole),
            });
        }
        if let (Discipline::Red(red), QueueLimit::Bytes(limit)) = (&mut self.discipline, self.limit)
        {
            red.complete(limit);
        }
    }
}

impl Queue {
    /// The simulator's discipline in front of this rate, on a path of that MTU. Disciplines that the simulator lacks
    /// are refused earlier.
    pub(super) fn config(&self, rate: Rate, framing: Framing, mtu: u32) -> config::Discipline {
        let largest = mtu + Framing::Ethernet.overhead();
        match &self.discipline {
            Discipline::DropTail => config::Discipline::Fifo,
            Discipline::Fq(fq) => config::Discipline::Fq(fq.config(largest)),
            Discipline::Codel(codel) => config::Discipline::Codel(codel.config(largest)),
            Discipline::FqCodel(codel) => config::Discipline::FqCodel(codel.config(largest)),
            Discipline::Red(red) => {
                // RED averages by the time of a packet at the link's rate.
                let packet = u64::from(mtu + framing.overhead());
                config::Discipline::Red(red.config(Rate(rate.0.max(1)).time_for(packet)))
            }
            // The simulator refuses these earlier: the value is never used.
            Discipline::Pie(_) | Discipline::Cake(_) => config::Discipline::Fifo,
        }
    }
}

/// Rate times delay.
fn product(rate: Rate, framing: Framing, whole: &Whole) -> u64 {
    let trip = u128::from(whole.round_trip.as_ns());
    let product = u128::from(rate.0) * trip / 8_000_000_000;
    let least = LEAST_QUEUE * u64::from(whole.mtu + framing.overhead());
    u64::try_from(product).unwrap_or(u64::MAX).clamp(least, 1 << 50)
}
