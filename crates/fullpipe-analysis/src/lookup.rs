//! Finding values in a recording by flow or stage and time. A counter at a moment is its value at
//! the last sample not later than that; nothing is interpolated.

use super::picture::host;
use crate::meta::{FlowMeta, RunMeta};
use fullpipe_base::path::Direction;
use fullpipe_base::trace::{Event, EventKind, FlowSample, StageInfo, StageSample};
use fullpipe_base::units::Time;
use fullpipe_trace::recording::Recording;
use fullpipe_trace::schema::Row;
use std::collections::BTreeMap;

/// The samples and events of one flow, each in order of time.
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
    pub fn first(&self, kind: EventKind) -> Option<&Event> {
        self.events.iter().copied().find(|event| event.kind == kind)
    }

    /// Number of samples not later than `time`.
    pub fn count(&self, time: Time) -> usize {
        until(&self.samples, time, |sample| sample.time)
    }

    /// The samples after `from` and not later than `to`; none where damaged samples are out of order.
    pub fn within(&self, from: Time, to: Time) -> &[&FlowSample] {
        between(&self.samples, [from, to].map(|time| self.count(time)))
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
    /// Waiting units of the stage, added up over all samples.
    pub fn waiting(&self) -> u128 {
        self.samples.iter().map(|sample| u128::from(sample.waiting)).sum()
    }

    /// The samples after `from` and not later than `to`.
    pub fn within(&self, from: Time, to: Time) -> &[&StageSample] {
        between(&self.samples, [from, to].map(|time| self.count(time)))
    }

    /// Number of samples not later than `time`.
    fn count(&self, time: Time) -> usize {
        until(&self.samples, time, |sample| sample.time)
    }

    /// The last sample not later than `time`; zeros before the first.
    pub fn at(&self, time: Time) -> StageSample {
        self.latest(time).copied().unwrap_or_default()
    }

    /// The last sample not later than `time`; none before the first.
    pub fn latest(&self, time: Time) -> Option<&StageSample> {
        self.count(time).checked_sub(1).map(|last| self.samples[last])
    }

    /// The last sample; zeros where there is none.
    pub fn last(&self) -> StageSample {
        self.samples.last().map_or_else(StageSample::default, |sample| **sample)
    }
}

/// The samples from one place to another; none where the second is before the first.
fn between<T>(samples: &[T], [start, end]: [usize; 2]) -> &[T] {
    &samples[start..end.max(start)]
}

/// Number of samples not later than `time`. Samples are mostly at even pace, so the first guess is nearly always right.
fn until<T>(samples: &[&T], time: Time, of: impl Fn(&T) -> Time) -> usize {
    let [Some(first), Some(last)] =
        [samples.first(), samples.last()].map(|at| at.map(|own| of(own)))
    else {
        return 0;
    };
    let (ns, span) = (time.saturating_sub(first).as_ns(), last.saturating_sub(first).as_ns());
    // A sample's own time is rounded up to that sample.
    let guess = ns as f64 / span.max(1) as f64 * (samples.len() - 1) as f64 + 1e-6;
    let guess = (guess as usize).min(samples.len() - 1);
    let is_later = |at: usize| samples.get(at).is_none_or(|own| of(own) > time);
    match !is_later(guess) && is_later(guess + 1) {
        true => guess + 1,
        false => samples.partition_point(|own| of(own) <= time),
    }
}

/// A stage and its samples.
pub type SampledStage<'a> = (&'a StageInfo, StageTrace<'a>);

/// A recording sorted by flow and stage.
pub struct Traces<'a> {
    pub flows: Vec<FlowTrace<'a>>,
    /// Stages in the recording's order, which is the packets' order.
    pub stages: Vec<SampledStage<'a>>,
    /// Indices in `stages`, by the direction of flows: links that can be the bottleneck, and the cards of all hosts
    /// that send.
    bottlenecks: [Vec<usize>; 2],
    /// Likewise: where packets wait in front of the bottleneck.
    queues: [Option<usize>; 2],
}

/// Host of a stage, as "receiver" of "receiver.rx_ring".
pub fn host_of(place: &str) -> &str {
    place.rsplit_once('.').map_or(place, |(host, _)| host)
}

/// The stages of a host's card and of the queue in front of it.
pub fn card(host: &str) -> [String; 2] {
    ["qdisc", "tx_ring"].map(|stage| format!("{host}.{stage}"))
}

