//! Nagle's rule holds back a small segment until an ACK arrives.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;

/// The rule.
pub const RULE: Rule = Rule { name: "nagle", code: "nagle", when: When::Held(&["nagle"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let host = &context.most(cause).meta.hosts[0];
    Some(
        Finding::new("Nagle's rule", Some(host.clone()))
            .because("a small segment waits for the ACK of the one before")
            .cure("Let the program set TCP_NODELAY, or write header and body at once")
            .setting(setting("TCP_NODELAY", host, AskedBy::Program)),
    )
}
