//! A link with a smaller MTU that drops larger packets without an ICMP message.

use super::{Ask, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::Required;
use crate::format::keys::{At, group};
use crate::format::values::{Int, Name};
use fullpipe_sim::config;
use serde::Serialize;

pub use fullpipe_sim::config::Mtu;

group! {
    /// A link that drops larger packets and tells nobody, as where a firewall drops ICMP: a path MTU black hole. The hosts keep `path.mtu`.
    MtuElement "a smaller mtu" {
        /// "mtu".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// The largest IP packet that passes, bytes.
        mtu: Int<68, 65_535>, Required;
    }
}

/// The keys as they are saved.
#[derive(Serialize)]
#[serde(remote = "Mtu")]
pub(super) struct Shown {
    name: String,
    mtu: u32,
}

impl Written for MtuElement {
    type Meaning = Mtu;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, _cx: &mut Context) -> Option<Mtu> {
        Some(Mtu { name: needed(&self.name)?.0.clone(), mtu: needed(&self.mtu)?.0 as u32 })
    }
}

impl Meaning for Mtu {
    fn ask(&self, _run: &Surroundings) -> Ask {
        Ask::Narrow { mtu: self.mtu }
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Mtu(self.clone())
    }
}
