//! A link drops large packets, and the sender gets no ICMP message: small packets pass, and full ones never do.
//!
//! Twin: random loss. Of random loss packets of all sizes are lost.

use super::cut::dropped;
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::sizing::{HEADERS, TIMESTAMPS};

/// Code of a path that swallows packets of full size.
pub const SWALLOWED: &str = "pmtu";
/// The rule.
pub const RULE: Rule =
    Rule { name: "black-hole", code: SWALLOWED, when: When::Cut(&["mtu"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let one = context.most(cause);
    let [from, _] = &one.meta.hosts;
    let place = context.meta.places.get(&stage.name);
    if place.is_some_and(|own| own.mtu.is_none()) {
        // Its router informs the sender.
        return None;
    }
    let mtu = place.and_then(|own| own.mtu);
    let most =
        mtu.map_or(String::new(), |mtu| format!(" (its MTU is {})", numbers::count(mtu.into())));
    let clamped = match is_clamped(context, one) {
        true => "; the MSS is clamped today, but not far enough",
        false => "",
    };
    let finding = Finding { does: "stop", ..plain }.because(format!(
        "packets of full size do not pass{most}, and no ICMP message tells {from}{clamped}"
    ));
    let to = mtu.map_or(String::new(), |mtu| {
        format!(" to {}", numbers::count(mtu.saturating_sub(HEADERS).into()))
    });
    let router = format!(
        "Let ICMP \"fragmentation needed\" through or clamp the MSS there{to}; without that router set"
    );

    // Windows has neither that sysctl nor routes with an MTU.
    if one.meta.settings.systems[0].is_windows() {
        let own = format!(
            "{router} a smaller mtu of the interface of {from} (netsh interface ipv4 set subinterface)"
        );
        return Some(finding.cure(own).setting(setting("interface mtu", from, AskedBy::Device)));
    }

    // A sender that probes has no better level of the sysctl to take.
    Some(match one.meta.settings.hosts[0].mtu_probing {
        true => finding
            .cure(format!(
                "{router} a smaller mtu of the route of {from}, which probes for the size already \
                 (net.ipv4.tcp_mtu_probing)"
            ))
            .setting(setting("route mtu", from, AskedBy::Device)),
        false => finding
            .cure(format!(
                "{router} net.ipv4.tcp_mtu_probing of {from} to 1, or a smaller mtu of its route"
            ))
            .setting(setting("net.ipv4.tcp_mtu_probing", from, AskedBy::Sysctl)),
    })
}

/// Whether segments are smaller than the card of the sender allows: a router on the way lowered the MSS of the SYNs, or the
/// other end asked for less.
fn is_clamped(context: &Context, one: &One) -> bool {
    let mut samples = context.traces.flows[one.index].samples.iter();
    let card = one.meta.settings.hosts[0].mtu;
    let first = samples.find(|own| own.sender.snd_mss > 0);
    first.is_some_and(|own| own.sender.snd_mss + HEADERS + TIMESTAMPS < card)
}
