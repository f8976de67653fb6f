//! Finding values in a recording by flow or stage and time. A counter at a moment is its value at
//! the last sample not later than that; nothing is interpolated.

use super::picture::host;
use super::{FlowMeta, RunMeta};
use crate::trace::recording::Recording;
use crate::trace::schema::Row;
use fullpipe_sim::config::Direction;
use fullpipe_sim::trace::{Event, EventKind, FlowSample, StageInfo, StageSample};
use fullpipe_sim::units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// The samples of one flow and what happened to it, each in order of time.
pub struct FlowTrace<'a> {
    pub samples: Vec<&'a FlowSample>,
    pub events: Vec<&'a Event>,
    blank: FlowSample,
}

impl<'a> FlowTrace<'a> {
    /// From the samples of one flow.
    pub fn new(samples: Vec<&'a FlowSample>) -> FlowTrace<'a> {
        FlowTrace { samples, events: Vec::new(), blank: FlowSample::blank() }
    }
}

impl FlowTrace<'_> {
    /// The first event of that kind.
    fn first(&self, kind: EventKind) -> Option<&Event> {
        self.events.iter().copied().find(|event| event.kind == kind)
    }

    /// Number of samples not later than `time`.
    pub fn count(&self, time: Time) -> usize {
        self.samples.partition_point(|sample| sample.time <= time)
    }

    /// The last sample not later than `time`; zeros before the first.
    pub fn at(&self, time: Time) -> &FlowSample {
        self.before(self.count(time))
    }

    /// The last of the first `count` samples; zeros where there is none.
    pub fn before(&self, count: usize) -> &FlowSample {
        let last = count.min(self.samples.len()).checked_sub(1);
        last.map_or(&self.blank, |last| self.samples[last])
    }

    /// The last sample.
    pub fn last(&self) -> &FlowSample {
        self.before(self.samples.len())
    }
}

/// The samples of one stage in order of time.
pub struct StageTrace<'a> {
    pub samples: Vec<&'a StageSample>,
}

impl StageTrace<'_> {
    /// What waits in it, added up over all samples.
    fn waiting(&self) -> u128 {
        self.samples.iter().map(|sample| u128::from(sample.waiting)).sum()
    }

    /// The samples after `from` and not later than `to`.
    pub fn within(&self, from: Time, to: Time) -> &[&StageSample] {
        let start = self.samples.partition_point(|sample| sample.time <= from);
        let end = self.samples.partition_point(|sample| sample.time <= to);
        &self.samples[start..end.max(start)]
    }

    /// The last sample not later than `time`; zeros before the first.
    pub fn at(&self, time: Time) -> StageSample {
        let count = self.samples.partition_point(|sample| sample.time <= time);
        count.checked_sub(1).map_or_else(StageSample::default, |last| *self.samples[last])
    }
}

/// A recording sorted by flow and way.
pub struct Traces<'a> {
    pub flows: Vec<FlowTrace<'a>>,
    /// By the direction of flows.
    pub ways: [Way<'a>; 2],
    /// The CPUs of hosts that have ends of flows, by the hosts' names.
    pub cpus: BTreeMap<String, StageTrace<'a>>,
}

/// What flows of a direction pass.
pub struct Way<'a> {
    /// Links that can be the bottleneck, and the cards of all hosts that send.
    links: Vec<(&'a StageInfo, StageTrace<'a>)>,
    /// Where packets wait in front of the bottleneck.
    pub queue: Option<StageTrace<'a>>,
}

/// What works for one flow, where the trace has it.
pub struct Passed<'t, 'a> {
    /// Links that can be its bottleneck, its sender's card among them.
    pub links: Vec<&'t StageTrace<'a>>,
    /// The CPUs of its sender and of its receiver.
    pub cpus: [Option<&'t StageTrace<'a>>; 2],
}

impl<'a> Traces<'a> {
    pub fn new(meta: &RunMeta, recording: &'a Recording) -> Traces<'a> {
        let mut flows: Vec<FlowTrace> =
            (0..meta.flows.len()).map(|_| FlowTrace::new(Vec::new())).collect();
        for sample in &recording.flows {
            if let Some(flow) = flows.get_mut(usize::from(sample.flow)) {
                flow.samples.push(sample);
            }
        }
        for event in &recording.events {
            if let Some(flow) = flows.get_mut(usize::from(event.flow)) {
                flow.events.push(event);
            }
        }
        let way = |way: Direction| {
            let longer = |a: StageTrace<'a>, b: StageTrace<'a>| {
                if a.waiting() >= b.waiting() { a } else { b }
            };
            let (links, queues) = (&meta.way(way).bottlenecks, &meta.way(way).queues);
            let queues = queues.iter().filter_map(|name| stage(recording, name));
            Way {
                links: links.iter().filter_map(|name| told(recording, name)).collect(),
                queue: queues.reduce(longer),
            }
        };
        let ways = [way(Direction::Forward), way(Direction::Backward)];
        let names: BTreeSet<&String> = meta.flows.iter().flat_map(|flow| &flow.hosts).collect();
        let cpu = |name: &String| Some((name.clone(), stage(recording, &format!("{name}.cpu"))?));
        let cpus = names.into_iter().filter_map(cpu).collect();
        Traces { flows, ways, cpus }
    }

    /// What works for a flow.
    pub fn passed(&self, about: &FlowMeta) -> Passed<'_, 'a> {
        let links = self.ways[about.direction as usize].links.iter();
        let own = links.filter(|(info, _)| is_of(info, &about.hosts[..1]));
        Passed {
            links: own.map(|(_, link)| link).collect(),
            cpus: [0, 1].map(|end| self.cpus.get(&about.hosts[end])),
        }
    }
}

/// The way of that direction, as stages name it.
pub fn way_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Backward => "back",
    }
}

