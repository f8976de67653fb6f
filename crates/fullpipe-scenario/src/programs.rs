//! Programs that limit themselves: a window of their own, or a number of requests without an answer.
//!
//! TCP does not know such a limit, so no sysctl moves it. A program that has used its window up waits for a message of
//! the program at the other end. That message is data of the same connection, and a flow of its own here. Such programs
//! set TCP_NODELAY. Without it Nagle's rule would hold back each short message until the previous one is acknowledged.

use super::app::{is_whole, kind};
use super::format::context::{Context, Place};
use super::format::keys::At;
use super::format::sockopt::Sockopts;
use super::format::values::{Int, Name, Quantity};
use super::resolved::NODELAY;
use super::written::{AppKind, AppTable, Flow, Limit, MessageSize, ShortApp};
use fullpipe_sim::config::Direction;
use std::collections::BTreeMap;

/// Bytes of a message that asks for data, or that allows more of it.
///
/// SSH's is about 60 bytes with padding and MAC, and HTTP/2's 13 bytes within a TLS record of 22 more.
const SHORT: u64 = 64;
/// Most messages without an answer.
const MOST: u64 = 1_000_000;
/// Last part of the name of a flow whose messages allow data.
pub(super) const CREDITS: &str = "credits";
/// Bytes of an answer where none are said.
const ANSWER: u64 = 32 * 1024;

/// The flows, where a program limits itself with the messages of the other end, too.
pub(super) fn complete(flows: &[Flow], cx: &mut Context) -> Vec<Flow> {
    let mut all = Vec::new();
    for flow in flows {
        let app = flow.app.as_ref().map(|app| &app.value.0);

        // Other flows, and those with errors, stay as they are.
        match app.and_then(|app| Some((kind(app)?, app))) {
            Some((kind @ (AppKind::Window | AppKind::Requests), app))
                if is_whole(app, kind) && is_alone(flow, flows, cx) =>
            {
                all.extend(match kind {
                    AppKind::Window => windowed(flow, app, cx),
                    _ => requested(flow, app),
                });
            }
            _ => all.push(flow.clone()),
        }
    }
    all
}

/// Whether no other flow shares the connection, as the other end's messages will.
fn is_alone(flow: &Flow, flows: &[Flow], cx: &mut Context) -> bool {
    let name = flow.name.as_ref().map(|name| &name.value.0);
    let other = flows.iter().find(|own| own.reply_to.as_ref().map(|to| &to.value) == name);
    let shares = flow.reply_to.as_ref().map(|to| to.place).or(other.map(|own| own.place));
    if let Some(place) = shares.filter(|_| name.is_some()) {
        cx.error("conflict", place, "a program with a window or requests has the connection alone")
            .expected("`kind = \"messages\"` for both flows, with `in_flight`");
        return false;
    }
    true
}

/// Flows of a program that waits for the other end to allow more: its data, and the messages that allow it.
fn windowed(flow: &Flow, app: &AppTable, cx: &mut Context) -> Vec<Flow> {
    // A named program gives the usual window and message.
    let of_program = match app.program.as_ref().map(|at| at.value.limit()) {
        Some(Limit::Window(window, size)) => Some((window, size)),
        _ => None,
    };
    let written = |key: &Option<At<MessageSize>>| key.as_ref().map(|at| at.value.0);
    let Some(window) = written(&app.window).or(of_program.map(|own| own.0)) else {
        return vec![flow.clone()];
    };

    // A window of another size keeps the program's habit: messages of half of it.
    let usual = of_program.filter(|own| own.0 == window).map_or((window / 2).max(1), |own| own.1);
    let size = written(&app.size).unwrap_or(usual);
    let in_flight = window.div_ceil(size);

    // Messages larger than the window would never be sent.
    if let Some(at) = app.size.as_ref().filter(|_| size > window || in_flight > MOST) {
        cx.error("out-of-range", at.place, "`size` does not fit the window").expected(format!(
            "a part of `window` of which at most {MOST} make it: {}B to {window}B",
            window.div_ceil(MOST)
        ));
        return vec![flow.clone()];
    }

    // All messages together are the window.
    let mut data = without_delay(flow.clone());
    data.app = Some(messages(app, window.div_ceil(in_flight), in_flight));

    // The other end sends one short message for each that it has read.
    vec![data, other_end(flow, app, CREDITS, Answers::This)]
}

