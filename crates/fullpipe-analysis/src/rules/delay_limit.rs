//! A delay, such as netem, holds a limited number of packets.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::numbers;

/// The rule.
pub const RULE: Rule =
    Rule { name: "delay-limit", code: "small_buffer", when: When::Cut(&["delay"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let Some(limit) = stage.capacity else { return Some(plain) };
    let needed = context.packets(cause).filter(|needed| *needed > limit).map(numbers::packets);
    let needs = needed.clone().map_or(String::new(), |needed| format!(", the path needs {needed}"));
    let limit = numbers::packets(limit);
    Some(
        plain
            .because(format!("its limit allows {limit} on their way{needs}"))
            .cure("Raise the limit of the delay (netem limit)")
            .setting(valued("limit", &stage.name, limit, needed, AskedBy::Path)),
    )
}
