//! The congestion control has a first ssthresh that ends slow start early.

use super::slow_growth::too_slow;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::numbers;

/// The rule.
pub const RULE: Rule = Rule {
    name: "initial-ssthresh",
    code: "ss_short",
    when: When::Held(&["cwnd_avoidance"]),
    find,
};

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let value = numbers::packets(one.meta.settings.first_ssthresh?.into());
    Some(
        too_slow(host)
            .because(format!("initial_ssthresh ends slow start at {value}"))
            .setting(valued("initial_ssthresh", host, value, None, AskedBy::Sysctl)),
    )
}
