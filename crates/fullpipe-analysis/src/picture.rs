//! The picture of the path: how full each place was, and of which flows it was the limit.
//!
//! Drops, marks, blocked time and the highest number waiting are exact (the stage counts them). So are the mean and the
//! time in which a place was full or empty, where the trace counts them ([`StageInfo::timed`]). Else they come from the
//! samples, which do not show what happens between two of them.
//!
//! Limits:
//! - Times of send and receive buffers, and of all places on engine `linux`, come from samples: anything shorter than
//!   a sample reads 0 %.
//! - Times full and empty are shares of the run, also after a flow's end. The share of a limit is that of the flow's
//!   life.
//! - A queue in bytes is full if it has no room for a packet as large as the last one. Its peak in bytes is that of
//!   samples.
//! - A receive buffer has a capacity if sockets ask for one. cwnd and pacing have no place. Only the
//!   simulator counts a ring's blocked time.
//! - A send buffer's numbers count the payload in its memory, its bar counts memory, as the kernel does. "Full" means
//!   that a sample found the memory used up, so a buffer that blocks its writer most of the time may be full for
//!   less.
//! - A receive window too small for the round trip is drawn at the receive buffer, which is then empty: it is small,
//!   not full. ACKs that wait for the sender's CPU count as the CPU's if it worked for 99 % of a round trip; a CPU
//!   that rests more leaves the time with windows.
//! - Dropped ACKs have a place and a share, not a share of the flow's life, and none if data of other flows goes
//!   their way.
//! - Time held back by the card's rate (`nic`) is drawn at the card's ring. On real Linux the ring is part of the
//!   qdisc, and TCP small queues count as cwnd, because the kernel counts no time for them.
//! - A ring holds segments, so an empty one takes an skb of more segments than it has descriptors. With TSO a ring of
//!   less than two skbs lets the wire pause, whatever the driver learns.
//! - "≤" is how far a buffer may be tuned, not how far it grew, and such a buffer has no time full. All UDP sockets
//!   of a host are one place, full while one of them is.

use super::document::{Flow, Picture, Place};
use super::lookup::{SampledStage, StageTrace, Traces, card};
use super::occupancy::Occupancy;
use crate::meta::{FlowMeta, RunMeta};
use fullpipe_base::limits::{self, At};
use fullpipe_base::trace::{StageInfo, StageSample};
use fullpipe_trace::schema::HOST_STAGES;
use std::collections::BTreeMap;

/// Kinds that hold no packets: a send buffer holds bytes.
pub const WITHOUT_PACKETS: [&str; 3] = ["application", "cpu", "send_buffer"];

/// Kinds in which nothing waits.
pub const WITHOUT_ROOM: [&str; 2] = ["application", "cpu"];

/// The places in the recording's order, which is the packets' order.
pub fn picture(meta: &RunMeta, traces: &Traces, flows: &[Flow]) -> Picture {
    let blamed = blamed(meta, traces, flows);
    let places = traces.stages.iter().map(|(info, trace)| Place {
        limits: blamed.get(&info.name).cloned().unwrap_or_default(),
        ..place(info, trace)
    });
    Picture { step_s: meta.sample.as_secs_f64(), places: places.collect() }
}

/// A stage's fill levels, without the flows that it limited.
fn place(info: &StageInfo, trace: &StageTrace) -> Place {
    let levels: Vec<Level> = trace.samples.iter().map(|sample| level(info, sample)).collect();

    // A stage that measures occupancy gives exact values; samples stand in elsewhere.
    let exact = Occupancy::between(info, &StageSample::default(), &trace.last());
    let share = |of: fn(&Level) -> bool| {
        let found = levels.iter().filter(|level| of(level)).count();
        (!levels.is_empty()).then(|| found as f64 / levels.len() as f64)
    };
    let filled = |used: f64| {
        info.capacity.filter(|capacity| *capacity > 0).map(|capacity| used / capacity as f64)
    };

    let used = levels.iter().fold(0.0, |sum: f64, level| sum + level.used as f64);
    let used = exact.map_or(used / levels.len().max(1) as f64, |own| own.mean_used);
    let highest = levels.iter().map(|level| level.peak).max().unwrap_or(0);

    // An application or a CPU holds no packets, so it is never empty.
    let holds = !WITHOUT_ROOM.contains(&info.kind);

    Place {
        stage: info.name.clone(),
        host: host(info).map(str::to_string),
        exact: exact.is_some(),
        mean_filled: filled(used),
        peak_filled: filled(highest as f64),
        full: info.capacity.and_then(|_| exact.map(|t| t.full).or(share(|level| level.full))),
        empty: exact.map(|t| t.empty).or(share(|level| level.empty)).filter(|_| holds),
        limits: BTreeMap::new(),
    }
}

/// The host that a stage belongs to; none for a stage between the hosts.
pub(super) fn host(info: &StageInfo) -> Option<&str> {
    let (host, _) = info.name.rsplit_once('.')?;
    HOST_STAGES.contains(&info.kind).then_some(host)
}

/// Level of a place at a sample, in units of its capacity.
struct Level {
    used: u64,
    peak: u64,
    full: bool,
    empty: bool,
}

