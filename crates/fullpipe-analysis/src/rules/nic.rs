//! The wire of the sender's card is busy.

use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::lookup::host_of;
use crate::words::bits;

/// The rule.
pub const RULE: Rule = Rule { name: "nic", code: "nic", when: When::Held(&["nic"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let host = &context.most(cause).meta.hosts[0];

    // The card's rate is known only where it bounds the path.
    let rate = context.subject.allowed.filter(|own| host_of(&own.place) == host);
    let rate = rate.map(|own| bits(own.rate));
    let busy = rate.clone().map_or("it is busy".into(), |rate| format!("its rate allows {rate}"));
    Some(
        Finding {
            does: "is full and holds",
            ..Finding::new(format!("The card of {host}"), cause.place.clone())
        }
        .because(busy)
        .cure("The card is full: set nothing, or use a faster one")
        .setting(valued(
            "card rate",
            host,
            rate.unwrap_or_default(),
            None,
            AskedBy::Device,
        )),
    )
}
