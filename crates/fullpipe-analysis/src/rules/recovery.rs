//! Recovery lasts long, and no drops of a place explain it.

use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::numbers;

/// The rule.
pub const RULE: Rule =
    Rule { name: "recovery", code: "loss", when: When::Held(&["cwnd_recovery"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let resent = numbers::segments(one.flow.retransmitted_segments);
    let finding = Finding::new(format!("Recovery of {host}"), Some(host.clone()));

    // The first host without SACK suffices: both must offer it.
    Some(match one.meta.settings.without_sack.first() {
        Some(without) => finding
            .because(format!(
                "{without} does not offer SACK, so each lost segment takes a \
                round trip; {resent} sent again"
            ))
            .cure(format!("Switch net.ipv4.tcp_sack on at {without}"))
            .code("sack_off")
            .setting(valued(
                "net.ipv4.tcp_sack",
                without,
                "0".into(),
                Some("1".into()),
                AskedBy::Peer,
            )),
        None => finding.because(format!("{resent} sent again")),
    })
}
