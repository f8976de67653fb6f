//! The qdisc of the sending host drops packets.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::lookup::host_of;
use crate::numbers;

/// The rule.
pub const RULE: Rule = Rule { name: "own-qdisc", code: "qdisc", when: When::Cut(&["qdisc"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let host = host_of(&stage.name);
    let value = format!("{} {}s", numbers::count(stage.capacity.unwrap_or(0)), stage.unit);
    let needed = context.packets(cause).filter(|n| Some(*n) > stage.capacity).map(numbers::packets);
    Some(
        plain
            .because(format!("the qdisc of {host} allows {value}"))
            .cure(format!("Use fq on {host}, which paces, or a longer queue (txqueuelen)"))
            .setting(valued(("txqueuelen", host), value, needed, AskedBy::Device)),
    )
}
