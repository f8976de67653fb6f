//! A router informs the sender by ICMP that packets are too large, after the first window is lost.
//!
//! Twin: a black hole, where the router sends no message. There the MTU of the sender's path stays.

use super::cut::dropped;
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When};
use crate::numbers;

/// The rule.
pub const RULE: Rule = Rule { name: "late-mtu", code: "pmtu", when: When::Cut(&["mtu"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let one = context.most(cause);
    let [from, _] = &one.meta.hosts;
    let (before, after) = fallen(context, one)?;
    let what = if one.meta.settings.systems[0].is_windows() { "interface" } else { "route" };
    let [before, after] = [before, after].map(|mtu| numbers::count(mtu.into()));
    Some(
        plain
            .because(format!(
                "the first packets of {before} bytes do not pass, and {from} learns the MTU of {after} from ICMP a round \
                 trip later; all that was out is sent again"
            ))
            .cure(format!(
                "Set mtu {after} on the {what} of {from}, or clamp the MSS at {}, so that the first segments pass",
                stage.name
            )),
    )
}

/// MTU of the flow's path as it began, and the smaller one after a message, bytes; none where the MTU never fell.
pub(super) fn fallen(context: &Context, one: &One) -> Option<(u32, u32)> {
    let samples = &context.traces.flows[one.index].samples;
    let mut known = samples.iter().map(|own| own.sender.pmtu).filter(|&mtu| mtu > 0);
    let before = known.next()?;
    let after = known.min()?;
    (after < before).then_some((before, after))
}
