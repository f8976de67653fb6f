//! A rate that changes at given times, with a queue in front of it. A packet in transmission goes on at the new rate; at rate 0 nothing is sent.

use super::{Impairment, Meaning, Sending, Surroundings, Whole, Written, needed};
use crate::format::context::{Context, Place};
use crate::format::keys::Default::{Absent, Empty, Is, Required};
use crate::format::keys::{At, Read, group};
use crate::format::node::Node;
use crate::format::values::{AnyTime, InRate, List, Name, Quantity};
use crate::path::beside::{Lines, read};
use crate::path::queue::{PathQueue, Queue, queue};
use crate::show;
use fullpipe_base::units::{Framing, Rate, Time};
use fullpipe_sim::config;
use serde::Serialize;

group! {
    /// A rate that changes at given times, with a queue in front of it. A packet in transmission goes on at the new rate; at rate 0 nothing is sent.
    VaryingLinkElement "a varying link" {
        /// "varying-link".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Rate from the start until the first step.
        rate: RateOrNone, Absent("needed unless the first step is at 0s");
        /// Changes of the rate, in order of time.
        steps: List<StepTable>, Absent("`trace`");
        /// File of changes instead, relative to the scenario: CSV, a line such as `5s,1Gbit` for each; empty lines, those that begin with `#` and a head `time,rate` are passed over.
        trace: String, Absent("`steps`");
        /// What the rate and a queue in bytes count.
        framing: Framing, Is("ethernet-wire");
        /// Its queue. By default it holds the delay of both directions at the highest rate.
        queue: PathQueue, Empty;
    }
}

/// A rate that changes at given times, with a queue in front of it. A packet in transmission goes on at the new rate; at rate 0 nothing is sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VaryingLink {
    /// Stage name.
    pub name: String,
    /// Rates, each from its time on; the first one at 0.
    pub steps: Vec<RateStep>,
    /// Bytes that the rate counts for each packet.
    #[serde(serialize_with = "show::framing")]
    pub framing: Framing,
    /// The queue.
    pub queue: Queue,
}

impl Written for VaryingLinkElement {
    type Meaning = VaryingLink;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<VaryingLink> {
        let framing = *needed(&self.framing)?;
        let queue = queue(needed(&self.queue)?, whole.mtu + framing.overhead(), cx);
        let steps = self.steps(whole, cx);
        let name = needed(&self.name)?.0.clone();
        Some(VaryingLink { name, steps: steps?, framing, queue: queue? })
    }
}

impl Meaning for VaryingLink {
    fn rate(&self) -> Option<(Rate, Framing)> {
        Some((self.steps.iter().map(|step| step.rate).max()?, self.framing))
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
        Impairment::Rate(Sending {
            steps: self.steps.clone(),
            framing: self.framing,
            queue: self.queue.clone(),
        })
    }

    fn config(&self, run: &Surroundings) -> config::Element {
        let steps = self.steps.iter();
        let first = self.steps.first().map_or(Rate(0), |step| step.rate);
        config::Element::VaryingLink(config::VaryingLink {
            name: self.name.clone(),
            steps: steps.map(|step| config::RateStep { at: step.at, rate: step.rate }).collect(),
            framing: self.framing,
            limit: self.queue.limit,
            discipline: self.queue.config(first, self.framing, run.mtu),
        })
    }
}

/// A rate or none.
type RateOrNone = Quantity<InRate, 0, 1_000_000_000_000_000>;

group! {
    /// A change of a rate.
    StepTable "a step" {
        /// When it begins.
        at: AnyTime, Required;
        /// The rate from then on; 0bit is an outage.
        rate: RateOrNone, Required;
    }
}

/// A rate and when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RateStep {
    /// When it begins.
    #[serde(serialize_with = "show::shown")]
    pub at: Time,
    /// The rate; 0 is an outage.
    #[serde(serialize_with = "show::shown")]
    pub rate: Rate,
}

/// Steps with the places where they are written.
type Placed = Vec<(RateStep, Place)>;

