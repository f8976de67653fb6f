//! An earlier connection left an ssthresh that ends slow start early (tcp metrics).

use super::slow_growth::too_slow;
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::numbers;

/// The rule.
pub const RULE: Rule = Rule {
    name: "remembered-ssthresh",
    code: "metrics",
    when: When::Held(&["cwnd_avoidance"]),
    find,
};

/// From here on ssthresh is unset, packets (Linux `TCP_INFINITE_SSTHRESH`).
const UNSET: u32 = 0x7fff_ffff;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let ssthresh = remembered(context, one)?;
    Some(too_slow(host)
        .because(format!(
            "it began with an ssthresh of {} that an earlier connection left (tcp metrics)",
            numbers::packets(ssthresh.into())
        ))
        .cure(format!(
            "Set net.ipv4.tcp_no_metrics_save of {host} to 1 and flush what is kept (ip tcp_metrics flush), \
             or use a kernel from 5.6"
        ))
        .setting(valued("net.ipv4.tcp_no_metrics_save", host,
            "0".into(),
            Some("1".into()),
            AskedBy::Sysctl,
        )))
}

/// ssthresh that the flow had before anything was acknowledged.
fn remembered(context: &Context, one: &One) -> Option<u32> {
    let samples = &context.traces.flows[one.index].samples;
    let start = context.lives.flows[one.index].start;
    let begun = samples.iter().filter(|own| own.time > start && own.cwnd > 0);
    let fresh = begun.take_while(|own| own.bytes_acked == 0);
    let first = fresh.map(|own| own.ssthresh).find(|own| (1..UNSET).contains(own));
    first.filter(|_| one.meta.settings.first_ssthresh.is_none())
}