/// Flows of a program that sends data as answers: the data, and the requests.
fn requested(flow: &Flow, app: &AppTable) -> Vec<Flow> {
    let of_program = match app.program.as_ref().map(|at| at.value.limit()) {
        Some(Limit::Requests(requests, size)) => Some((requests, size)),
        _ => None,
    };

    // Written values go before those of the named program.
    let written = app.requests.as_ref().map(|at| at.value.0);
    let Some(requests) = written.or(of_program.map(|own| own.0)) else {
        return vec![flow.clone()];
    };
    let size = app.size.as_ref().map(|at| at.value.0);
    let size = size.or(of_program.map(|own| own.1)).unwrap_or(ANSWER);
    // A transfer of a fixed size has answers of one size.
    let size = flow.bytes.as_ref().map_or(size, |at| {
        let answers = at.value.0.div_ceil(size).max(1);
        at.value.0.div_ceil(answers)
    });

    // The client's requests ask for all answers.
    let mut asks = other_end(flow, app, "requests", Answers::Other);
    asks.app = Some(messages(app, SHORT, requests.unsigned_abs()));

    // Total bytes of answers become total bytes of requests.
    let mut bytes = flow.bytes.clone();
    if let Some(bytes) = &mut bytes {
        bytes.value = Quantity::of(bytes.value.0.div_ceil(size).saturating_mul(SHORT));
    }
    asks.bytes = bytes;

    // The data answers, so it ends with the requests.
    let mut data = without_delay(flow.clone());
    data.app = Some(messages(app, size, 1));
    data.reply_to = asks.name.as_ref().map(|name| At {
        value: name.value.0.clone(),
        place: name.place,
        written: false,
    });
    data.bytes = None;
    (data.after, data.again) = (None, None);
    vec![data, asks]
}

/// Which of two flows of a connection answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    /// The flow of the other end.
    This,
    /// The flow that is written.
    Other,
}

/// Short messages of the other end. The flow that is written says when they begin and end.
fn other_end(flow: &Flow, app: &AppTable, what: &str, answers: Answers) -> Flow {
    let mut own = flow.clone();
    let answers = answers == Answers::This;

    // An answering flow refers to the flow that is written.
    own.reply_to = flow.name.as_ref().filter(|_| answers).map(|name| At {
        value: name.value.0.clone(),
        place: name.place,
        written: false,
    });
    if let Some(name) = &mut own.name {
        name.value = Name(format!("{}-{what}", name.value.0));
    }

    // The other end sends the opposite way.
    if let Some(direction) = &mut own.direction {
        direction.value = match direction.value {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        };
        direction.written = false;
    }

    // Hosts change places with the direction.
    (own.from, own.to) = (flow.to.clone(), flow.from.clone());

    // Settings of the written flow are its own: short messages take defaults.
    (own.congestion, own.slow_start) = (None, None);
    (own.socket_buffer, own.sndbuf, own.rcvbuf) = (None, None, None);
    (own.sockopt, own.receiver_sockopt, own.quickack) = (None, None, None);
    own.reader = None;
    own.write = own.write.map(|at| At { value: Quantity::of(SHORT), written: false, ..at });
    own.app = Some(messages(app, SHORT, 1));

    // An answer takes its times and copies from the flow that it answers.
    if answers {
        (own.from, own.to, own.start, own.duration) = (None, None, None, None);
        (own.bytes, own.count) = (None, None);
        (own.after, own.again) = (None, None);
    }
    without_delay(own)
}

/// A flow with TCP_NODELAY, unless the option is written.
fn without_delay(mut flow: Flow) -> Flow {
    let options = flow.sockopt.get_or_insert_with(|| at(Sockopts(BTreeMap::new()), flow.place));
    options.value.0.entry(NODELAY).or_insert(1);
    flow
}

/// An application with messages.
fn messages(app: &AppTable, size: u64, in_flight: u64) -> At<ShortApp> {
    let place = app.place;
    let table = AppTable {
        kind: Some(at(AppKind::Messages, place)),
        rate: None,
        on: None,
        off: None,
        window: None,
        requests: None,
        size: Some(at(Quantity::of(size), place)),
        in_flight: Some(at(Int(i64::try_from(in_flight).unwrap_or(i64::MAX)), place)),
        program: None,
        ..app.clone()
    };
    at(ShortApp(table), place)
}

fn at<T>(value: T, place: Place) -> At<T> {
    At { value, place, written: true }
}
