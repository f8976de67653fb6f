//! Flows that answer others: keys that they take from the other flow, and keys that they cannot have.

use super::app;
use super::format::context::Context;
use super::format::keys::At;
use super::format::values::{Choice, Name};
use super::written::{AppKind, Flow};
use fullpipe_sim::config::Direction;

/// The flows, with the keys that answering flows take from the flow that they answer. Reports keys that they cannot
/// have.
pub(super) fn complete(flows: &[Flow], cx: &mut Context) -> Vec<Flow> {
    for flow in flows {
        only_requests_are_in_flight(flow, flows, cx);
    }
    flows.iter().map(|flow| one(flow, flows, cx).unwrap_or_else(|| flow.clone())).collect()
}

fn one(flow: &Flow, flows: &[Flow], cx: &mut Context) -> Option<Flow> {
    let to = flow.reply_to.as_ref()?;
    let asks = asks(flow, to, flows, cx)?;

    // Both flows of the connection take turns.
    for flow in [asks, flow] {
        plain(flow, cx);
    }
    let mut completed = flow.clone();

    // One connection: direction, hosts, times and copies follow from the asking flow.
    completed.direction = opposite(asks.direction.as_ref()?, flow.direction.as_ref()?, cx);
    completed.from = same_host("from", &flow.from, &asks.to, cx);
    completed.to = same_host("to", &flow.to, &asks.from, cx);
    completed.start = inherit("start", &flow.start, &asks.start, cx, |time| time.0);
    completed.duration = inherit("duration", &flow.duration, &asks.duration, cx, |time| time.0);
    completed.again = asks.again.clone();
    completed.count = inherit("count", &flow.count, &asks.count, cx, |count| count.0 as u64);
    // One to each message; the last one may be shorter.
    let mut bytes = asks.bytes.clone();
    if let (Some(bytes), Some(asked), Some(own)) = (&mut bytes, message(asks), message(flow)) {
        let requests = bytes.value.0.div_ceil(asked);
        bytes.value.0 = requests.saturating_mul(own).min(i64::MAX as u64);
    }
    completed.bytes = inherit("bytes", &flow.bytes, &bytes, cx, |size| size.0);
    Some(completed)
}

/// Bytes of a message: one write, unless the application has another size.
fn message(flow: &Flow) -> Option<u64> {
    let size = flow.app.as_ref().and_then(|app| app.value.0.size.as_ref());
    let size = size.filter(|_| kind(flow) == Some(AppKind::Messages)).map(|at| at.value.0);
    size.or_else(|| Some(flow.write.as_ref()?.value.0))
}

/// Kind of a flow's application.
fn kind(flow: &Flow) -> Option<AppKind> {
    app::kind(&flow.app.as_ref()?.value.0)
}

/// Refuses several messages without an answer at a time where nobody answers. A written scenario has the default, 1.
fn only_requests_are_in_flight(flow: &Flow, flows: &[Flow], cx: &mut Context) {
    let in_flight = flow.app.as_ref().and_then(|app| app.value.0.in_flight.as_ref());
    let several = in_flight.filter(|at| at.value.0 > 1);
    let Some(at) = several.filter(|_| kind(flow) == Some(AppKind::Messages)) else { return };
    let name = flow.name.as_ref().map(|name| &name.value.0);
    let is_answered = flows.iter().any(|other| other.reply_to.as_ref().map(|to| &to.value) == name);
    if flow.reply_to.is_none() && name.is_some() && !is_answered {
        cx.error("conflict", at.place, "`in_flight` of messages that nobody answers")
            .expected("another flow with `reply_to`, or no `in_flight`");
    }
}

/// The flow that is answered.
fn asks<'a>(flow: &Flow, to: &At<String>, flows: &'a [Flow], cx: &mut Context) -> Option<&'a Flow> {
    let name = |flow: &'a Flow| flow.name.as_ref().map(|name| name.value.0.as_str());
    let Some(asks) = flows.iter().find(|flow| name(flow) == Some(to.value.as_str())) else {
        cx.error("unknown-name", to.place, format!("no flow is called \"{}\"", to.value))
            .names(&to.value, flows.iter().filter(|own| own.reply_to.is_none()).filter_map(name));
        return None;
    };

    // An answer to an answer would need a third direction.
    if asks.reply_to.is_some() {
        cx.error("conflict", to.place, format!("\"{}\" is an answer itself", to.value))
            .expected("a flow that answers none");
        return None;
    }

    // Two answers would share one direction of the connection.
    let mut others = flows.iter().filter(|other| other.place != flow.place);
    if others.any(|other| other.reply_to.as_ref().is_some_and(|of| of.value == to.value)) {
        cx.error("conflict", to.place, format!("another flow answers \"{}\" too", to.value))
            .expected("one answer to a flow");
        return None;
    }
    Some(asks)
}

/// Applications that take turns have no pace of their own.
fn plain(flow: &Flow, cx: &mut Context) {
    let app = flow.app.as_ref().and_then(|app| {
        let place = app.value.0.kind.as_ref().map_or(app.place, |kind| kind.place);
        match kind(flow)? {
            // A window or requests in such a connection are refused before.
            AppKind::Bulk | AppKind::Messages | AppKind::Window | AppKind::Requests => None,
            AppKind::Rate => Some((place, "a rate")),
            AppKind::OnOff => Some((place, "pauses")),
        }
    });

    // A slow reader would stop the turns of the other flow.
    let reader = flow.reader.as_ref().map(|reader| (reader.place, "`reader`"));
    for (place, key) in app.into_iter().chain(reader) {
        let message = format!("{key} in a connection whose applications take turns");
        cx.error("conflict", place, message).expected("an application that goes on at once");
    }
}

fn opposite(asks: &At<Direction>, own: &At<Direction>, cx: &mut Context) -> Option<At<Direction>> {
    let value = match asks.value {
        Direction::Forward => Direction::Backward,
        Direction::Backward => Direction::Forward,
    };
    if own.written && own.value != value {
        let name = Direction::VALUES.iter().position(|v| *v == value);
        let name = name.map_or("", |at| Direction::NAMES[at]);
        cx.error("conflict", own.place, "an answer goes the other way")
            .expected(format!("\"{name}\", or no `direction`"));
    }
    Some(At { value, ..own.clone() })
}

/// The host of an answer, which is its flow's at the other end.
fn same_host(
    key: &str,
    own: &Option<At<Name>>,
    from: &Option<At<Name>>,
    cx: &mut Context,
) -> Option<At<Name>> {
    let host = from.as_ref().map(|at| &at.value.0);
    if let Some(own) = own.as_ref().filter(|own| Some(&own.value.0) != host) {
        cx.error("conflict", own.place, format!("`{key}` of an answer is a host of its flow"))
            .expected(format!("no `{key}`"));
    }
    from.clone()
}

/// A key that an answer has from its flow: it need not be written, and if so, then as it is.
fn inherit<T: Clone>(
    key: &str,
    own: &Option<At<T>>,
    from: &Option<At<T>>,
    cx: &mut Context,
    number: impl Fn(&T) -> u64,
) -> Option<At<T>> {
    let of_flow = from.as_ref().map(|at| number(&at.value));
    if let Some(own) = own.as_ref().filter(|at| at.written && Some(number(&at.value)) != of_flow) {
        cx.error("conflict", own.place, format!("`{key}` of an answer is that of its flow"))
            .expected(format!("no `{key}`"));
    }
    from.clone()
}
