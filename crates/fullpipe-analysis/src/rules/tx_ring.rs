//! The ring of the sender's card has no room until the driver cleans up sent packets.

use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::numbers;

/// The rule.
pub const RULE: Rule =
    Rule { name: "tx-ring", code: "tx_ring", when: When::Held(&["tx_ring"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let host = &context.most(cause).meta.hosts[0];
    let stage = context.stage(&format!("{host}.tx_ring"));
    let value =
        stage.and_then(|own| own.capacity).map(|n| format!("{} descriptors", numbers::count(n)));
    let value = value.unwrap_or_default();
    Some(
        Finding::new(format!("The transmit ring of {host}"), cause.place.clone())
            .because(format!("its {value} are taken until the driver hears of what was sent"))
            .cure(format!(
                "Lengthen the ring of {host} (ethtool -G tx), or shorten its interrupts \
            (ethtool -C tx-usecs)"
            ))
            .setting(valued("ethtool -G tx", host, value, None, AskedBy::Device)),
    )
}
