//! Acknowledged bytes of some flows that their programs have read, over their own time.

use super::calls::Calls;
use crate::analysis::document::Messages;
use crate::gain::{COUNTS, SOONER, done, in_time};
use crate::scenario::{App, DatagramKind, Datagrams, Resolved};
use fullpipe_base::trace::{Counter, Event, EventKind, FlowSample, Sink, StageInfo, StageSample};
use fullpipe_base::units::Time;
use serde::{Deserialize, Serialize};

/// Acknowledged payload of the judged flows, and the time in which they had it acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Acknowledged and read payload of all judged flows, bytes; of a mount that of answered calls, each once.
    pub bytes: u64,
    /// Median time of their messages, ms; absent without messages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message_ms: Option<f64>,
    /// Whether all programs send their messages by the clock.
    #[serde(skip)]
    pub by_the_clock: bool,
    /// Share of the datagrams of UDP that were read (0 to 1); absent without datagrams.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arrived: Option<f64>,
    /// Time from the first start to the last end, s. A transfer of a fixed size ends with its last acknowledgement.
    pub seconds: f64,
}

impl Measured {
    /// Mean rate, Mb/s (10^6 bits); 0 where no time passed.
    pub fn mbit(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 * 8e-6 / self.seconds } else { 0.0 }
    }

    /// Quotient of this rate and another one; of the times of messages, where they come sooner and no fewer of them. None
    /// where nothing was acknowledged.
    pub(super) fn gain(&self, base: &Measured) -> Option<f64> {
        let rates = (base.mbit() > 0.0).then(|| self.mbit() / base.mbit())?;
        let times = base.message_ms.zip(self.message_ms).map(|(old, new)| old / new.max(1e-6));
        let sooner = times.filter(|own| *own >= 1.0 + SOONER && rates >= 1.0 - COUNTS);
        Some(sooner.or(in_time(rates, times, self.by_the_clock)).unwrap_or(rates))
    }
}

/// Counts acknowledged bytes and the calls of mounts, and keeps nothing else of a trace.
pub(super) struct Acked {
    /// A place for each flow of the run; none for flows that are not judged.
    flows: Vec<Option<Progress>>,
    /// Flows with messages that count: judged ones, and those that are answered by them.
    asking: Vec<bool>,
    /// Whether all programs send their messages by the clock.
    by_the_clock: bool,
    /// Times of messages, ns.
    messages: Vec<u64>,
    /// Calls of the mount that the judged flows belong to.
    calls: Option<Calls>,
    /// Datagrams of UDP: names of their counters, and the numbers of those sent and read.
    datagrams: Vec<Arrivals>,
}

/// Datagrams of one program.
struct Arrivals {
    /// Names of the counters of what is sent, read, and read twice, and their values.
    counters: [(String, u64); 3],
}

impl Arrivals {
    fn new(own: &Datagrams) -> Arrivals {
        let counter = |what: &str| (format!("datagrams.{}.{what}", own.name), 0);
        Arrivals { counters: ["sent", "received", "duplicates"].map(counter) }
    }

    fn count(&mut self, counter: &Counter) {
        let own = self.counters.iter_mut().find(|(name, _)| **name == *counter.name);
        own.into_iter().for_each(|(_, value)| *value = counter.value);
    }
}

/// Progress of one flow.
struct Progress {
    start: Time,
    /// Whether its connection follows another one in a loop, which may end before.
    follows: bool,
    /// Time after which nothing counts.
    until: Time,
    /// Bytes that the program writes; none where its duration alone ends it.
    bytes: Option<u64>,
    acked: u64,
    /// Time of the last acknowledgement.
    last: Time,
}

