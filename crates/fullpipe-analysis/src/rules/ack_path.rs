//! ACKs wait on a busy way back.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::{AskedBy, Flow};
use crate::words::bits;

/// The rule.
pub const RULE: Rule =
    Rule { name: "ack-path", code: "ack_path", when: When::Held(&["ack_path"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let place = cause.place.clone().unwrap_or_else(|| "the way back".into());
    let own = context.meta.places.get(&place);
    let lets_pass = match own.is_some_and(|own| own.discipline.is_some()) {
        true => "more rate, or fewer ACKs (cake ack-filter)",
        false => {
            "more rate, fewer ACKs, or a queue that lets them pass (fq_codel, cake ack-filter)"
        }
    };
    let rate = own.and_then(|own| own.rate);
    let needed = rate.and_then(|rate| needed(context, rate));
    let enough = needed.map_or(String::new(), |needed| {
        format!(". ACKs of a full path need {} there", bits(needed))
    });
    let rate = rate.map_or(String::new(), |rate| format!(" ({})", bits(rate)));
    Some(
        Finding::new(format!("The ACKs' way back at {place}"), cause.place.clone())
            .because(format!(
                "{place}{rate} is busy, so ACKs wait there and windows stay exhausted"
            ))
            .cure(format!("Give ACKs more room on the way back: {lets_pass}{enough}"))
            .setting(setting("rate", &place, AskedBy::Path)),
    )
}

/// Rate of the way back that lets the ACKs of a full path pass, bit/s: ACKs grow with data.
///
/// None where other data share the way back, and where the path is not known.
fn needed(context: &Context, rate: u64) -> Option<u64> {
    let is_back = |own: &Flow| own.backward != context.subject.flows[0].flow.backward;
    let is_shared = context.run.flows.iter().any(is_back) || !context.run.datagrams.is_empty();
    let now: f64 = context.subject.flows.iter().map(|one| one.flow.mean_mbit).sum();
    let allowed = context.subject.allowed_mbit().filter(|allowed| *allowed > now)?;
    (!is_shared && now > 0.0).then(|| (rate as f64 * allowed / now) as u64)
}
