//! A shaper: a token bucket with a queue in front of it, from which a packet leaves as soon as there are tokens for all of it (`tc tbf`).

use super::policer::{Burst, passes_packets};
use super::queue::{Discipline, PathQueue, Queue, queue};
use super::{Impairment, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Empty, Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{AnyRate, Name};
use crate::show;
use fullpipe_base::units::{Framing, Rate};
use fullpipe_sim::config;
use serde::Serialize;

group! {
    /// A shaper: a token bucket with a queue in front of it, from which a packet leaves as soon as there are tokens for all of it (`tc tbf`). A link sends one packet after the other, each for its time; a shaper lets the burst pass at once after a pause.
    ShaperElement "a shaper" {
        /// "shaper".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Rate that passes in the long run.
        rate: AnyRate, Required;
        /// What passes at once after a pause: the size of the bucket, which begins full.
        burst: Burst, Required;
        /// What the rate, the burst and a queue in bytes count. Linux counts the Ethernet header.
        framing: Framing, Is("ethernet");
        /// Its queue, which is droptail; what waits for tokens is all in it.
        queue: PathQueue, Empty;
    }
}

/// A shaper: a token bucket with a queue in front of it, from which a packet leaves as soon as there are tokens for all of it (`tc tbf`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shaper {
    /// Stage name.
    pub name: String,
    /// Rate that passes in the long run.
    #[serde(serialize_with = "show::shown")]
    pub rate: Rate,
    /// Size of the bucket, which passes at once after a pause, bytes.
    #[serde(serialize_with = "show::whole_size")]
    pub burst: u64,
    /// Bytes that rate, burst and queue count for each packet.
    #[serde(serialize_with = "show::framing")]
    pub framing: Framing,
    /// The queue.
    pub queue: Queue,
}

impl Written for ShaperElement {
    type Meaning = Shaper;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<Shaper> {
        let (burst, framing) = (self.burst.as_ref()?, *needed(&self.framing)?);
        let packet = whole.mtu + framing.overhead();

        // A burst below one packet would let nothing pass.
        passes_packets(burst, packet, cx);
        let written = needed(&self.queue)?;
        let queue = queue(written, packet, cx)?;

        // tbf's own queue is a FIFO.
        if let (Some(at), true) = (&written.discipline, queue.discipline != Discipline::DropTail) {
            cx.error("bad-value", at.place, "the queue of a shaper is droptail")
                .expected("no discipline, or a link (kind = \"link\"), which has them all");
            return None;
        }
        Some(Shaper {
            name: needed(&self.name)?.0.clone(),
            rate: Rate(needed(&self.rate)?.0),
            burst: burst.value.0,
            framing,
            queue,
        })
    }
}

impl Meaning for Shaper {
    fn rate(&self) -> Option<(Rate, Framing)> {
        Some((self.rate, self.framing))
    }

    fn queue(&self) -> Option<&Queue> {
        Some(&self.queue)
    }

    fn complete(&mut self, whole: &Whole) {
        self.queue.complete(self.rate, self.framing, whole);
    }

    fn impairment(&self, _run: &Surroundings) -> Impairment {
        let Shaper { rate, burst, framing, ref queue, .. } = *self;
        Impairment::Shape { rate, burst, framing, limit: queue.limit }
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Shaper(config::Shaper {
            name: self.name.clone(),
            rate: self.rate,
            burst: self.burst,
            framing: self.framing,
            limit: self.queue.limit,
        })
    }
}
