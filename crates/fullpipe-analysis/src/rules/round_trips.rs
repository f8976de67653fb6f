//! Requests and answers take turns, and each turn waits for a round trip.
//!
//! The rule assumes that each request waits for the answer to the one before, as `reply_to` says.
//!
//! Twin: a program that writes seldom for its own reasons. Its pauses are longer than the round trips of its turns.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::ms;
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule =
    Rule { name: "round-trips", code: "turns", when: When::Held(&["application"]), find };

/// Turns below this number are not a habit of the program.
const HABIT: u64 = 3;
/// Share of the time without data that one round trip for each turn has to explain: more than anything else can.
const EXPLAINED: f64 = 0.5;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let [from, to] = &one.meta.hosts;
    let base = one.meta.base_rtt.filter(|rtt| *rtt > Time::ZERO)?;
    let messages = one.meta.settings.messages.filter(|own| own.bytes > 0)?;
    let turns = Some(one.flow.bytes.div_ceil(messages.bytes)).filter(|turns| *turns >= HABIT)?;

    let share = one.flow.limits.get(&cause.limit).copied().unwrap_or(cause.share);
    let life = &context.lives.flows[one.index];
    let waited = share * life.end.saturating_sub(life.start).as_secs_f64();
    let explained = turns as f64 * base.as_secs_f64();
    if explained < EXPLAINED * waited {
        return None;
    }

    let (client, does) = match messages.are_answers {
        true => (to, format!("{from} answers {} requests", numbers::count(turns))),
        false => (from, format!("{from} sends {} requests", numbers::count(turns))),
    };
    let found = Finding::new(format!("Waiting for {to}"), cause.place.clone())
        .because(format!(
            "{does} one after another, and each waits for the one before: a round trip of {} at least",
            ms(base.as_secs_f64() * 1e3)
        ))
        .cure(format!(
            "Let the program on {client} ask for more before it waits (pipelining, larger requests), or use \
             several connections: no sysctl helps"
        ))
        .setting(setting("requests in flight", client, AskedBy::Program));
    Some(found)
}