/// Level of a stage at a sample. A place that is bounded in bytes is full where another unit like those that wait has
/// no room. It is empty where it has no memory either: segments beyond a hole have memory and do not wait.
fn level(info: &StageInfo, sample: &StageSample) -> Level {
    let in_bytes = info.unit == "byte";
    let (used, one) = match in_bytes {
        true => (sample.waiting_bytes, mean_bytes(sample)),
        false => (sample.waiting, 1),
    };
    Level {
        used,
        peak: if in_bytes { used } else { sample.peak.max(used) },
        full: used > 0 && info.capacity.is_some_and(|capacity| used.saturating_add(one) > capacity),
        empty: sample.waiting == 0 && used == 0,
    }
}

/// Bytes of a waiting unit; 0 where nothing waits.
fn mean_bytes(sample: &StageSample) -> u64 {
    match sample.waiting {
        0 => 0,
        waiting => sample.waiting_bytes.div_ceil(waiting),
    }
}

/// Flows that each stage limited, with the share of the flow's life.
fn blamed(
    meta: &RunMeta,
    traces: &Traces,
    flows: &[Flow],
) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut blamed: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for (about, flow) in meta.flows.iter().zip(flows) {
        for (limit, share) in flow.limits.iter().filter(|(_, share)| **share > 0.0) {
            if let Some(stage) = stage_of(limit, about, traces) {
                *blamed.entry(stage).or_default().entry(flow.name.clone()).or_default() += share;
            }
        }

        // Cuts of cwnd have places of their own.
        for (stage, share) in &flow.reductions {
            let blamed = blamed.entry(stage.clone()).or_default();
            *blamed.entry(flow.name.clone()).or_default() += share;
        }
    }
    blamed
}

/// The place of a limit. cwnd and the pace (except an fq's) are states of the sender, not places. Nagle's rule waits at
/// the program: it holds back writes. Where drops have cut cwnd, `Flow::reductions` knows the place.
pub(super) fn stage_of(limit: &str, flow: &FlowMeta, traces: &Traces) -> Option<String> {
    let [from, to] = &flow.hosts;

    // The busiest place stands for all of its kind.
    let works = |stage: &StageTrace| {
        let last = stage.last();
        u128::from(last.busy_ns.max(last.blocked_ns))
    };
    Some(match limits::named(limit)?.at {
        At::Nowhere => return None,
        At::Sender(stage) => format!("{from}.{stage}"),
        At::Receiver(stage) => format!("{to}.{stage}"),
        At::SenderCard => {
            let card = card(from);
            most(traces.stages.iter().filter(|(info, _)| card.contains(&info.name)), held)?
        }
        At::SenderShaper => flow.shaper.clone()?,
        At::Link => most(traces.bottlenecks(flow).filter(|(info, _)| host(info).is_none()), works)?,
        At::HostRing => {
            most(traces.bottlenecks(flow).filter(|(info, _)| host(info).is_some()), works)?
        }
        At::LinkBack => most(traces.links_back(flow), works)?,
    })
}

/// Level of a stage over the run, as far as its samples show.
fn held(stage: &StageTrace) -> u128 {
    u128::from(stage.last().waiting_ns).max(stage.waiting())
}

/// Name of the stage with the largest value by `of`; the first of equals.
fn most<'t, 'a: 't>(
    stages: impl Iterator<Item = &'t SampledStage<'a>>,
    of: fn(&StageTrace) -> u128,
) -> Option<String> {
    stages.reduce(|a, b| if of(&b.1) > of(&a.1) { b } else { a }).map(|(info, _)| info.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(kind: &'static str, unit: &'static str, capacity: Option<u64>) -> StageInfo {
        let name = format!("a.b.{kind}");
        StageInfo { index: 0, name, kind, direction: "forward", unit, capacity, timed: false }
    }

    fn found(info: &StageInfo, waiting: u64, waiting_bytes: u64) -> (u64, bool, bool) {
        let sample = StageSample { waiting, waiting_bytes, ..StageSample::default() };
        let level = level(info, &sample);
        (level.used, level.full, level.empty)
    }

    #[test]
    fn a_place_is_full_where_one_more_has_no_room() {
        let ring = info("tx_ring", "segment", Some(256));
        assert_eq!(found(&ring, 255, 0), (255, false, false));
        assert_eq!(found(&ring, 256, 0), (256, true, false));
        let link = info("link", "byte", Some(10_000));
        assert_eq!(found(&link, 6, 9_000), (9_000, true, false));
        assert_eq!(found(&link, 5, 7_500), (7_500, false, false));
        assert_eq!(found(&link, 0, 0), (0, false, true));
        // Beyond a hole.
        assert_eq!(found(&link, 0, 6_000), (6_000, false, false));
        assert_eq!(found(&link, 0, 10_001), (10_001, true, false));
        assert_eq!(found(&info("delay", "segment", None), 9, 0), (9, false, false));
    }

    #[test]
    fn what_lies_between_hosts_has_none() {
        assert_eq!(host(&info("qdisc", "skb", None)), Some("a.b"));
        assert_eq!(host(&info("link", "segment", None)), None);
    }
}
