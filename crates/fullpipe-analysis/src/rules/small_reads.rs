//! The CPU of the receiving host never rests, and its program reads little at a time: each call costs CPU, too.
//!
//! Limits:
//! - The cost of a call is not visible. A run with larger reads decides.
//!
//! Twin: a CPU that is too slow for packets or bytes.

use super::busy_cpu::{LARGE_WRITE, SMALL_WRITE, less_work};
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::{bytes, lower, percent};

/// The rule.
pub const RULE: Rule =
    Rule { name: "small-reads", code: "cpu_receiver", when: When::Held(LIMITS), find };

/// Limits in which a busy CPU of the receiver shows.
const LIMITS: &[&str] = &["receiver_cpu", "reader", "receive_window"];
/// Share of the time from which on the CPU never rests.
const BUSY: f64 = 0.9;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let read = small_read(one)?;
    let busy = one.flow.cpu.map(|cpu| cpu.receiver).filter(|busy| *busy >= BUSY)?;

    // Calls a second follow from the rate: each takes what it asks for while data waits.
    let calls = one.flow.mean_mbit * 1e6 / 8.0 / f64::from(read.max(1));
    let host = &one.meta.hosts[1];
    let large = bytes(LARGE_WRITE);
    let place = cause.place.clone().or_else(|| Some(host.clone()));
    Some(
        Finding::new(format!("The CPU of {host}"), place)
            .because(format!(
                "it is busy {} of the time, and the program reads {} at a time, {} times a second",
                percent(busy),
                bytes(read.into()),
                numbers::short(calls)
            ))
            .cure(format!(
                "Let the program on {host} read {large} at a time; if that gains nothing, {}",
                lower(&less_work(host))
            ))
            .setting(valued(
                "size of a read",
                host,
                bytes(read.into()),
                Some(large),
                AskedBy::Program,
            )),
    )
}

/// Bytes of each read of a program that reads little at a time.
pub(super) fn small_read(one: &One) -> Option<u32> {
    one.meta.settings.read.filter(|read| *read < SMALL_WRITE)
}
