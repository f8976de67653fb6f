//! TCP small queues: the host holds as much of the flow as it may.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;

/// The rule.
pub const RULE: Rule =
    Rule { name: "small-queues", code: "tx_ring", when: When::Held(&["small_queues"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let host = &context.most(cause).meta.hosts[0];
    let name = "net.ipv4.tcp_limit_output_bytes";
    Some(
        Finding::new(format!("The card of {host}"), cause.place.clone())
            .because(format!(
                "it tells late that packets have left, and {name} allows no more in the host"
            ))
            .cure(format!(
                "Shorten the card's transmit interrupts (ethtool -C tx-usecs), or raise {name}"
            ))
            .setting(setting(name, host, AskedBy::Sysctl)),
    )
}
