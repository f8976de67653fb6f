//! Requests and answers take turns, and each turn waits for a round trip.
//!
//! Twin: a program that writes seldom for its own reasons. What decides is the other direction: each turn begins after
//! something has come back.
//!
//! Limits:
//! - The trace does not show turns that are shorter than its sample interval. The scenario says how much one carries.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::ms;
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule = Rule { code: "round-trips", when: When::Held(&["application"]), find };

/// Turns below this number are not a habit of the program.
const HABIT: u64 = 3;
/// Share of the time without data that one round trip for each turn has to explain.
const EXPLAINED: f64 = 0.5;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let [from, to] = &one.meta.hosts;
    let base = one.meta.base_rtt.filter(|rtt| *rtt > Time::ZERO)?;
    let message = one.meta.settings.message.filter(|bytes| *bytes > 0)?;
    let turns = Some(one.flow.bytes.div_ceil(message)).filter(|turns| *turns >= HABIT)?;
    let share = one.flow.limits.get(&cause.limit).copied().unwrap_or(cause.share);
    let life = &context.lives.flows[one.index];
    let waited = share * life.end.saturating_sub(life.start).as_secs_f64();
    let explained = turns as f64 * base.as_secs_f64();

    (explained >= EXPLAINED * waited).then(|| {
        Finding::new(format!("Waiting for {to}"), cause.place.clone())
            .because(format!(
                "the program on {from} took {} turns with {to}, and each waits for a round trip of {}",
                numbers::count(turns),
                ms(base.as_secs_f64() * 1e3)
            ))
            .cure(
                "Let the program ask for more before it waits (pipelining, larger requests), or use several \
                 connections: no sysctl helps",
            )
            .setting(setting("requests in flight", from, AskedBy::Program))
    })
}
