//! Slow start: cwnd has to grow to the size of the path first.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::bytes;

/// The rule.
pub const RULE: Rule =
    Rule { name: "slow-start", code: "ss_short", when: When::Held(&["cwnd_slow_start"]), find };

/// Transfers of fewer round trips are short ones.
const FEW: f64 = 30.0;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let first = setting("initcwnd", host, AskedBy::Sysctl);
    let finding = Finding::new("Slow start", Some(host.clone())).setting(first);
    let base = one.meta.base_rtt.map_or(0.0, |rtt| rtt.as_secs_f64());

    // A transfer of few round trips cannot run longer: it needs fewer round trips.
    Some(match one.flow.completion_s.filter(|took| *took < FEW * base) {
        Some(took) => finding
            .because(format!(
                "{} in {} are few round trips",
                bytes(one.flow.bytes),
                numbers::seconds(took)
            ))
            .cure(format!(
                "Reuse the connection, send more at a time, or raise initcwnd on {host}"
            )),
        None => finding
            .because("cwnd has to grow to the path's size first")
            .cure(format!("Let the transfer run longer, or raise initcwnd on {host}")),
    })
}
