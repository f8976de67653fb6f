//! A host as it sees itself: counters, queue and card, CPU.

use crate::lookup::host_of;
use crate::settings::HostSettings;
use fullpipe_base::trace::StageSample;
use fullpipe_base::units::Time;
use fullpipe_trace::recording::Recording;
use std::collections::BTreeMap;

/// Counters, queue, card, CPU and settings of one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSight {
    /// Name.
    pub name: String,
    /// Counters of nstat, tc, ethtool and softnet_stat at the end, as "TcpExt.TCPTimeouts".
    pub counters: BTreeMap<String, u64>,
    /// `tc -s qdisc`, at each look.
    pub queue: Vec<QueueLook>,
    /// Busy time of its CPU, at each look; empty where the trace does not count it.
    pub cpu: Vec<CpuLook>,
    /// Its settings.
    pub settings: HostSettings,
}

/// `tc -s qdisc` at one moment. Counters are cumulative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLook {
    /// Moment of the look.
    pub time: Time,
    /// Skbs that left the queue.
    pub sent: u64,
    /// Skbs that it dropped.
    pub dropped: u64,
    /// Skbs that the card refused, so that they were offered again.
    pub requeues: u64,
    /// Skbs that wait.
    pub backlog: u64,
}

/// Busy time of a CPU at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuLook {
    /// Moment of the look.
    pub time: Time,
    /// Busy time since the start, nanoseconds.
    pub busy_ns: u64,
}

/// Counter names of tools that a user has.
const SOURCES: [&str; 5] = ["tc", "ethtool", "softnet", "Tcp", "TcpExt"];

impl HostSight {
    /// The host of this name, looked at with every `every`-th sample.
    pub(super) fn new(
        recording: &Recording,
        name: &str,
        every: usize,
        settings: HostSettings,
    ) -> HostSight {
        let queue = |sample: &StageSample| QueueLook {
            time: sample.time,
            sent: sample.left,
            dropped: sample.dropped,
            requeues: sample.requeues,
            backlog: sample.waiting,
        };
        let cpu = |sample: &StageSample| CpuLook { time: sample.time, busy_ns: sample.busy_ns };
        HostSight {
            name: name.into(),
            counters: counters(recording, name),
            queue: stage(recording, name, "qdisc", every).map(queue).collect(),
            cpu: stage(recording, name, "cpu", every).map(cpu).collect(),
            settings,
        }
    }

    /// A counter at the end; 0 where the host has none of this name.
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// Sum of several counters.
    pub fn counters(&self, names: &[&str]) -> u64 {
        names.iter().fold(0, |sum, name| sum.saturating_add(self.counter(name)))
    }
}

/// Every `every`-th sample of a host's stage of this kind.
fn stage<'a>(
    recording: &'a Recording,
    host: &'a str,
    kind: &'a str,
    every: usize,
) -> impl Iterator<Item = &'a StageSample> {
    let own =
        recording.stages.iter().find(|stage| stage.kind == kind && host_of(&stage.name) == host);
    let index = own.map(|stage| stage.index);
    let samples = recording.stage_samples.iter();
    samples.filter(move |sample| Some(sample.stage) == index).skip(every - 1).step_by(every)
}

/// The last value of each counter.
fn counters(recording: &Recording, host: &str) -> BTreeMap<String, u64> {
    let all = recording.counters.iter().filter(|own| &*own.host == host);
    let counters =
        all.filter(|own| own.name.split_once('.').is_some_and(|(from, _)| SOURCES.contains(&from)));
    counters.map(|own| (own.name.to_string(), own.value)).collect()
}
