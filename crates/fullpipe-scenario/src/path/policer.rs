//! A policer: a token bucket that drops packets without tokens, and delays nothing (`tc police`).

use super::{Impairment, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{AnyRate, InSize, Name, Quantity};
use crate::show;
use fullpipe_base::units::{Framing, Rate};
use fullpipe_sim::config;
use serde::Serialize;

pub use fullpipe_sim::config::Policer;

group! {
    /// A policer: a token bucket that drops what it has no tokens for, and delays nothing (`tc police`).
    PolicerElement "a policer" {
        /// "policer".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Rate that passes in the long run.
        rate: AnyRate, Required;
        /// What passes at once after a pause: the size of the bucket, which begins full.
        burst: Burst, Required;
        /// What the rate and the burst count. A policer of Linux counts the Ethernet header.
        framing: Framing, Is("ethernet");
    }
}

/// The keys as they are saved.
#[derive(Serialize)]
#[serde(remote = "Policer")]
pub(super) struct Shown {
    name: String,
    #[serde(serialize_with = "show::shown")]
    rate: Rate,
    #[serde(serialize_with = "show::whole_size")]
    burst: u64,
    #[serde(serialize_with = "show::framing")]
    framing: Framing,
}

impl Written for PolicerElement {
    type Meaning = Policer;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<Policer> {
        let (burst, framing) = (self.burst.as_ref()?, *needed(&self.framing)?);
        passes_packets(burst, whole.mtu + framing.overhead(), cx);
        Some(Policer {
            name: needed(&self.name)?.0.clone(),
            rate: Rate(needed(&self.rate)?.0),
            burst: burst.value.0,
            framing,
        })
    }
}

/// The size of a token bucket.
pub(super) type Burst = Quantity<InSize, 1, { 1 << 50 }>;

/// Reports a bucket that never has tokens for a full packet, of `packet` bytes.
pub(super) fn passes_packets(burst: &At<Burst>, packet: u32, cx: &mut Context) {
    if burst.value.0 < u64::from(packet) {
        cx.error("out-of-range", burst.place, "no full packet would ever pass")
            .expected(format!("at least {packet}B, a packet of the MTU as it is counted"));
    }
}

impl Meaning for Policer {
    fn rate(&self) -> Option<(Rate, Framing)> {
        Some((self.rate, self.framing))
    }

    fn impairment(&self, _run: &Surroundings) -> Impairment {
        let Policer { rate, burst, framing, .. } = *self;
        Impairment::Police { rate, burst, framing }
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Policer(self.clone())
    }
}
