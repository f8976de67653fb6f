//! Bursts overrun the ring of the receiving card.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::lookup::host_of;
use crate::numbers;

/// The rule.
pub const RULE: Rule =
    Rule { name: "rx-ring", code: "rx_drop", when: When::Cut(&["rx_ring"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let host = host_of(&stage.name);
    let value = format!("{} descriptors", numbers::count(stage.capacity.unwrap_or(0)));
    Some(
        plain
            .because(format!("the receive ring of {host} has {value}, and bursts overrun it"))
            .cure(format!("Lengthen the ring of {host} (ethtool -G rx), or pace the sender (fq)"))
            .setting(valued(("ethtool -G rx", host), value, None, AskedBy::Device)),
    )
}
