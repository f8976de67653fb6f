//! Losses are worse without SACK: the flow spends its life on repairs.

use super::{Amendment, Cause, Context, Finding, valued};
use crate::document::AskedBy;
use fullpipe_base::limits::Limit;

/// The amendment.
pub const AMENDMENT: Amendment = amend;

/// Repairs take this much of the time of avoidance where SACK is missed; with SACK a repair takes a round trip.
const REPAIRS: f64 = 0.5;

fn amend(context: &Context, cause: &Cause, finding: Finding) -> Finding {
    let stage = cause.place.as_deref().and_then(|name| context.stage(name));

    // Without a cut at a place nothing was lost.
    if !cause.is_cut || stage.is_none() {
        return finding;
    }
    let one = context.most(cause);

    // Hosts that all offer SACK leave the finding as it is.
    let Some(host) = one.meta.settings.without_sack.first() else { return finding };
    let share = |limit: Limit| one.share(limit.about().name);
    let repairs = share(Limit::CwndRecovery) >= REPAIRS * share(Limit::CwndAvoidance);
    // With SACK, reordering is seen as such (RACK, D-SACK).
    let is_order = stage.is_some_and(|own| ["reorder", "jitter"].contains(&&own.kind[..]));
    if !repairs && !is_order {
        return finding;
    }

    // The place still drops: SACK comes first, and then the place's own cure.
    let why = format!("{host} does not offer SACK, so each lost segment takes a round trip");
    let why = finding.because.as_ref().map_or(why.clone(), |first| format!("{first}, and {why}"));
    let switch = format!("Switch net.ipv4.tcp_sack on at {host}");
    let cure = finding.cure.as_ref().map_or(switch.clone(), |next| format!("{switch}. {next}"));
    finding.because(why).cure(cure).code("sack_off").setting(valued(
        "net.ipv4.tcp_sack",
        host,
        "0".into(),
        Some("1".into()),
        AskedBy::Peer,
    ))
}
