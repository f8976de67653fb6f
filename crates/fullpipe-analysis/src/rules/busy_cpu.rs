//! The CPU of the sending or of the receiving host never rests.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::words::percent;
use fullpipe_base::limits::Derived;

/// The rule.
pub const RULE: Rule = Rule {
    name: "busy-cpu",
    code: "cpu_sender",
    when: When::Held(&["sender_cpu", "receiver_cpu"]),
    find,
};

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let end = usize::from(cause.limit == Derived::ReceiverCpu.about().name);
    let one = context.most(cause);
    let host = &one.meta.hosts[end];
    let shares = one.flow.cpu.map(|cpu| [cpu.sender, cpu.receiver][end]);
    let busy = shares.map_or("it never rests".into(), |share| {
        format!("it is busy {} of the time", percent(share))
    });
    Some(
        Finding::new(
            format!("The CPU of {host}"),
            cause.place.clone().or_else(|| Some(host.clone())),
        )
        .because(busy)
        .cure(less_work(host))
        .code(["cpu_sender", "cpu_receiver"][end])
        .setting(setting("CPU", host, AskedBy::Device)),
    )
}

/// The cure of a busy CPU.
pub fn less_work(host: &str) -> String {
    format!(
        "Give {host} less work for each packet: a larger MTU, TSO and GRO, larger writes, or more CPUs \
         and flows"
    )
}
