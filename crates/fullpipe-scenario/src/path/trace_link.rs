//! A link that sends when a recorded trace says, with a queue in front of it: mahimahi's `mm-link`. At each opportunity 1504 bytes are sent, which is a packet of 1500 bytes with the 4 bytes that mahimahi counts; after the last one the trace begins anew.

use super::{Impairment, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::{Context, Place};
use crate::format::keys::Default::{Absent, Empty, Required};
use crate::format::keys::{At, group};
use crate::format::values::{Integers, Name};
use crate::path::beside::{Lines, read};
use crate::path::queue::{PathQueue, Queue, queue};
use fullpipe_base::units::{Framing, Rate};
use fullpipe_sim::config;
use serde::Serialize;

group! {
    /// A link that sends when a recorded trace says, with a queue in front of it: mahimahi's `mm-link`. At each opportunity 1504 bytes are sent, which is a packet of 1500 bytes with the 4 bytes that mahimahi counts; after the last one the trace begins anew.
    TraceLinkElement "a trace link" {
        /// "trace-link".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// File of opportunities in mahimahi's format, relative to the scenario: a line of milliseconds for each, not falling; empty lines and those that begin with `#` are passed over.
        trace: String, Absent("`opportunities`");
        /// Opportunities in milliseconds, not falling; the last one is the length of the trace.
        opportunities: Integers<0, { u32::MAX as i64 }>, Absent("`trace`");
        /// Its queue; a packet counts 4 bytes more. By default it holds the delay of both directions at the mean rate.
        queue: PathQueue, Empty;
    }
}

/// A link that sends when a recorded trace says, with a queue in front of it: mahimahi's `mm-link`. At each opportunity 1504 bytes are sent, which is a packet of 1500 bytes with the 4 bytes that mahimahi counts; after the last one the trace begins anew.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceLink {
    /// Stage name.
    pub name: String,
    /// Opportunities in milliseconds, not falling.
    pub opportunities: Vec<u32>,
    /// The queue.
    pub queue: Queue,
}

impl Written for TraceLinkElement {
    type Meaning = TraceLink;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<TraceLink> {
        let queue = queue(needed(&self.queue)?, whole.mtu + HEADER, cx);
        let opportunities = self.opportunities(whole, cx);
        let name = needed(&self.name)?.0.clone();
        Some(TraceLink { name, opportunities: opportunities?, queue: queue? })
    }
}

impl Meaning for TraceLink {
    /// The mean rate, of IP packets that fill an opportunity each.
    fn rate(&self) -> Option<(Rate, Framing)> {
        let period_ms = u64::from(*self.opportunities.last()?);
        let packets = self.opportunities.len() as u64;
        Some((Rate((packets * 1500 * 8 * 1000).checked_div(period_ms)?), Framing::Ip))
    }

    fn queue(&self) -> Option<&Queue> {
        Some(&self.queue)
    }

    fn complete(&mut self, whole: &Whole) {
        if let Some((rate, framing)) = self.rate() {
            self.queue.complete(rate, framing, whole);
        }
    }

    fn impairment(&self, _run: &Surroundings) -> Impairment {
        Impairment::Opportunities { at_ms: self.opportunities.clone(), queue: self.queue.clone() }
    }

    fn config(&self, run: &Surroundings) -> config::Element {
        let (rate, framing) = self.rate().unwrap_or((Rate(0), Framing::Ip));
        config::Element::TraceLink(config::TraceLink {
            name: self.name.clone(),
            opportunities: self.opportunities.clone(),
            limit: self.queue.limit,
            discipline: self.queue.config(rate, framing, run.mtu),
        })
    }
}

/// Bytes by which mahimahi counts more than the IP packet.
const HEADER: u32 = 4;

impl TraceLinkElement {
    fn opportunities(&self, whole: &Whole, cx: &mut Context) -> Option<Vec<u32>> {
        // Exactly one of list and file gives the opportunities.
        let placed = match (&self.opportunities, &self.trace) {
            (Some(list), None) => {
                list.value.0.iter().map(|n| (n.unsigned_abs() as u32, list.place)).collect()
            }
            (None, Some(trace)) => recorded(trace, whole, cx)?,
            (Some(_), Some(trace)) => {
                cx.error("conflict", trace.place, "the link has `opportunities` too")
                    .expected("either `opportunities` or `trace`");
                return None;
            }
            (None, None) if self.wrong => return None,
            (None, None) => {
                cx.error("missing-key", self.place, "a trace link needs `trace`")
                    .expected("trace = \"FILE\", or a list of `opportunities`");
                return None;
            }
        };
        in_order(&placed, cx)?;

        // The trace begins anew after its last time, so its period must not be 0.
        if placed.last().is_none_or(|(last, _)| *last == 0) {
            let place = self.trace.as_ref().map(|at| at.place);
            let place = place.or(self.opportunities.as_ref().map(|at| at.place))?;
            cx.error("bad-value", place, "there is no opportunity after 0")
                .expected("opportunities in milliseconds, the last one above 0");
            return None;
        }
        Some(placed.into_iter().map(|(at, _)| at).collect())
    }
}

/// The opportunities of a file.
fn recorded(trace: &At<String>, whole: &Whole, cx: &mut Context) -> Option<Vec<(u32, Place)>> {
    let (text, source) = read(trace, whole, cx)?;
    let mut number = |(line, place): (&str, Place)| {
        let number = line.parse().ok();
        if number.is_none() {
            cx.error("bad-value", place, "not a number of milliseconds")
                .expected("an integer from 0 to 4294967295");
        }
        Some((number?, place))
    };
    let numbers: Vec<_> = Lines::of(&text, source).map(&mut number).collect();
    numbers.into_iter().collect()
}

/// Opportunities do not fall.
fn in_order(placed: &[(u32, Place)], cx: &mut Context) -> Option<()> {
    let falls = placed.windows(2).find(|pair| pair[1].0 < pair[0].0);
    let Some([(before, _), (at, place)]) = falls else { return Some(()) };
    cx.error("out-of-range", *place, format!("an opportunity at {at} ms after one at {before} ms"))
        .expected(format!("at least {before}"));
    None
}
