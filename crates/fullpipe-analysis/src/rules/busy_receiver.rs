//! Drops in front of a CPU that is busy: less work for it is the first cure, more room the second.

use super::busy_cpu::less_work;
use super::{Amendment, Cause, Context, Finding, setting};
use crate::document::AskedBy;
use crate::words::percent;
use fullpipe_base::limits::Derived;

/// The amendment.
pub const AMENDMENT: Amendment = amend;

/// Share of the time from which on a CPU is the reason for drops.
const BUSY: f64 = 0.9;
/// Share of a flow's life in which it rests in no round trip, from which on it is the reason, too.
const OFTEN: f64 = 0.1;

fn amend(context: &Context, cause: &Cause, finding: Finding) -> Finding {
    let stage =
        cause.place.as_deref().filter(|_| cause.is_cut).and_then(|name| context.stage(name));
    match (busy_cpu(context, cause), stage.map(|own| &own.kind[..])) {
        (Some(share), Some("rx_ring" | "backlog")) => overrun(context, cause, share, finding),
        (Some(share), Some("link")) => beyond_the_cpu(context, cause, share, finding),
        _ => finding,
    }
}

/// Drops in front of a link that carries about as much as the receiver's CPU takes.
fn beyond_the_cpu(context: &Context, cause: &Cause, busy: f64, dropped: Finding) -> Finding {
    let host = &context.most(cause).meta.hosts[1];
    let busy = percent(busy);
    dropped
        .because(format!("the CPU of {host} is busy {busy} of the time, and takes no more"))
        .cure(less_work(host))
        .code("cpu_receiver")
        .setting(setting("CPU", host, AskedBy::Device))
}

/// Share of the time in which the receiver's CPU works, where that is nearly all of it.
fn busy_cpu(context: &Context, cause: &Cause) -> Option<f64> {
    let one = context.most(cause);
    let never_rests = one.share(Derived::ReceiverCpu.about().name) >= OFTEN;
    one.flow.cpu.map(|cpu| cpu.receiver).filter(|share| *share >= BUSY || never_rests)
}

/// Drops in front of a busy CPU: less work for it is the first cure, more room the second.
fn overrun(context: &Context, cause: &Cause, busy: f64, dropped: Finding) -> Finding {
    let host = &context.most(cause).meta.hosts[1];
    let because = format!("the CPU of {host} is busy {} of the time", percent(busy));
    let because =
        dropped.because.iter().fold(because, |first, then| format!("{first}, and {then}"));
    let cure = dropped.cure.iter().fold(less_work(host), |first, then| format!("{first}. {then}"));
    dropped.because(because).cure(cure).code("cpu_receiver").setting(setting(
        "CPU",
        host,
        AskedBy::Device,
    ))
}