/// Stages and facts that may limit one flow, where the trace has them.
pub struct Passed<'t, 'a> {
    /// Links that can be its bottleneck.
    pub links: Vec<&'t StageTrace<'a>>,
    /// Stages of the sender's card.
    pub card: Vec<&'t StageTrace<'a>>,
    /// Whether other flows take the same path.
    pub shared: bool,
    /// Its sender's qdisc, where that has a rate to hold it to.
    pub shaper: Option<&'t SampledStage<'a>>,
    /// Links that can be the bottleneck of its ACKs.
    pub links_back: Vec<&'t StageTrace<'a>>,
    /// Whether data of other flows takes the ACKs' path.
    pub shared_back: bool,
    /// Whether a pace is configured.
    pub paced: bool,
    /// Whether both hosts offer SACK.
    pub sack: bool,
    /// Least round trip of the trace, where one was measured.
    pub base_rtt: Option<Time>,
    /// The CPUs of its sender and of its receiver.
    pub cpus: [Option<&'t StageTrace<'a>>; 2],
}

impl<'a> Traces<'a> {
    pub fn new(meta: &RunMeta, recording: &'a Recording) -> Traces<'a> {
        let mut flows: Vec<FlowTrace> =
            (0..meta.flows.len()).map(|_| FlowTrace::new(Vec::new())).collect();

        // Samples of flows that the plan does not know are left out: a damaged recording must not panic.
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
        let stages = by_stage(recording);
        let ways = [Direction::Forward, Direction::Backward].map(|way| meta.way(way));

        // Names without a stage in the recording are left out.
        let all = |names: &Vec<String>| {
            names
                .iter()
                .filter_map(|name| stages.iter().position(|(info, _)| info.name == *name))
                .collect::<Vec<usize>>()
        };
        Traces {
            flows,
            bottlenecks: ways.map(|way| all(&way.bottlenecks)),
            // Of several queues the one with the most waiting holds the bottleneck's packets.
            queues: ways.map(|way| {
                all(&way.queues).into_iter().reduce(|a, b| {
                    if stages[a].1.waiting() >= stages[b].1.waiting() { a } else { b }
                })
            }),
            stages,
        }
    }

    /// The samples of the stage of that name.
    pub fn stage(&self, name: &str) -> Option<&StageTrace<'a>> {
        let found = self.stages.iter().find(|(info, _)| info.name == name);
        found.map(|(_, stage)| stage)
    }

    /// Where packets of flows of that direction wait in front of the bottleneck.
    pub fn queue(&self, direction: Direction) -> Option<&StageTrace<'a>> {
        self.queues[direction as usize].map(|at| &self.stages[at].1)
    }

    /// Links that can be the bottleneck of a flow's ACKs.
    pub fn links_back(&self, about: &FlowMeta) -> impl Iterator<Item = &SampledStage<'a>> {
        let all = &self.bottlenecks[about.direction.turned() as usize];
        all.iter().map(|at| &self.stages[*at]).filter(|(info, _)| host(info).is_none())
    }

    /// Possible bottlenecks of a flow, without the cards of other hosts.
    pub fn bottlenecks(&self, about: &FlowMeta) -> impl Iterator<Item = &SampledStage<'a>> {
        let all = self.bottlenecks[about.direction as usize].iter().map(|at| &self.stages[*at]);
        all.filter(|(info, _)| is_of(info, &about.hosts[..1]))
    }

    /// The stages of one direction that lie between the hosts or belong to one of them.
    pub fn on_the_way(
        &self,
        way: Direction,
        hosts: &[String],
    ) -> impl Iterator<Item = &SampledStage<'a>> {
        self.stages
            .iter()
            .filter(move |(info, _)| info.direction == way.way() && is_of(info, hosts))
    }

    /// Stages and facts that may limit a flow.
    pub fn passed(&self, meta: &RunMeta, lives: &Lives, index: usize) -> Passed<'_, 'a> {
        let about = &meta.flows[index];

        // A bottleneck that a host owns is its card; all others are links.
        let (card, links): (Vec<_>, Vec<_>) =
            self.bottlenecks(about).partition(|(info, _)| host(info).is_some());
        Passed {
            links_back: self.links_back(about).map(|(_, stage)| stage).collect(),
            shared_back: meta.flows.iter().any(|flow| flow.direction != about.direction),
            paced: about.settings.pace.is_some(),
            sack: about.settings.without_sack.is_empty(),
            base_rtt: self.flows[index].least_rtt(),
            links: links.into_iter().map(|(_, stage)| stage).collect(),
            card: card.into_iter().map(|(_, stage)| stage).collect(),
            shared: meta.shares_its_way(lives, index),
            shaper: self.stages.iter().find(|(info, _)| about.shaper.as_ref() == Some(&info.name)),
            cpus: about.hosts.each_ref().map(|name| self.stage(&format!("{name}.cpu"))),
        }
    }
}

/// The samples of each stage, in the recording's order.
fn by_stage(recording: &Recording) -> Vec<SampledStage<'_>> {
    let mut stages: Vec<SampledStage> =
        recording.stages.iter().map(|info| (info, StageTrace { samples: Vec::new() })).collect();
    let places: BTreeMap<u16, usize> =
        stages.iter().enumerate().map(|(at, (info, _))| (info.index, at)).collect();
    for sample in &recording.stage_samples {
        if let Some(at) = places.get(&sample.stage) {
            stages[*at].1.samples.push(sample);
        }
    }
    stages
}

