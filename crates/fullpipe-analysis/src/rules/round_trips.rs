//! A program that asks and waits: requests and answers take turns, and each turn takes a round trip.
//!
//! The rule looks for a flow the other way between the same hosts that lives at the same time. It counts turns by the flow
//! with fewer segments: segments that are not full are messages, and of full ones each change of the side that sends is a turn.
//!
//! Twin: a program that writes seldom for its own reasons. Its pauses are longer than the round trips of its turns.

use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::lookup::FlowTrace;
use crate::numbers;
use crate::words::ms;
use fullpipe_base::trace::EventKind;
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule =
    Rule { name: "round-trips", code: "turns", when: When::Held(&["application"]), find };

/// Turns below this number are not a habit of the program.
pub(super) const HABIT: u64 = 3;
/// Share of the time without data that one round trip for each turn has to explain: more than anything else can.
const EXPLAINED: f64 = 0.5;
/// Share of a flow's life that turns may take: each takes a round trip at least, so more of them are no turns.
pub(super) const POSSIBLE: f64 = 1.05;
/// Messages that are more than one: the mean of all is a little longer than each, as the last ones may have no answer.
const SEVERAL: f64 = 1.5;
/// Share of a full segment below which the mean segment ends a message.
const WHOLE: f64 = 0.9;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let [from, to] = &one.meta.hosts;
    let base = one.meta.base_rtt.filter(|rtt| *rtt > Time::ZERO)?;
    let other = answering(context, one)?;
    let (own, theirs) = (&context.traces.flows[one.index], &context.traces.flows[other]);
    let turns = Some(turns(context, own, theirs)).filter(|turns| *turns >= HABIT)?;

    if is_ahead(own, theirs, turns) {
        return None;
    }

    let share = one.flow.limits.get(&cause.limit).copied().unwrap_or(cause.share);
    let life = &context.lives.flows[one.index];
    let lived = life.end.saturating_sub(life.start).as_secs_f64();
    let explained = turns as f64 * base.as_secs_f64();
    if explained < EXPLAINED * share * lived || explained > POSSIBLE * lived {
        return None;
    }

    let (client, does) = match began(theirs) < began(own) {
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

/// Index of a flow the other way between the same hosts that lives at the same time.
pub(super) fn answering(context: &Context, one: &One) -> Option<usize> {
    let [from, to] = &one.meta.hosts;
    let life = &context.lives.flows[one.index];
    let mut flows = context.meta.flows.iter().enumerate();
    let found = flows.find(|(index, other)| {
        let lives = &context.lives.flows[*index];
        let is_back = other.hosts[0] == *to && other.hosts[1] == *from;
        is_back && lives.start < life.end && life.start < lives.end
    });
    found.map(|(index, _)| index)
}

/// Turns that two flows have taken.
pub(super) fn turns(context: &Context, own: &FlowTrace, theirs: &FlowTrace) -> u64 {
    let (few, many) = if segments(own) <= segments(theirs) { (own, theirs) } else { (theirs, own) };
    let sent = few.last().bytes_sent.saturating_sub(few.last().bytes_retransmitted);
    let count = segments(few);
    let full = count as f64 * f64::from(context.meta.mss);
    match (sent as f64) < WHOLE * full {
        true => count,
        false => changes(few, many),
    }
}

/// Whether the side that began sent several of its messages before an answer came.
pub(super) fn is_ahead(own: &FlowTrace, theirs: &FlowTrace, messages: u64) -> bool {
    let (asks, answers) = if began(theirs) < began(own) { (theirs, own) } else { (own, theirs) };
    let first = answers.samples.iter().position(|sample| sample.bytes_delivered > 0);
    let Some(before) = first.and_then(|at| at.checked_sub(1)) else { return false };
    let sent = asks.at(answers.samples[before].time).bytes_sent as f64;
    let each = asks.last().bytes_sent as f64 / messages.max(1) as f64;
    sent >= SEVERAL * each && each > 0.0
}

/// Segments that were sent for the first time.
pub(super) fn segments(flow: &FlowTrace) -> u64 {
    flow.last().segments_sent.saturating_sub(flow.last().segments_retransmitted)
}

/// Number of times that the side which sends alone has changed to the first one, as far as samples tell.
fn changes(first: &FlowTrace, second: &FlowTrace) -> u64 {
    let (mut count, mut was_first) = (0, false);
    for pair in first.samples.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        let grows = now.bytes_sent > before.bytes_sent;
        let also = second.at(now.time).bytes_sent > second.at(before.time).bytes_sent;
        if grows != also {
            count += u64::from(grows && !was_first);
            was_first = grows;
        }
    }
    count
}

/// When data of a flow first arrived. A real kernel does not date it: the first sample that shows it counts.
fn began(flow: &FlowTrace) -> Time {
    let sample = flow.samples.iter().find(|sample| sample.bytes_delivered > 0);
    let event = flow.first(EventKind::FirstData).map(|event| event.time);
    event.or_else(|| Some(sample?.time)).unwrap_or(Time(u64::MAX))
}
