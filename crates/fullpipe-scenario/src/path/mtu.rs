//! A link with a smaller MTU that drops what is too large, with an ICMP message or without.

use super::{Impairment, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Absent, Is, Required};
use crate::format::keys::{At, group};
use crate::format::special::MssClamp;
use crate::format::values::{Int, Name};
use fullpipe_sim::config;
use fullpipe_sim::tcp::HEADERS;
use serde::Serialize;

pub use fullpipe_sim::config::Mtu;

/// Least MTU that a router reports, bytes: as large as its message.
const LEAST_REPORTED: u32 = 576;
/// Least `mtu` to which a router clamps the MSS, bytes: Linux sends no smaller packets.
pub const LEAST_CLAMPED: u32 = MssClamp::LEAST + HEADERS;

group! {
    /// A link that drops larger packets. Without `icmp` nobody hears of it, as where a firewall drops ICMP:
    /// a path MTU black hole. With `icmp` its router informs the sender, which then sends smaller segments. The hosts keep `path.mtu`.
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
        /// Its router lowers the MSS that SYNs and SYN-ACKs of both ways announce, to so many bytes or, with "pmtu", to `mtu`
        /// without 40 of headers (`iptables -j TCPMSS`, `nft tcp option maxseg size set`).
        mss_clamp: MssClamp, Absent("the option stays as it is");
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
    #[serde(skip_serializing_if = "Option::is_none")]
    mss_clamp: Option<u32>,
}

impl MtuElement {
    /// The MSS to which the router clamps, if it does; none outside where no segment would fit, which is reported.
    fn mss_clamp(&self, mtu: u32, cx: &mut Context) -> Option<Option<u32>> {
        let Some(at) = &self.mss_clamp else { return Some(None) };
        let MssClamp::Pmtu = at.value else { return Some(at.value.bytes()) };
        if mtu < LEAST_CLAMPED {
            cx.error("conflict", at.place, format!("`mss_clamp` is \"pmtu\", and `mtu` {mtu}"))
                .expected(format!(
                    "an `mtu` of {LEAST_CLAMPED} at least: Linux sends no smaller packets"
                ));
            return None;
        }
        Some(Some(mtu - HEADERS))
    }
}

impl Written for MtuElement {
    type Meaning = Mtu;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, cx: &mut Context) -> Option<Mtu> {
        let (mtu, icmp) = (needed(&self.mtu)?.0 as u32, *needed(&self.icmp)?);
        if icmp && mtu < LEAST_REPORTED {
            let place = self.mtu.as_ref()?.place;
            cx.error("out-of-range", place, format!("an `mtu` of {mtu} with `icmp`"))
                .expected(format!("{LEAST_REPORTED} at least: the message itself is as large"));
            return None;
        }
        let mss_clamp = self.mss_clamp(mtu, cx)?;
        Some(Mtu { name: needed(&self.name)?.0.clone(), mtu, icmp, mss_clamp })
    }
}

impl Meaning for Mtu {
    fn impairment(&self, _run: &Surroundings) -> Impairment {
        Impairment::Narrow { mtu: self.mtu, icmp: self.icmp, mss_clamp: self.mss_clamp }
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        config::Element::Mtu(self.clone())
    }
}
