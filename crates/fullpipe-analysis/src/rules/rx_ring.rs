//! Bursts overrun the ring of the receiving card.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::lookup::host_of;
use crate::numbers;
use crate::words::ms;

/// The rule.
pub const RULE: Rule =
    Rule { name: "rx-ring", code: "rx_drop", when: When::Cut(&["rx_ring"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let host = host_of(&stage.name);
    let value = format!("{} descriptors", numbers::count(stage.capacity.unwrap_or(0)));
    let one = context.most(cause);

    // The wait of the dropping host matters, whichever end it is.
    let hosts = one.meta.hosts.iter().zip(&one.meta.settings.hosts);
    let waits = hosts.filter(|(name, _)| *name == host).map(|(_, own)| own.rx_wait_us).max();
    // A wait is a reason where the path brings more packets in it than the ring holds.
    let holds = stage.capacity.unwrap_or(0) as f64;
    let waits =
        waits.filter(|us| packets_within(context, *us) > holds).map(|us| ms(us as f64 / 1e3));
    let (reason, shorten) = match waits {
        Some(wait) => (
            format!(
                "has {value}, and its card waits {wait} before it interrupts, so bursts overrun it"
            ),
            "shorten that wait (ethtool -C rx-usecs), ",
        ),
        None => (format!("has {value}, and bursts overrun it"), ""),
    };
    Some(
        plain
            .because(format!("the receive ring of {host} {reason}"))
            .cure(format!(
                "Lengthen the ring of {host} (ethtool -G rx), {shorten}or pace the sender ({})",
                if context.has_fq(&one.meta.hosts[0]) { "SO_MAX_PACING_RATE" } else { "fq" }
            ))
            .setting(valued("ethtool -G rx", host, value, None, AskedBy::Device)),
    )
}

/// Full-sized packets that the path brings within a time of `us` microseconds; 0 where nothing bounds its rate.
fn packets_within(context: &Context, us: u64) -> f64 {
    context
        .subject
        .allowed
        .map_or(0.0, |own| own.rate as f64 * us as f64 / 8e6 / f64::from(own.mtu + own.overhead))
}
