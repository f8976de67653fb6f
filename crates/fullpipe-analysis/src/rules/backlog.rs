//! The backlog of the receiving host is full.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::lookup::host_of;
use crate::numbers;

/// The rule.
pub const RULE: Rule =
    Rule { name: "backlog", code: "rx_drop", when: When::Cut(&["backlog"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let host = host_of(&stage.name);
    let value = numbers::packets(stage.capacity.unwrap_or(0));
    let name = "net.core.netdev_max_backlog";
    Some(
        plain
            .because(format!("{name} of {host} allows {value}"))
            .cure(format!("Raise {name} of {host}"))
            .setting(valued(name, host, value, None, AskedBy::Sysctl)),
    )
}
