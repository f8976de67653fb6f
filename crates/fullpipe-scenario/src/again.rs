//! Loops: connections one after another, each of them new.

use super::copies::copy_names;
use super::format::context::Context;
use super::format::keys::At;
use super::format::values::{AnyTime, SomeTime};
use super::neighbours;
use super::resolved::{Flow, Resolved};
use super::show;
use super::written;
use fullpipe_base::trace::Turns;
use fullpipe_base::units::Time;
use serde::Serialize;
use std::collections::BTreeMap;
use std::iter;

/// The connection before a flow, which has to be over before the flow connects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct After {
    /// Name of the flow before it, from the same host.
    pub flow: String,
    /// Time from the end of that flow to this one's connect().
    #[serde(serialize_with = "show::shown")]
    pub pause: Time,
    /// No connection begins then or later; none: the run's end.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub until: Option<Time>,
}

/// A loop of connections, each with a number of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Index of the connection that it begins with.
    pub first: usize,
    /// Indices of the following ones, in turn.
    pub others: Vec<usize>,
    /// Bytes of all its connections.
    pub bytes: u64,
    /// No connection begins then or later; none: the run's end.
    pub until: Option<Time>,
}

impl Loop {
    /// All loops of a run, by the connection that each begins with. Connections without a number of bytes are left out.
    pub fn all(run: &Resolved) -> Vec<Loop> {
        let mut loops: BTreeMap<usize, Loop> = BTreeMap::new();

        // `first` maps each flow to the one that its chain begins with.
        let mut first: Vec<usize> = (0..run.flow.len()).collect();
        for (at, flow) in run.flow.iter().enumerate() {
            let (Some((before, after)), Some(bytes)) = (run.follows(flow), flow.bytes) else {
                continue;
            };

            // The flow before is known already: it stands earlier in the file.
            first[at] = first[before];
            let begins = first[at];
            let entry = loops.entry(begins).or_insert_with(|| Loop {
                first: begins,
                others: Vec::new(),
                bytes: run.flow[begins].bytes.unwrap_or(0),
                until: None,
            });
            entry.bytes = entry.bytes.saturating_add(bytes);
            entry.until = after.until;
            entry.others.push(at);
        }
        loops.into_values().collect()
    }

    /// Keys and values that let the first connection carry all, so that none follows it.
    pub fn as_one_connection(&self, run: &Resolved) -> Vec<(Vec<String>, String)> {
        let first = &run.flow[self.first];
        let of = |flow: &Flow, keys: &[&str]| {
            let parts = ["flow", &flow.name].into_iter().chain(keys.iter().copied());
            parts.map(str::to_string).collect()
        };

        // The others end after a nanosecond: they send nothing.
        let mut keys: Vec<(Vec<String>, String)> = self
            .others
            .iter()
            .map(|other| (of(&run.flow[*other], &["after", "until"]), Time::ns(1).to_string()))
            .collect();
        // An answer grows as the flow that it answers does.
        let lasts = self.until.map(|until| until.saturating_sub(first.start).to_string());
        let times = u128::from(self.bytes).div_ceil(first.bytes.unwrap_or(1).max(1).into());
        let all = |bytes: u64| u64::try_from(u128::from(bytes) * times).unwrap_or(u64::MAX);
        for own in iter::once(first).chain(run.answer_to(first)) {
            // An answer has a message for each message of its flow, the last and shorter one included.
            let bytes =
                own.bytes.map(|bytes| match first.bytes.filter(|_| own.name != first.name) {
                    Some(asked) => all(asked).div_ceil(first.message().max(1)) * own.message(),
                    None => all(bytes),
                });
            keys.extend(bytes.map(|bytes| (of(own, &["bytes"]), format!("{bytes}B"))));
            keys.extend(lasts.clone().map(|lasts| (of(own, &["duration"]), lasts)));
        }
        keys
    }
}

/// Indices of flows by name.
fn by_name(flows: &[Flow]) -> BTreeMap<&str, usize> {
    flows.iter().enumerate().map(|(at, flow)| (flow.name.as_str(), at)).collect()
}

impl Resolved {
    /// Turns of the flows, for an engine that takes samples of them.
    pub fn turns(&self) -> Turns {
        let places = by_name(&self.flow);
        let place = |name: &String| places.get(name.as_str()).copied();
        let answers: Vec<_> = self.flow.iter().map(|flow| place(flow.reply_to.as_ref()?)).collect();
        let after: Vec<_> =
            self.flow.iter().map(|flow| place(&flow.after.as_ref()?.flow)).collect();
        Turns::new(&answers, &after)
    }

    /// Most flows that live at one time.
    pub fn flows_at_once(&self) -> usize {
        at_once(&self.flow)
    }
}

/// Most of these flows that live at one time: flows that follow another one, and their answers, take its place.
pub(super) fn at_once(flows: &[Flow]) -> usize {
    let places = by_name(flows);
    let asks = |flow: &Flow| {
        let name = flow.reply_to.as_ref()?;
        flows.get(*places.get(name.as_str())?)
    };
    flows.iter().filter(|flow| asks(flow).unwrap_or(flow).after.is_none()).count()
}

/// Numbers of connections of a flow: parallel ones, and connections of each in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connections {
    /// Loops, or single connections, side by side.
    beside: usize,
    /// Connections of a loop.
    turns: usize,
}

