//! The receive buffer has no room for packets, which the host drops.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::lookup::host_of;

/// The rule.
pub const RULE: Rule = Rule {
    name: "full-receive-buffer",
    code: "rx_drop",
    when: When::Cut(&["receive_buffer"]),
    find,
};

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    Some(plain.because("the receive buffer has no room for them").setting(setting(
        "net.ipv4.tcp_rmem",
        host_of(&stage.name),
        AskedBy::Sysctl,
    )))
}
