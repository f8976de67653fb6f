//! cwnd grows too slowly in congestion avoidance, although nothing cut it.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;

/// The rule.
pub const RULE: Rule =
    Rule { name: "slow-growth", code: "ss_short", when: When::Held(&["cwnd_avoidance"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];

    // A loss that ended slow start has a rule of its own.
    let early = one
        .flow
        .slow_start
        .filter(|own| !own.by_loss)
        .and_then(|own| Some((own.ended_s?, own.cwnd)));
    let finding = too_slow(host);
    let finding = match early {
        Some((at, cwnd)) => finding.because(format!(
            "slow start ended without a loss after {} at {}",
            numbers::seconds(at),
            numbers::packets(cwnd.into())
        )),
        None => finding,
    };
    Some(
        finding
            .cure(format!(
                "Use several connections, or a congestion control that grows faster on long paths than {}",
                one.meta.congestion
            ))
            .setting(setting("net.ipv4.tcp_congestion_control", host, AskedBy::Sysctl)),
    )
}

/// cwnd of a host that grows too slowly.
pub fn too_slow(host: &str) -> Finding {
    Finding {
        does: "grows too slowly and stops",
        ..Finding::new(format!("cwnd of {host}"), Some(host.to_string()))
    }
}