impl Connections {
    /// The number that a flow asks for by `count` and `again`.
    pub(super) fn of(flow: &written::Flow) -> Connections {
        let count = |at: Option<i64>| usize::try_from(at.unwrap_or(1)).unwrap_or(usize::MAX);
        let turns = flow.again.as_ref().and_then(|at| at.value.count.as_ref());
        Connections {
            beside: count(flow.count.as_ref().map(|at| at.value.0)),
            turns: count(turns.map(|at| at.value.0)),
        }
    }

    /// All of them.
    pub(super) fn all(self) -> usize {
        self.beside.saturating_mul(self.turns)
    }
}

/// The flow itself, or copies with numbers. Each copy answers, or follows, the copy of its number. In a loop it follows
/// the copy that is as many numbers before it as there are loops.
pub(super) fn copies(flow: Flow, written: &written::Flow) -> Vec<Flow> {
    let of = Connections::of(written);

    // Copies of answered and followed flows have equal numbers.
    let all = of.all();
    let names = copy_names(&flow.name, all);
    let answered = flow.reply_to.as_ref().map(|name| copy_names(name, all));
    let followed = flow.after.as_ref().map(|after| copy_names(&after.flow, all));

    // In an answered loop the asking flow repeats; its answers go along.
    let turn = written.again.as_ref().filter(|_| flow.reply_to.is_none()).map(|at| &at.value);

    let after = |i: usize| match turn {
        Some(again) => i.checked_sub(of.beside).map(|before| After {
            flow: names[before].clone(),
            pause: pause(&again.pause),
            until: until(&again.until),
        }),
        None => {
            let (own, followed) = flow.after.as_ref().zip(followed.as_ref())?;
            Some(After { flow: followed[i].clone(), ..own.clone() })
        }
    };

    // Each copy refers to the copy of its own number.
    (0..all)
        .map(|i| Flow {
            name: names[i].clone(),
            reply_to: answered.as_ref().map(|names| names[i].clone()),
            after: after(i),
            ..flow.clone()
        })
        .collect()
}

/// The connection before a flow, as it is written.
pub(super) fn after(flow: &written::Flow) -> Option<After> {
    let after = &flow.after.as_ref()?.value;
    Some(After {
        flow: after.flow.as_ref()?.value.clone(),
        pause: pause(&after.pause),
        until: until(&after.until),
    })
}

fn pause(at: &Option<At<AnyTime>>) -> Time {
    at.as_ref().map_or(Time::ZERO, |at| Time::ns(at.value.0))
}

fn until(at: &Option<At<SomeTime>>) -> Option<Time> {
    at.as_ref().map(|at| Time::ns(at.value.0))
}

/// Reports flows that cannot follow the one that they name, and answers with a loop of their own.
pub(super) fn check(flows: &[written::Flow], cx: &mut Context) {
    for (at, flow) in flows.iter().enumerate() {
        let keys = [
            flow.after.as_ref().map(|at| ("after", at.place)),
            flow.again.as_ref().map(|at| ("again", at.place)),
        ];

        // One error a flow: further ones would follow from it.
        let mut written = keys.into_iter().flatten();
        let answers = flow.reply_to.as_ref().is_some_and(|to| to.written);
        if let Some((key, place)) = written.next_back().filter(|_| answers) {
            cx.error("conflict", place, format!("`{key}` of a flow that answers another one"))
                .expected("it at the flow that is answered: both are one connection");
        } else if let (Some(_), Some(again)) = (&flow.after, &flow.again) {
            let message = "`again` of a flow that follows another one";
            cx.error("conflict", again.place, message).expected("one of `after` and `again`");
        } else if let Some(after) = &flow.after {
            follows(flow, after, &flows[..at], cx);
        }
    }
}

/// Reports problems with the flow that `flow` follows; `earlier` are the flows before it in the file.
fn follows(
    flow: &written::Flow,
    after: &At<written::After>,
    earlier: &[written::Flow],
    cx: &mut Context,
) {
    let Some(named) = &after.value.flow else { return };
    let name = |own: &written::Flow| own.name.as_ref().map(|name| name.value.0.clone());

    // An answer has no beginning of its own, so nothing can follow it.
    let begin = || earlier.iter().filter(|own| own.reply_to.is_none());
    let Some(before) = begin().find(|own| name(own).as_ref() == Some(&named.value)) else {
        let names: Vec<String> = begin().filter_map(name).collect();
        let message = format!("no flow before this one is called \"{}\"", named.value);
        cx.error("unknown-name", named.place, message)
            .names(&named.value, names.iter().map(String::as_str));
        return;
    };

    // The connection that follows is opened by the same program, so on the same host.
    let from = |own: &written::Flow| {
        let direction = own.direction.as_ref().map(|at| at.value);
        (direction, neighbours::named([&own.from, &None]))
    };
    if from(before) != from(flow) {
        let message = format!("\"{}\" begins at another host", named.value);
        cx.error("conflict", named.place, message).expected("a flow from the same host");
    }

    // Copies pair by number, so both need equally many.
    if Connections::of(before).all() != Connections::of(flow).all() {
        let message = format!("\"{}\" is not as many connections as this flow", named.value);
        cx.error("conflict", named.place, message).expected("the same `count`, and no `again`");
    }

    // Two flows after one would have to share its end. A flow after itself is reported where it stands.
    let mut others = earlier.iter().filter(|own| own.place != before.place);
    let mut followed = others.by_ref().filter_map(|own| own.after.as_ref()?.value.flow.as_ref());
    if followed.any(|at| at.value == named.value) {
        let message = format!("another flow follows \"{}\", too", named.value);
        cx.error("conflict", named.place, message).expected("one flow after another");
    }
}
