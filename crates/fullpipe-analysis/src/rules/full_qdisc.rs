//! The qdisc of the sending host has no room and refuses packets.

use super::own_qdisc::longer_fq;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::numbers;

/// The rule.
pub const RULE: Rule =
    Rule { name: "full-qdisc", code: "qdisc", when: When::Held(&["qdisc"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let place = cause.place.clone().unwrap_or_default();
    let stage = context.stage(&place);
    let value =
        stage.and_then(|own| Some(format!("{} {}s", numbers::count(own.capacity?), own.unit)));
    let finding = Finding::new(format!("The qdisc of {host}"), cause.place.clone());

    // Without a known limit there is nothing to lengthen.
    let Some(value) = value else { return Some(finding) };
    Some(
        finding
            .because(format!("its queue allows {value} and refuses more"))
            .cure(match context.has_fq(host) {
                true => longer_fq(host),
                false => format!("Lengthen the queue of {host} (txqueuelen), or use fq there"),
            })
            .setting(valued("txqueuelen", host, value, None, AskedBy::Device)),
    )
}
