//! A rate with a queue in front of it.

use super::{Ask, Meaning, Sending, Step, Whole, Written, needed};
use crate::scenario::Resolved;
use crate::scenario::format::context::Context;
use crate::scenario::format::keys::Default::{Absent, Empty, Is, Required};
use crate::scenario::format::keys::{At, group};
use crate::scenario::format::special;
use crate::scenario::format::values::Name;
use crate::scenario::format::written::{AnyRate, choices};
use crate::scenario::show;
use fullpipe_sim::config::{self, QueueLimit};
use fullpipe_sim::units::{Framing, Rate, Time};
use serde::Serialize;

/// Least length of a queue by default, in packets of the MTU.
const LEAST_QUEUE: u64 = 100;

group! {
    /// A rate with a queue in front of it.
    LinkElement "a link" {
        /// "link".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Serialisation rate.
        rate: AnyRate, Required;
        /// What the rate and a queue in bytes count.
        framing: Framing, Is("ethernet-wire");
        /// Its queue.
        queue: PathQueue, Empty;
    }
}

group! {
    /// The queue in front of a rate.
    PathQueue "a queue" {
        /// What it holds, without the packet in transmission.
        limit: special::QueueLimit, Absent("the rate times the delay of both directions, at least 100 packets of the MTU");
        /// What happens when it is full.
        discipline: Discipline, Is("droptail");
    }
}

/// What a queue does when it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    DropTail,
}

choices! {
    Discipline { "droptail" = Discipline::DropTail }
}

/// A rate with a queue in front of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Stage name.
    pub name: String,
    /// Serialisation rate.
    #[serde(serialize_with = "show::shown")]
    pub rate: Rate,
    /// What the rate counts.
    #[serde(serialize_with = "show::framing")]
    pub framing: Framing,
    /// The queue.
    pub queue: Queue,
}

/// A queue of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Queue {
    /// Capacity.
    #[serde(serialize_with = "show::queue_limit")]
    pub limit: QueueLimit,
    /// What happens when it is full: "droptail".
    pub discipline: String,
}

impl Written for LinkElement {
    type Meaning = Link;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<Link> {
        let rate = Rate(needed(&self.rate)?.0);
        let (name, framing) = (&needed(&self.name)?.0, *needed(&self.framing)?);
        let queue = queue(needed(&self.queue)?, whole.mtu + framing.overhead(), cx)?;
        Some(Link { name: name.clone(), rate, framing, queue })
    }
}

impl Meaning for Link {
    fn rate(&self) -> Option<(Rate, Framing)> {
        Some((self.rate, self.framing))
    }

    fn queue(&self) -> Option<&Queue> {
        Some(&self.queue)
    }

    fn complete(&mut self, whole: &Whole) {
        self.queue.complete((self.rate, self.framing), whole);
    }

    fn ask(&self, _run: &Resolved) -> Ask {
        Ask::Rate(Sending {
            steps: vec![Step { at: Time::ZERO, rate: self.rate }],
            framing: self.framing,
            queue: self.queue.clone(),
        })
    }

    fn config(&self, _run: &Resolved) -> config::Element {
        config::Element::Link(config::Link {
            name: self.name.clone(),
            rate: self.rate,
            framing: self.framing,
            limit: self.queue.limit,
        })
    }
}

/// Stands for a queue's limit until the whole path is known.
const UNSET: QueueLimit = QueueLimit::Bytes(0);

/// A queue. One that takes no full packet, of `packet` bytes, is reported: nothing could be sent
/// through it that has to wait.
pub(super) fn queue(queue: &PathQueue, packet: u32, cx: &mut Context) -> Option<Queue> {
    queue.discipline.as_ref()?;
    let limit = queue.limit.as_ref().map_or(UNSET, |limit| limit.value.0);
    if let (Some(at), QueueLimit::Bytes(bytes)) = (&queue.limit, limit)
        && bytes < u64::from(packet)
    {
        cx.error("out-of-range", at.place, "the queue holds less than one packet")
            .expected(format!("at least {packet}B, a packet of the MTU as the link counts it"));
        return None;
    }
    Some(Queue { limit, discipline: "droptail".into() })
}

impl Queue {
    /// Without a limit it holds the bandwidth-delay product.
    pub(super) fn complete(&mut self, (rate, framing): (Rate, Framing), whole: &Whole) {
        if self.limit == UNSET {
            let trip = u128::from(whole.round_trip.as_ns());
            let product = u128::from(rate.0) * trip / 8_000_000_000;
            let least = LEAST_QUEUE * u64::from(whole.mtu + framing.overhead());
            let bytes = u64::try_from(product).unwrap_or(u64::MAX).clamp(least, 1 << 50);
            self.limit = QueueLimit::Bytes(bytes);
        }
    }
}