impl VaryingLinkElement {
    fn steps(&self, whole: &Whole, cx: &mut Context) -> Option<Vec<RateStep>> {
        // Exactly one of list and file gives the steps.
        let mut steps = match (&self.steps, &self.trace) {
            (Some(steps), None) => listed(&steps.value.0)?,
            (None, Some(trace)) => recorded(trace, whole, cx)?,
            (Some(_), Some(trace)) => {
                cx.error("conflict", trace.place, "the link has `steps` too")
                    .expected("either `steps` or `trace`");
                return None;
            }
            (None, None) if self.wrong => return None,
            (None, None) => {
                cx.error("missing-key", self.place, "a varying link needs `steps` or `trace`")
                    .expected("steps = [{ at = \"5s\", rate = \"1Gbit\" }]");
                return None;
            }
        };

        // The start's rate comes first, so that the order is checked with it.
        self.begin(&mut steps, cx)?;
        in_order(&steps, cx)?;
        Some(steps.into_iter().map(|(step, _)| step).collect())
    }

    /// Puts the rate of the start in front.
    fn begin(&self, steps: &mut Placed, cx: &mut Context) -> Option<()> {
        let first = steps.first().map(|(step, _)| step.at);

        // The rate at time 0 must be given exactly once.
        match (&self.rate, first) {
            (Some(rate), Some(Time::ZERO)) => {
                cx.error("conflict", rate.place, "the first step is at 0s, too")
                    .expected("either `rate`, or a step at 0s");
                None
            }
            (Some(rate), _) => {
                let step = RateStep { at: Time::ZERO, rate: Rate(rate.value.0) };
                steps.insert(0, (step, rate.place));
                Some(())
            }
            (None, Some(Time::ZERO)) => Some(()),
            (None, _) => {
                cx.error("missing-key", self.place, "the rate before the first step is not given")
                    .expected("`rate`, or a step at 0s");
                None
            }
        }
    }
}

fn listed(tables: &[StepTable]) -> Option<Placed> {
    tables
        .iter()
        .map(|table| {
            let (at, rate) = (needed(&table.at)?.0, needed(&table.rate)?.0);
            Some((RateStep { at: Time::ns(at), rate: Rate(rate) }, table.place))
        })
        .collect()
}

/// The steps of a CSV file.
fn recorded(trace: &At<String>, whole: &Whole, cx: &mut Context) -> Option<Placed> {
    let (text, source) = read(trace, whole, cx)?;
    let lines = Lines::of(&text, source).filter(|(line, _)| *line != "time,rate");
    let steps: Vec<_> = lines.map(|(line, place)| recorded_step(line, place, cx)).collect();
    if steps.is_empty() {
        cx.error("bad-value", trace.place, "the file has no line of a time and a rate")
            .expected("lines such as 5s,1Gbit");
        return None;
    }
    steps.into_iter().collect()
}

fn recorded_step(line: &str, place: Place, cx: &mut Context) -> Option<(RateStep, Place)> {
    let Some((at, rate)) = line.split_once(',') else {
        cx.error("bad-value", place, "not a time and a rate").expected("a line such as 5s,1Gbit");
        return None;
    };
    let node = |text: &str| Node::bare(text.trim(), place);
    let at = AnyTime::read(&node(at), "time", cx);
    let rate = RateOrNone::read(&node(rate), "rate", cx);
    Some((RateStep { at: Time::ns(at?.0), rate: Rate(rate?.0) }, place))
}

/// Times rise, and in the end something passes.
fn in_order(steps: &Placed, cx: &mut Context) -> Option<()> {
    for pair in steps.windows(2) {
        let ((before, _), (step, place)) = (&pair[0], &pair[1]);
        if step.at <= before.at {
            cx.error(
                "out-of-range",
                *place,
                format!("a step at {} after one at {}", step.at, before.at),
            )
            .expected(format!("later than {}", before.at));
            return None;
        }
    }

    // A rate of 0 may come in between: the link is down for a while.
    let (last, place) = steps.last()?;
    if last.rate.0 == 0 {
        cx.error("out-of-range", *place, "the last rate is 0: nothing would pass any more")
            .expected("a rate above 0");
        return None;
    }
    Some(())
}