/// Whether a stage lies between the hosts, or belongs to one of them.
pub fn is_of(info: &StageInfo, hosts: &[String]) -> bool {
    host(info).is_none_or(|host| hosts.iter().any(|own| own == host))
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
    /// Whether it does so: the connections of a loop may end before their number.
    pub begins: bool,
    /// The interval clock starts.
    pub clock: Time,
    /// Everything was read, or the connection was given up, or the run ends.
    pub end: Time,
    /// Whether everything was read.
    pub complete: bool,
    /// The kernel gave the connection up at `end`, and one side got this errno.
    pub aborted: Option<u64>,
}

impl Life {
    /// The life of flow `index` in a run that ends at `end`.
    fn new(meta: &RunMeta, index: usize, trace: &FlowTrace, end: Time) -> Life {
        let flow = &meta.flows[index];
        let when = |kind| trace.first(kind).map(|event| event.time);

        // Without an accept the client's handshake begins the life.
        let accepted = when(EventKind::Accepted).or(when(EventKind::Established));

        // Only a flow that follows another one has a beginning of its own.
        let begun = when(EventKind::Began).filter(|_| flow.follows);
        let connects = begun.unwrap_or(flow.start);
        let clock = accepted.unwrap_or(connects).saturating_sub(meta.clock_offset);
        let read = read_all(flow, trace);

        // An event after everything was read ends nothing.
        let aborted = trace
            .first(EventKind::Aborted)
            .filter(|event| when(EventKind::Finished).is_none_or(|ended| event.time < ended));
        let finished = match aborted {
            Some(_) => None,
            // A flow without a reader's event ends when its last byte has arrived.
            None => read.or_else(|| accepted.and(drained(flow, connects, trace))),
        };
        let complete = finished.is_some_and(|time| time <= end);
        let over = finished.or(aborted.map(|event| event.time)).unwrap_or(end).min(end);
        let aborted = aborted.map(|event| event.value);

        // Mounting and opening files precede the program.
        let start = accepted.filter(|_| meta.is_of_mount(index)).unwrap_or(connects);

        // A flow whose predecessor never ended has no life.
        let begins = !flow.follows || begun.is_some();
        if !begins {
            let (complete, aborted) = (false, None);
            return Life { start: end, begins, clock: end, end, complete, aborted };
        }
        Life { start, begins, clock, end: over, complete, aborted }
    }
}

impl Lives {
    pub fn new(meta: &RunMeta, recording: &Recording, traces: &Traces) -> Lives {
        let last_flow = recording.flows.last().map_or(Time::ZERO, |sample| sample.time);
        let last_stage = recording.stage_samples.last().map_or(Time::ZERO, |sample| sample.time);
        let end = last_flow.max(last_stage);
        let flows =
            (0..meta.flows.len()).map(|index| Life::new(meta, index, &traces.flows[index], end));
        Lives { flows: flows.collect(), end }
    }
}

/// Time at which the receiver read the last byte, if an event records it. The end of the stream, which engine linux reports
/// of a flow that stops by time, is none: it is later.
fn read_all(flow: &FlowMeta, trace: &FlowTrace) -> Option<Time> {
    let finished = trace.first(EventKind::Finished)?;
    let is_last = flow.stop.is_none() || flow.bytes == Some(finished.value);
    is_last.then_some(finished.time)
}

/// Time at which the receiver has read all data of an application that stops by time: the last delivery, if nothing is
/// in flight at the end. Not before the application stops.
fn drained(flow: &FlowMeta, connects: Time, trace: &FlowTrace) -> Option<Time> {
    let stop = connects + flow.stop?.saturating_sub(flow.start);
    let last = trace.last();
    // A FIN is in flight, and no data.
    let sent = last.bytes_sent.saturating_sub(last.bytes_retransmitted);
    let under_way = last.unsent > 0 || last.in_flight > 0 && last.bytes_acked < sent;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_counts_as_a_search_does() {
        let samples: [&[u64]; 5] =
            [&[], &[7], &[0, 10, 20, 30, 40], &[3, 3, 3, 90], &[0, 1, 2, 1000, 1001, u64::MAX]];
        for times in samples {
            let times: Vec<&u64> = times.iter().collect();
            for at in [0, 1, 2, 3, 7, 9, 10, 39, 40, 41, 90, 999, 1000, 1002, u64::MAX] {
                let searched = times.partition_point(|own| **own <= at);
                assert_eq!(until(&times, Time(at), |own| Time(*own)), searched, "{times:?}: {at}");
            }
        }
    }
}
