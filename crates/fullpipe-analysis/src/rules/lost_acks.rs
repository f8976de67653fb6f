//! Many ACKs are lost on their way back.
//!
//! Twin: a small cwnd or a lost SYN alone. Drops on the way back decide.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::words::percent;

/// The rule.
pub const RULE: Rule = Rule { name: "lost-acks", code: "ack_path", when: GROWING, find };

/// Limits that ACKs end.
const GROWING: When =
    When::Held(&["connecting", "cwnd_slow_start", "cwnd_avoidance", "cwnd_recovery"]);
/// Share of lost ACKs that does harm. Below it each ACK repeats what earlier ones acknowledged, but the loss of a
/// SYN-ACK, or of the single ACK of a small cwnd, costs a timeout.
const MANY: f64 = 0.3;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let lost = &context.most(cause).flow.acks_dropped;
    let (place, share) = lost.iter().max_by(|a, b| a.1.total_cmp(b.1))?;

    // ACKs are cumulative: the loss of a few of them changes nothing.
    if *share < MANY {
        return None;
    }
    Some(
        Finding {
            does: "is lossy and stops",
            ..Finding::new(format!("The ACKs' way back at {place}"), Some(place.clone()))
        }
        .because(format!("{place} drops {} of what comes to it, SYN-ACKs too", percent(*share)))
        .cure(format!("Repair {place}: larger buffers or another congestion control do not help"))
        .setting(setting("loss", place, AskedBy::Path)),
    )
}
