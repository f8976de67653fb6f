//! Nagle's rule waits for an ACK that the other host delays: each message in several writes takes a round trip and 40 ms more.
//!
//! A message in several writes ends in a segment that is not full. Nagle's rule holds it back until all earlier data is
//! acknowledged (RFC 896). The other host has nothing to send yet, so it delays that ACK: Linux for 40 ms
//! (TCP_DELACK_MIN).
//!
//! Twin: a server that takes a round trip and 40 ms to answer.

use super::dialogue::{Dialogue, segments};
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::lookup::FlowTrace;
use crate::numbers;
use crate::words::ms;

/// The rule.
pub const RULE: Rule =
    Rule { name: "delayed-ack", code: "nagle", when: When::Held(&["application"]), find };

/// Time of a turn beyond two round trips that is a delayed ACK, s: TCP_DELACK_MIN, and a tick or two of its timer.
///
/// One round trip is the message's. The other one is that of the part that waits for the ACK.
const DELAYED: [f64; 2] = [0.036, 0.06];
/// Segments of a message in several writes.
const PARTS: f64 = 1.9;
/// Share of a full segment below which the mean segment is a part of a message.
const PART: f64 = 0.9;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let dialogue = Dialogue::of(context, one).filter(|own| !own.is_ahead())?;
    let Dialogue { own, theirs, turns, base_s, lived_s } = dialogue;

    // A turn longer than the round trip has waited for something else, too.
    let waits = lived_s / turns as f64 - base_s;

    // Messages in parts: several segments a turn, smaller than the MSS in the mean.
    let in_parts = |flow: &FlowTrace| {
        let count = segments(flow) as f64;
        let mean = flow.last().bytes_sent as f64 / count.max(1.0);
        count >= PARTS * turns as f64 && mean < PART * f64::from(context.meta.mss)
    };
    let [from, to] = &one.meta.hosts;
    // With parts both ways each of two messages waits.
    let (holds, first, acks, messages) = match (in_parts(own), in_parts(theirs)) {
        (true, true) => (format!("{from} and {to}"), from, "the other host", 2 * turns),
        (true, false) => (from.clone(), from, &to[..], turns),
        (false, true) => (to.clone(), to, &from[..], turns),
        (false, false) => return None,
    };
    let waits = waits * turns as f64 / messages as f64;

    // Waits of another length than a delayed ACK's have another cause.
    if !(DELAYED[0]..DELAYED[1]).contains(&(waits - base_s)) {
        return None;
    }
    let found = Finding::new(format!("Nagle's rule on {holds}"), cause.place.clone())
        .because(format!(
            "the last part of each message waits {} for a delayed ACK of {acks}, {} times",
            ms(waits * 1e3),
            numbers::count(messages)
        ))
        .cure(format!(
            "Let the program on {holds} set TCP_NODELAY, or write each message at once; or, with Linux at the other end, let the \
             program there set TCP_QUICKACK after each read"
        ))
        .setting(setting("TCP_NODELAY", first, AskedBy::Program));
    Some(found)
}
