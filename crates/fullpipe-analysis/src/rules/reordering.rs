//! Packets overtake others, and TCP takes them for lost.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;

/// The rule.
pub const RULE: Rule =
    Rule { name: "reordering", code: "reorder", when: When::Cut(&["reorder", "jitter"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let place = &stage.name;
    let resent = context.most(cause).flow.retransmitted_segments;
    let who = format!("Reordering at {place}");
    Some(
        Finding { who, does: "keeps cwnd small and stops", ..plain }
            .because(format!(
                "packets overtake others there, and TCP takes them for lost: {} sent again",
                numbers::segments(resent)
            ))
            .cure("Keep the packets of a flow in order (one queue, one thread, one path)")
            .setting(setting("order of packets", place, AskedBy::Path)),
    )
}