impl Acked {
    /// Nothing acknowledged yet of the flows at these indices.
    pub(super) fn new(run: &Resolved, judged: &[usize]) -> Acked {
        let opens = judged.iter().map(|index| run.opens(&run.flow[*index]));
        let names: Vec<&String> = opens.map(|flow| &flow.name).collect();
        Acked {
            // Of several messages at a time the rate counts, not the time of each.
            asking: run
                .flow
                .iter()
                .map(|flow| names.contains(&&flow.name) && flow.in_flight() <= 1)
                .collect(),
            by_the_clock: judged
                .iter()
                .all(|index| run.opens(&run.flow[*index]).period().is_some()),
            messages: Vec::new(),
            flows: run
                .flow
                .iter()
                .enumerate()
                .map(|(index, flow)| {
                    // A flow counts up to its own end, or the run's.
                    let own_end = flow.duration.map_or(run.duration, |lasts| flow.start + lasts);
                    judged.contains(&index).then_some(Progress {
                        start: flow.start,
                        follows: run.opens(flow).after.is_some(),
                        until: own_end.min(run.duration),
                        // A mount is done when nothing more is acknowledged.
                        bytes: flow.bytes.or((flow.app == App::Nfs).then_some(0)),
                        acked: 0,
                        last: flow.start,
                    })
                })
                .collect(),
            datagrams: run
                .datagrams
                .iter()
                .filter(|own| own.kind == DatagramKind::Udp)
                .map(Arrivals::new)
                .collect(),
            calls: judged.first().and_then(|index| Calls::of(run, *index)),
        }
    }

    pub(super) fn measured(&self) -> Measured {
        let judged = || self.flows.iter().flatten().filter(|flow| !flow.follows || flow.acked > 0);
        let start = judged().map(|flow| flow.start).min().unwrap_or(Time::ZERO);
        let end = judged().map(Progress::end).max().unwrap_or(Time::ZERO);
        let acked: u64 = judged().map(|flow| flow.acked).sum();
        let lasts = end.saturating_sub(start);
        let useful = self.calls.as_ref().map_or(1.0, |own| own.useful(end));
        Measured {
            bytes: (acked as f64 * useful) as u64,
            message_ms: self.message_ms(),
            arrived: self.arrived(),
            by_the_clock: self.by_the_clock,
            seconds: lasts.as_secs_f64(),
        }
    }

    /// Share of all datagrams that were read, each once.
    fn arrived(&self) -> Option<f64> {
        let sum = |at: usize| self.datagrams.iter().map(|own| own.counters[at].1).sum::<u64>();
        let [sent, read, twice] = [0, 1, 2].map(sum);
        (sent > 0).then(|| read.saturating_sub(twice) as f64 / sent as f64)
    }

    /// Starts the time of a mount's connection: its program begins once the host has mounted.
    fn begin(&mut self, event: &Event) {
        let own = self.flows.get_mut(usize::from(event.flow)).and_then(Option::as_mut);
        if let (Some(flow), EventKind::Accepted) = (own, event.kind)
            && self.calls.is_some()
        {
            flow.start = event.time;
        }
    }

    /// Median of the messages' times, ms.
    fn message_ms(&self) -> Option<f64> {
        Messages::of(self.messages.clone()).map(|own| own.median_ms)
    }
}

impl Progress {
    fn end(&self) -> Time {
        match self.bytes {
            Some(bytes) if self.acked >= bytes => self.last,
            _ => self.until,
        }
    }
}

impl Sink for Acked {
    fn stages(&mut self, _stages: &[StageInfo]) {}

    fn flow(&mut self, sample: &FlowSample) {
        let Some(Some(flow)) = self.flows.get_mut(usize::from(sample.flow)) else { return };
        let done = done(sample, self.calls.is_some());
        if sample.time <= flow.until && done > flow.acked {
            (flow.acked, flow.last) = (done, sample.time);
            if let Some(calls) = &mut self.calls {
                calls.acked(sample.bytes_acked, sample.time);
            }
        }
    }

    fn stage(&mut self, _sample: &StageSample) {}

    fn event(&mut self, event: &Event) {
        self.begin(event);
        let is_message = matches!(event.kind, EventKind::Answered | EventKind::MessageRead);
        if is_message && self.asking.get(usize::from(event.flow)) == Some(&true) {
            self.messages.push(event.value);
        }
    }

    fn counter(&mut self, counter: &Counter) {
        if let Some(calls) = &mut self.calls {
            calls.count(counter);
        }
        self.datagrams.iter_mut().for_each(|own| own.count(counter));
    }
}
