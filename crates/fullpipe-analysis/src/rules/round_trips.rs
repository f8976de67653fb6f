//! A program that asks and waits: requests and answers take turns, and each turn takes a round trip.
//!
//! The rule looks for a flow in the other direction between the same hosts that lives at the same time. It counts turns
//! by the flow with fewer segments. Segments that are not full are messages. Of full segments each change of the
//! sending side is a turn.
//!
//! Twin: a program that writes seldom for its own reasons. Its pauses are longer than the round trips of its turns.

use super::dialogue::{Dialogue, once, times};
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::ms;

/// The rule.
pub const RULE: Rule =
    Rule { name: "round-trips", code: "turns", when: When::Held(&["application"]), find };

/// Share of the time without new data that turns have to explain: more than any other cause can. Each turn takes a round
/// trip, and the time in which the path carries the message.
const EXPLAINED: f64 = 0.5;
/// Share of a flow's life that turns may take: each takes a round trip at least, so more of them are no turns.
const POSSIBLE: f64 = 1.05;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let [from, to] = &one.meta.hosts;

    // A flow that sends ahead does not wait for answers.
    let dialogue = Dialogue::of(context, one).filter(|own| !own.is_ahead() && own.waits())?;
    let Dialogue { base_s, lived_s: lived, turns, .. } = dialogue;

    // The waits must explain the cause's time, and fit into the flow's life.
    let share = one.flow.limits.get(&cause.limit).copied().unwrap_or(cause.share);
    let round_trips = turns as f64 * base_s;
    let sent_bits = once(dialogue.own.last()) as f64 * 8.0;
    let carried = context.subject.allowed_mbit().map_or(0.0, |mbit| sent_bits / (mbit * 1e6));
    if round_trips + carried < EXPLAINED * share * lived || round_trips > POSSIBLE * lived {
        return None;
    }

    // The client is the end that asks, whichever end sends more.
    let (client, does) = match dialogue.answers() {
        true => (to, format!("{from} answers {} requests", numbers::count(turns))),
        false => (from, format!("{from} sends {} requests", numbers::count(turns))),
    };
    let waits = format!(
        "{does} one after another, and each waits for the one before: a round trip of {} at least",
        ms(base_s * 1e3)
    );
    let because = [Some(waits), times(context, one)].into_iter().flatten();
    let found = Finding::new(format!("Waiting for {to}"), cause.place.clone())
        .because(because.collect::<Vec<_>>().join("; "))
        .cure(format!(
            "Let the program on {client} ask for more before it waits (pipelining, larger requests), or use \
             several connections: no sysctl helps"
        ))
        .setting(setting("requests in flight", client, AskedBy::Program));
    Some(found)
}
