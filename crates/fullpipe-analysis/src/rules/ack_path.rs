//! ACKs wait on a busy way back.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::words::bits;

/// The rule.
pub const RULE: Rule =
    Rule { name: "ack-path", code: "ack_path", when: When::Held(&["ack_path"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let place = cause.place.clone().unwrap_or_else(|| "the way back".into());
    let own = context.meta.places.get(&place);

    // A place with a discipline of its own needs no other queue.
    let lets_pass = match own.is_some_and(|own| own.discipline.is_some()) {
        true => "more rate, or fewer ACKs (cake ack-filter)",
        false => {
            "more rate, fewer ACKs, or a queue that lets them pass (fq_codel, cake ack-filter)"
        }
    };
    let rate = own.and_then(|own| own.rate);
    let rate = rate.map_or(String::new(), |rate| format!(" ({})", bits(rate)));
    Some(
        Finding::new(format!("The ACKs' way back at {place}"), cause.place.clone())
            .because(format!(
                "{place}{rate} is busy, so ACKs wait there and windows stay exhausted"
            ))
            .cure(format!("Give ACKs more room on the way back: {lets_pass}"))
            .setting(setting("rate", &place, AskedBy::Path)),
    )
}
