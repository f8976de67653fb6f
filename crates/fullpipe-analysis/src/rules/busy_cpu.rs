//! The CPU of the sending or of the receiving host never rests.
//!
//! Limits:
//! - The cost of a call is not visible. A program that writes little at a time is named, and a run with larger writes
//!   decides.

use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, setting, valued};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::{bytes, lower, percent};
use fullpipe_base::limits::Derived;

/// Bytes of a write below which calls may cost more than bytes.
pub const SMALL_WRITE: u32 = 16 << 10;
/// Size of a write from which on a call costs little compared with its bytes: iperf3's size, bytes.
pub const LARGE_WRITE: u64 = 128 << 10;

/// The rule.
pub const RULE: Rule = Rule {
    name: "busy-cpu",
    code: "cpu_sender",
    when: When::Held(&["sender_cpu", "receiver_cpu"]),
    find,
};

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    // Index of the end: 0 for the sender, 1 for the receiver.
    let end = usize::from(cause.limit == Derived::ReceiverCpu.about().name);
    let one = context.most(cause);
    let host = &one.meta.hosts[end];
    let shares = one.flow.cpu.map(|cpu| [cpu.sender, cpu.receiver][end]);
    let busy = shares.map_or("it never rests".into(), |share| {
        format!("it is busy {} of the time", percent(share))
    });
    let finding = Finding::new(
        format!("The CPU of {host}"),
        cause.place.clone().or_else(|| Some(host.clone())),
    );
    let finding = finding.code(["cpu_sender", "cpu_receiver"][end]);

    // Small writes cost the sender a system call each: larger ones come first.
    Some(match small_writes(one).filter(|_| end == 0) {
        Some(write) => finding
            .because(format!(
                "{busy}, and the program writes {} at a time, {} times a second",
                bytes(write.into()),
                numbers::short(one.flow.mean_mbit * 1e6 / 8.0 / f64::from(write.max(1)))
            ))
            .cure(format!(
                "Let the program on {host} write {} at a time; if that gains nothing, {}",
                bytes(large_write(one)),
                lower(&less_work(host))
            ))
            .setting(valued(
                "size of a write",
                host,
                bytes(write.into()),
                Some(bytes(large_write(one))),
                AskedBy::Program,
            )),
        None => finding.because(busy).cure(less_work(host)).setting(setting(
            "CPU",
            host,
            AskedBy::Device,
        )),
    })
}

/// Bytes of each write of a program that writes little at a time. A message of one write or two has a size of its own.
fn small_writes(one: &One) -> Option<u32> {
    let settings = &one.meta.settings;
    let write = settings.write.filter(|write| *write < SMALL_WRITE)?;
    let is_cut = settings.message.is_some_and(|size| size > 2 * u64::from(write));
    (one.meta.reverse_flow.is_none() || is_cut).then_some(write)
}

/// Size of a write that costs little: a large one, or the whole message.
fn large_write(one: &One) -> u64 {
    one.meta.settings.message.map_or(LARGE_WRITE, |size| size.min(LARGE_WRITE))
}

/// The cure of a busy CPU.
pub fn less_work(host: &str) -> String {
    format!(
        "Give {host} less work for each packet: a larger MTU, TSO and GRO, larger writes, or more CPUs \
         and flows"
    )
}
