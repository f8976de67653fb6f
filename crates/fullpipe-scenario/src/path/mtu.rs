//! A link with a smaller MTU that drops what is too large, with an ICMP message or without.

use super::{Ask, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Is, Required};
use crate::format::keys::{At, group};
use crate::format::values::{Int, Name};
use fullpipe_sim::config;
use serde::Serialize;

pub use fullpipe_sim::config::Mtu;

/// Least MTU of which a router tells, bytes: as large as its message.
const LEAST_TOLD: u32 = 576;

group! {
    /// A link that drops larger packets. It tells nobody, as where a firewall drops ICMP: a path MTU black hole. Or with `icmp` its
    /// router tells the sender, whose segments become smaller. The hosts keep `path.mtu`.
    MtuElement "a smaller mtu" {
        /// "mtu".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// The largest IP packet that passes, bytes.
        mtu: Int<68, 65_535>, Required;
        /// Whether the router answers "fragmentation needed" to TCP's segments; from an `mtu` of 576 on. The message takes the whole
        /// way back.
        icmp: bool, Is("false");
    }
}

/// The keys as they are saved.
#[derive(Serialize)]
#[serde(remote = "Mtu")]
pub(super) struct Shown {
    name: String,
    mtu: u32,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    icmp: bool,
}

impl Written for MtuElement {
    type Meaning = Mtu;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, cx: &mut Context) -> Option<Mtu> {
        let (mtu, icmp) = (needed(&self.mtu)?.0 as u32, *needed(&self.icmp)?);
        if icmp && mtu < LEAST_TOLD {
            let place = self.mtu.as_ref()?.place;
            cx.error("out-of-range", place, format!("an `mtu` of {mtu} with `icmp`"))
                .expected(format!("{LEAST_TOLD} at least: the message itself is as large"));
            return None;
        }
        Some(Mtu { name: needed(&self.name)?.0.clone(), mtu, icmp })
    }
}

impl Meaning for Mtu {
    fn ask(&self, _run: &Surroundings) -> Ask {
        Ask::Narrow { mtu: self.mtu, icmp: self.icmp }
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Mtu(self.clone())
    }
}
