//! Dialogues: two flows in opposite directions between the same hosts. Their programs ask and answer.

use super::Context;
use super::subject::One;
use crate::document::Messages;
use crate::lookup::FlowTrace;
use crate::words::ms;
use fullpipe_base::trace::{EventKind, FlowSample, MOST_ANSWERS};
use fullpipe_base::units::Time;

/// Turns below this number are not a habit of the program.
pub const HABIT: u64 = 3;
/// Messages that are more than one: the mean of all is a little longer than each, as the last ones may have no answer.
const SEVERAL: f64 = 1.5;
/// Share of a full segment below which the mean segment ends a message.
const WHOLE: f64 = 0.9;

/// Part of a round trip after an answer within which a request is written at once.
const AT_ONCE: f64 = 0.1;
/// Part of the requests that has to follow answers where the program waits for them.
const MOST: f64 = 0.5;

/// A flow that a cause holds, and the flow the other way.
#[derive(Clone, Copy)]
pub struct Dialogue<'a> {
    /// The flow that is held.
    pub own: &'a FlowTrace<'a>,
    /// The flow the other way.
    pub theirs: &'a FlowTrace<'a>,
    /// Turns that both have taken.
    pub turns: u64,
    /// Round trip without queues, s.
    pub base_s: f64,
    /// Life of the flow that is held, s.
    pub lived_s: f64,
}

impl<'a> Dialogue<'a> {
    /// The dialogue of a flow; none where turns are no habit, or no round trip is known.
    pub fn of(context: &Context<'a>, one: &One) -> Option<Dialogue<'a>> {
        let base = one.meta.base_rtt.filter(|rtt| *rtt > Time::ZERO)?;
        let other = one.meta.reverse_flow?;
        let (own, theirs) = (&context.traces.flows[one.index], &context.traces.flows[other]);
        let events =
            messages(context, one).map(|own| own.count).filter(|count| *count < MOST_ANSWERS);
        let turns = events.unwrap_or_else(|| turns(context, own, theirs));
        let turns = Some(turns).filter(|turns| *turns >= HABIT)?;
        let life = &context.lives.flows[one.index];
        let lived_s = life.end.saturating_sub(life.start).as_secs_f64();
        Some(Dialogue { own, theirs, turns, base_s: base.as_secs_f64(), lived_s })
    }

    /// Whether the flow that is held answers the other one.
    pub fn answers(&self) -> bool {
        began(self.theirs) < began(self.own)
    }

    /// Whether most requests are written as an answer arrives: the program waits for it. One that writes by the clock does not.
    pub fn waits(&self) -> bool {
        let asks = if self.answers() { self.theirs } else { self.own };
        let answered = asks.events.iter().filter(|event| event.kind == EventKind::Answered);
        let (mut begins, mut ends): (Vec<u64>, Vec<u64>) =
            answered.map(|event| (event.time.0.saturating_sub(event.value), event.time.0)).unzip();
        begins.sort_unstable();
        ends.sort_unstable();
        let soon = (AT_ONCE * self.base_s * 1e9) as u64;
        let follows = |begin: &&u64| {
            let before = ends.partition_point(|end| end <= begin);
            before > 0 && **begin - ends[before - 1] <= soon
        };

        // The first requests have no answer before them. Without events nothing speaks against it.
        let all = begins.len().saturating_sub(1);
        begins.iter().filter(follows).count() as f64 >= MOST * all as f64
    }

    /// Whether the side that began had several of its messages without an answer at some moment.
    pub fn is_ahead(&self) -> bool {
        let (asks, answers) =
            if self.answers() { (self.theirs, self.own) } else { (self.own, self.theirs) };
        let turns = self.turns.max(1) as f64;
        let [request, answer] = [asks, answers].map(|flow| once(flow.last()) as f64 / turns);
        let mut moments = asks.samples.iter();
        request > 0.0
            && moments.any(|sample| {
                let answered = answers.at(sample.time).bytes_delivered as f64 / answer.max(1.0);
                once(sample) as f64 - answered * request >= SEVERAL * request
            })
    }
}

/// Messages of a dialogue, as the asking side records them, or of a flow without answers; none where the trace has none.
pub fn messages(context: &Context, one: &One) -> Option<Messages> {
    let other = one.meta.reverse_flow.and_then(|index| context.run.flows.get(index));
    one.flow.messages.or_else(|| other?.messages)
}

/// Times of messages: "half of the answers come within 1.2 ms, 95 % within 41 ms", at the asking side. None where the trace has no messages.
pub fn times(context: &Context, one: &One) -> Option<String> {
    messages(context, one).as_ref().map(in_words)
}

/// "half of the answers come within 1.2 ms, 95 % within 41 ms".
pub fn in_words(messages: &Messages) -> String {
    let what = if messages.one_way { "messages" } else { "answers" };
    let [median, p95] = [messages.median_ms, messages.p95_ms].map(ms);
    format!("half of the {what} come within {median}, 95 % within {p95}")
}

/// Data that a flow has sent, each byte once.
pub fn once(sample: &FlowSample) -> u64 {
    sample.bytes_sent.saturating_sub(sample.bytes_retransmitted)
}

/// Turns that two flows have taken: segments of the flow that has fewer, where each is one message. Where most of them
/// are full, messages are longer than a segment, and samples show the turns.
fn turns(context: &Context, own: &FlowTrace, theirs: &FlowTrace) -> u64 {
    let (few, many) = if segments(own) <= segments(theirs) { (own, theirs) } else { (theirs, own) };
    let sent = once(few.last());
    let count = segments(few);
    let full = count as f64 * f64::from(context.meta.mss);
    match (sent as f64) < WHOLE * full {
        true => count,
        false => changes(few, many),
    }
}

/// Segments that were sent for the first time.
pub fn segments(flow: &FlowTrace) -> u64 {
    flow.last().segments_sent.saturating_sub(flow.last().segments_retransmitted)
}

/// Number of times that the first side began to send alone after the second side had. Turns between two samples are not
/// seen.
fn changes(first: &FlowTrace, second: &FlowTrace) -> u64 {
    let (mut count, mut was_first) = (0, false);
    for pair in first.samples.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        let first_sends = now.bytes_sent > before.bytes_sent;
        let second_sends = second.at(now.time).bytes_sent > second.at(before.time).bytes_sent;

        // Samples in which both sides send, or neither, decide nothing.
        if first_sends != second_sends {
            count += u64::from(first_sends && !was_first);
            was_first = first_sends;
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