/// Whether a stage lies between the hosts, or belongs to one of these.
pub fn is_of(info: &StageInfo, hosts: &[String]) -> bool {
    host(info).is_none_or(|host| hosts.iter().any(|own| own == host))
}

/// The samples of the stage of that name.
pub fn stage<'a>(recording: &'a Recording, name: &str) -> Option<StageTrace<'a>> {
    told(recording, name).map(|(_, trace)| trace)
}

fn told<'a>(recording: &'a Recording, name: &str) -> Option<(&'a StageInfo, StageTrace<'a>)> {
    let info = recording.stages.iter().find(|info| info.name == name)?;
    let samples = recording.stage_samples.iter().filter(|sample| sample.stage == info.index);
    Some((info, StageTrace { samples: samples.collect() }))
}

/// The moments between which things are counted.
pub struct Lives {
    /// Per flow.
    pub flows: Vec<Life>,
    /// Last sample of the run.
    pub end: Time,
}

/// The life of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    /// The application connects, or the program of a mount begins.
    pub start: Time,
    /// The interval clock starts.
    pub clock: Time,
    /// Everything was read, or the connection was given up, or the run ends.
    pub end: Time,
    /// Whether everything was read.
    pub complete: bool,
    /// The kernel gave the connection up at `end`, and one side was told so with this errno.
    pub aborted: Option<u64>,
}

impl Lives {
    pub fn new(meta: &RunMeta, recording: &Recording, traces: &Traces) -> Lives {
        let last_flow = recording.flows.last().map_or(Time::ZERO, |sample| sample.time);
        let last_stage = recording.stage_samples.last().map_or(Time::ZERO, |sample| sample.time);
        let end = last_flow.max(last_stage);
        let life = |(index, flow): (usize, &FlowMeta)| {
            let trace = &traces.flows[index];
            let when = |kind| trace.first(kind).map(|event| event.time);
            let accepted = when(EventKind::Accepted).or(when(EventKind::Established));
            let clock = accepted.unwrap_or(flow.start).saturating_sub(meta.clock_offset);
            let read = when(EventKind::Finished);
            // What comes after everything was read ends nothing.
            let aborted = trace
                .first(EventKind::Aborted)
                .filter(|event| read.is_none_or(|read| event.time < read));
            let finished = match aborted {
                Some(_) => None,
                None => read.or_else(|| accepted.and(drained(flow, trace))),
            };
            let complete = finished.is_some_and(|time| time <= end);
            let over = finished.or(aborted.map(|event| event.time)).unwrap_or(end).min(end);
            let aborted = aborted.map(|event| event.value);
            // What mounts and opens files comes before the program does.
            let start = accepted.filter(|_| meta.is_of_mount(index)).unwrap_or(flow.start);
            Life { start, clock, end: over, complete, aborted }
        };
        Lives { flows: meta.flows.iter().enumerate().map(life).collect(), end }
    }
}

/// When the receiver had read everything that an application which stops by time has written: at
/// the last delivery, if nothing is under way at the end. Not before the application stops.
fn drained(flow: &FlowMeta, trace: &FlowTrace) -> Option<Time> {
    let (stop, last) = (flow.stop?, trace.last());
    let under_way = last.unsent > 0 || last.in_flight > 0;
    if last.time < stop || under_way || last.bytes_acked != last.bytes_delivered {
        return None;
    }
    let before = trace.samples.partition_point(|s| s.bytes_delivered < last.bytes_delivered);
    Some(trace.samples.get(before)?.time.max(stop))
}

/// A moment of a flow's life in seconds since its interval clock started; below 0 before that.
pub fn since_clock(life: &Life, time: Time) -> f64 {
    time.as_secs_f64() - life.clock.as_secs_f64()
}

/// Payload rate in Mb/s (10^6); 0 over no time.
pub fn mbit(bytes: u64, span: Time) -> f64 {
    match span.as_ns() {
        0 => 0.0,
        ns => bytes as f64 * 8e3 / ns as f64,
    }
}
