//! The program on the receiving host reads slowly.

use super::buffer::{Side, window};
use super::busy_cpu::{LARGE_WRITE, less_work};
use super::small_reads::small_read;
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, setting, valued};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::{bytes, percent};
use fullpipe_base::limits::{Derived, Limit};

/// The rule.
pub const RULE: Rule = Rule {
    name: "slow-reader",
    code: "app_read",
    when: When::Held(&["reader", "receive_window"]),
    find,
};

/// A CPU that is busy for this part of the time in which the window is exhausted never rests meanwhile.
const BUSY: f64 = 0.9;
/// Least share of all time.
const HALF: f64 = 0.5;
/// Share of the window that waits unread, from which on the reader is slow and not the buffer small.
const UNREAD: f64 = 0.3;

/// Share of a flow's life from which on the program sets the rate.
const MOST: f64 = 0.5;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let unread = unread(context, one, cause);

    // The trace may charge the reader, or unread data may show it.
    let is_charged = cause.limit == Derived::Reader.about().name;
    if !is_charged && unread.is_none() {
        return None;
    }
    // A program waits for a CPU that never rests.
    let held =
        one.share(Derived::Reader.about().name) + one.share(Limit::ReceiveWindow.about().name);
    let busy = one.flow.cpu.map(|cpu| cpu.receiver).filter(|busy| *busy >= (BUSY * held).max(HALF));
    if let Some(busy) = busy {
        return Some(starved(one, cause, busy));
    }
    let host = &one.meta.hosts[1];
    // The window waits for the program most of the time: the rate is the program's own.
    let as_asked = cause.share >= MOST;
    // The mean of a flow that has not grown yet counts its start, which is not the program's.
    let rate = match as_asked && one.flow.plateau_mbit.is_some() {
        true => format!(" than {}", numbers::rate(one.best_mbit())),
        false => String::new(),
    };
    let waits = unread
        .map_or(String::new(), |share| format!(", {} of the window waits unread", percent(share)));
    // Each call of a small read costs time, too.
    let larger = small_read(one).map_or(String::new(), |read| {
        format!(" ({} at a time instead of {})", bytes(LARGE_WRITE), bytes(read.into()))
    });
    Some(
        Finding {
            who: format!("The program on {host}"),
            as_asked,
            ..Side::receive(one).window(cause)
        }
        .because(format!("it reads no faster{rate}{waits}"))
        .cure(format!("Make the program read faster{larger}: larger buffers do not help"))
        .setting(valued("read()", host, "slow".into(), None, AskedBy::Program)),
    )
}

/// A reader that gets too little of the CPU.
fn starved(one: &One, cause: &Cause, busy: f64) -> Finding {
    let host = &one.meta.hosts[1];
    Finding::new(format!("The CPU of {host}"), cause.place.clone())
        .because(format!("it is busy {} of the time, so the program reads late", percent(busy)))
        .cure(less_work(host))
        .code("cpu_receiver")
        .setting(setting("CPU", host, AskedBy::Device))
}

/// Share of the largest window that waited unread in the mean, where that is a large one.
fn unread(context: &Context, one: &One, cause: &Cause) -> Option<f64> {
    let stage = context.stage(cause.place.as_deref()?)?;
    let window = window(context, one)?;
    let waiting = stage.mean_waiting * f64::from(context.meta.mss);
    let sockets = context.meta.flows.iter().filter(|flow| flow.hosts[1] == one.meta.hosts[1]);
    let share = waiting / sockets.count().max(1) as f64 / window as f64;
    (share >= UNREAD).then_some(share.min(1.0))
}
