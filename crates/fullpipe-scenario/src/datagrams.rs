//! Datagrams: their keys, and their checks.
//!
//! Limits:
//! - A scenario with datagrams also needs a TCP flow. Datagrams have counters in the trace, but no intervals and no
//!   figure over time.

use super::format::context::Context;
use super::format::keys::At;
use super::format::values::{SomeTime, twice};
use super::neighbours;
use super::resolved::{DatagramKind, DatagramReader, Datagrams, Flow, Neighbour};
use super::written;
use fullpipe_base::units::{Rate, Time};

/// Headers of IP and UDP, or of IP and an ICMP echo, bytes.
const HEADERS: u32 = 28;
/// Payload of ping's packets, bytes.
const PING_SIZE: u32 = 56;

/// The datagrams that `run` describes, on a path of that MTU. None if any cannot be read.
pub(super) fn resolve(
    run: &written::Run,
    mtu: u32,
    flows: &[Flow],
    neighbours: &[Neighbour],
    cx: &mut Context,
) -> Option<Vec<Datagrams>> {
    let Some(written) = &run.datagrams else { return Some(Vec::new()) };
    let all = &written.value.0;
    let named = all.iter().filter_map(|own| own.name.as_ref());
    let named: Vec<_> = named.map(|name| (name.value.0.as_str(), name.place)).collect();
    twice(&named, "datagrams", cx);

    // Names are keys of expectations, where flows and datagrams share a space.
    for (name, place) in named {
        if flows.iter().any(|flow| flow.name == name) {
            cx.error("duplicate-name", place, format!("a flow is named `{name}`, too"))
                .expected("another name");
        }
    }

    // Errors of one entry drop all: a run without it would be another run.
    let before = cx.reports();
    let resolved = all.iter().map(|own| one(own, mtu, neighbours, cx)).collect::<Vec<_>>();
    resolved.into_iter().collect::<Option<_>>().filter(|_| cx.reports() == before)
}

fn one(
    own: &written::Datagrams,
    mtu: u32,
    neighbours: &[Neighbour],
    cx: &mut Context,
) -> Option<Datagrams> {
    let kind = own.kind.as_ref()?;
    let name = own.name.as_ref()?.value.0.clone();
    let direction = own.direction.as_ref()?.value;
    neighbours::ends_fit([&own.from, &own.to], direction, neighbours, cx);

    // Each kind has its own way to say how often it sends.
    let (rate, interval) = match kind.value {
        DatagramKind::Udp => {
            alien(&own.interval, "interval", "\"udp\", which has a `rate`", cx);
            let Some(rate) = &own.rate else {
                return missing(kind, "rate", "rate = \"100Mbit\"", cx);
            };
            (Some(Rate(rate.value.0)), None)
        }
        DatagramKind::Ping => {
            alien(&own.rate, "rate", "\"ping\", which has an `interval`", cx);
            alien(&own.rcvbuf, "rcvbuf", "\"ping\", which the kernel answers", cx);
            alien(&own.reader, "reader", "\"ping\", which the kernel answers", cx);
            (None, Some(own.interval.as_ref().map_or(Time::secs(1), |at| Time::ns(at.value.0))))
        }
    };

    // ping has a usual size, UDP has none.
    let size = match (&own.size, kind.value) {
        (Some(size), _) => size.value.0 as u32,
        (None, DatagramKind::Ping) => PING_SIZE,
        (None, DatagramKind::Udp) => return missing(kind, "size", "size = \"1472B\"", cx),
    };
    if size > mtu.saturating_sub(HEADERS) {
        let place = own.size.as_ref().map_or(own.place, |size| size.place);
        cx.error(
            "out-of-range",
            place,
            format!("{size} bytes and {HEADERS} of headers do not fit"),
        )
        .expected(format!("at most {} bytes, as the MTU is {mtu}", mtu.saturating_sub(HEADERS)));
    }
    let duration = own.duration.as_ref().map(|at| Time::ns(at.value.0));
    let count = own.count.as_ref();

    // Without an end the run would have none either.
    if duration.is_none() && count.is_none() {
        cx.error("missing-key", own.place, format!("datagrams `{name}` never end"))
            .expected("`duration` or `count`");
        return None;
    }
    let [from, to] = neighbours::named([&own.from, &own.to]);
    Some(Datagrams {
        name,
        kind: kind.value,
        direction,
        from,
        to,
        size,
        rate,
        interval,
        rcvbuf: own.rcvbuf.as_ref().map(|at| at.value.0),
        reader: match &own.reader {
            Some(at) => Some(reader(at, cx)?),
            None => None,
        },
        start: Time::ns(own.start.as_ref()?.value.0),
        duration,
        count: count.map(|at| at.value.0 as u64),
    })
}

/// A reader: a rate, pauses, or both.
fn reader(at: &At<written::DatagramReader>, cx: &mut Context) -> Option<DatagramReader> {
    let own = &at.value;
    let time = |at: &Option<At<SomeTime>>| at.as_ref().map(|at| Time::ns(at.value.0));

    // Times of reading and pausing make sense only together.
    let alone = match (&own.on, &own.off) {
        (Some(on), None) => Some((on.place, "on", "off")),
        (None, Some(off)) => Some((off.place, "off", "on")),
        _ => None,
    };
    if let Some((place, has, lacks)) = alone {
        cx.error("missing-key", place, format!("a reader with `{has}` needs `{lacks}` too"))
            .expected("both: how long it reads and how long it pauses");
        return None;
    }

    // An empty reader would change nothing: it is a slip.
    if own.rate.is_none() && own.on.is_none() {
        cx.error("missing-key", at.place, "a reader with neither a rate nor pauses")
            .expected("{ rate = \"100Mbit\" } or { on = \"1s\", off = \"20ms\" }");
        return None;
    }
    let rate = own.rate.as_ref().map(|at| Rate(at.value.0));
    Some(DatagramReader { rate, on: time(&own.on), off: time(&own.off) })
}

/// Reports a key that datagrams of this kind do not have.
fn alien<T>(at: &Option<At<T>>, key: &str, kind: &str, cx: &mut Context) {
    if let Some(at) = at {
        cx.error("conflict", at.place, format!("`{key}` of datagrams of kind {kind}"))
            .expected(format!("no `{key}`"));
    }
}

fn missing<T>(kind: &At<DatagramKind>, key: &str, example: &str, cx: &mut Context) -> Option<T> {
    cx.error("missing-key", kind.place, format!("datagrams of kind \"udp\" need `{key}`"))
        .expected(example);
    None
}

impl Datagrams {
    /// When the last one has been sent, or would be.
    pub fn end(&self) -> Time {
        let each = match (self.rate, self.interval) {
            (Some(rate), _) => rate.time_for(self.size.into()),
            (_, interval) => interval.unwrap_or_default(),
        };
        let counted = self.count.map(|count| Time(each.0.saturating_mul(count)));
        let lasts = self.duration.into_iter().chain(counted).min().unwrap_or_default();
        Time(self.start.0.saturating_add(lasts.0))
    }
}
