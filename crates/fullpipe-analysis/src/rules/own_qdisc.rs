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
            .cure(cure(context.has_fq(host), host))
            .setting(valued("txqueuelen", host, value, needed, AskedBy::Device)),
    )
}

/// The cure for a full fq.
pub(super) fn longer_fq(host: &str) -> String {
    format!("Lengthen the queue of fq on {host} (limit and flow_limit)")
}

/// The cure for a host with fq or without it.
fn cure(has_fq: bool, host: &str) -> String {
    match has_fq {
        true => longer_fq(host),
        false => format!("Use fq on {host}, which paces, or a longer queue (txqueuelen)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fq_is_not_advised_to_a_host_with_fq() {
        assert!(cure(false, "sender").contains("Use fq on sender"));
        let own = cure(true, "sender");
        assert!(own.contains("flow_limit") && !own.contains("Use fq"), "{own}");
    }
}
