//! How flows share a path, from the samples of a run.
//!
//! All measures cover the time in which all flows live, between two samples of the trace, so that all flows are counted
//! over the same time. Each field describes its measure; the formulas are in [`measures`].

pub mod measures;

use super::lookup::{FlowTrace, Life, Lives, Traces, mbit};
pub use crate::document::fairness::{Fairness, LASTING_S, Part, WINDOW_S};
use crate::meta::RunMeta;
use fullpipe_base::path::Direction;
use fullpipe_base::units::Time;
use measures::{converged, jain, rtt_exponent, variation};

/// Jain's index at which flows have converged. At this index the rates of two flows are 0.615 and 0.385 of the sum at
/// most.
///
/// These are the shares (1 + d)/2 and (1 - d)/2 of the d-fair convergence time with d = 0.23 (RFC 5166, 2.3). Source:
/// Bansal, Balakrishnan, Floyd, Shenker: Dynamic Behavior of Slowly-Responsive Congestion Control Algorithms, SIGCOMM
/// 2001.
pub const CONVERGED: f64 = 0.95;

/// The time in which all flows live: its first sample, its middle and its last sample.
struct Together {
    from: Time,
    middle: Time,
    to: Time,
    /// Samples from the first one on.
    times: Vec<Time>,
}

/// Fairness of the flows that share the path of a run.
pub fn fairness(meta: &RunMeta, traces: &Traces, lives: &Lives) -> Option<Fairness> {
    let (direction, own) = compared(meta, lives)?;
    let flows: Vec<&FlowTrace> = own.iter().map(|index| &traces.flows[*index]).collect();
    let alive: Vec<&Life> = own.iter().map(|index| &lives.flows[*index]).collect();

    // Rates compare only while all flows are alive at once.
    let time = together(&flows, &alive)?;
    let rates = |from: Time, to: Time| -> Vec<f64> {
        flows.iter().map(|flow| rate(flow, from, to)).collect()
    };
    let whole = rates(time.from, time.to);
    let settled = rates(time.middle, time.to);
    let jain_settled = jain(&settled);
    let intervals = intervals(&time, meta.interval);
    let of_intervals: Vec<Vec<f64>> =
        intervals.iter().map(|(from, to)| rates(*from, *to)).collect();

    // Variation counts intervals after the middle, when the flows have settled.
    let late: Vec<&Vec<f64>> = of_intervals
        .iter()
        .zip(&intervals)
        .filter(|(_, (from, _))| *from >= time.middle)
        .map(|(rates, _)| rates)
        .collect();
    let sum: f64 = whole.iter().sum();
    let mut parts = Vec::new();
    for (n, index) in own.iter().enumerate() {
        let about = &meta.flows[*index];
        let own: Vec<f64> = late.iter().map(|rates| rates[n]).collect();
        parts.push(Part {
            name: about.name.clone(),
            mbit: whole[n],
            settled_mbit: settled[n],
            share: whole[n] / sum,
            variation: variation(&own),
            base_rtt_ms: about.base_rtt.map(|rtt| rtt.as_secs_f64() * 1e3),
            ..sent(flows[n], &time)
        });
    }
    Some(Fairness {
        start_s: time.from.as_secs_f64(),
        end_s: time.to.as_secs_f64(),
        jain: jain(&whole)?,
        jain_settled,
        jain_intervals: of_intervals.iter().map(|rates| jain(rates)).collect(),
        // Flows that end unfair have no moment of convergence.
        converged_s: jain_settled
            .filter(|index| *index >= CONVERGED)
            .and_then(|_| convergence(&flows, &alive, &time)),
        rtt_exponent: exponent(&parts),
        dropped: dropped(traces, direction, &time),
        queue: queue(traces, direction, &time),
        flows: parts,
    })
}

/// Flows to compare: those of one direction.
fn compared(meta: &RunMeta, lives: &Lives) -> Option<(Direction, Vec<usize>)> {
    let of = |direction: Direction| {
        let flows = meta.flows.iter().enumerate().filter(|(_, flow)| flow.direction == direction);
        let flows = flows.filter(|(index, _)| lives.flows[*index].begins);
        let own: Vec<usize> = flows.map(|(index, _)| index).collect();
        (own.len() > 1).then_some((direction, own))
    };
    of(Direction::Forward).or_else(|| of(Direction::Backward))
}

/// When all of the flows live; none where they do not.
fn together(flows: &[&FlowTrace], alive: &[&Life]) -> Option<Together> {
    let last_start = alive.iter().map(|life| life.start).max()?;
    let first_end = alive.iter().map(|life| life.end).min()?;
    let samples = flows.first()?.samples.iter().map(|sample| sample.time);
    let times: Vec<Time> = samples.filter(|time| (last_start..=first_end).contains(time)).collect();
    let (from, to) = (*times.first()?, *times.last()?);
    let middle = from + Time::ns(to.saturating_sub(from).as_ns() / 2);
    let middle = times[times.partition_point(|time| *time <= middle).saturating_sub(1)];
    (from < to).then_some(Together { from, middle, to, times })
}

fn rate(flow: &FlowTrace, from: Time, to: Time) -> f64 {
    let bytes = |time: Time| flow.at(time).bytes_delivered;
    mbit(bytes(to).saturating_sub(bytes(from)), to.saturating_sub(from))
}

/// The most intervals that are reported.
const MOST_INTERVALS: u64 = 1_000_000;

/// Bounds of the whole intervals of this length within the time of all flows together.
fn intervals(time: &Together, length: Time) -> Vec<(Time, Time)> {
    let count = time.to.saturating_sub(time.from).as_ns() / length.as_ns().max(1);
    let count = count.min(MOST_INTERVALS);
    let bound = |n: u64| time.from + Time::ns(length.as_ns() * n);
    (0..count).map(|n| (bound(n), bound(n + 1))).collect()
}

/// Retransmissions of a flow, and its RTT.
fn sent(flow: &FlowTrace, time: &Together) -> Part {
    let (before, after) = (flow.at(time.from), flow.at(time.to));
    let again = after.segments_retransmitted.saturating_sub(before.segments_retransmitted);
    let all = after.segments_sent.saturating_sub(before.segments_sent);
    let within = flow.within(time.from, time.to);

    // A smoothed RTT of 0 means that nothing is measured yet.
    let measured = within.iter().map(|sample| sample.srtt_us).filter(|srtt| *srtt > 0);
    let (count, sum) =
        measured.fold((0_u64, 0.0), |(count, sum), srtt| (count + 1, sum + f64::from(srtt)));
    Part {
        retransmitted_segments: again,
        retransmitted_share: again as f64 / all.max(1) as f64,
        srtt_ms: (count > 0).then(|| sum / count as f64 / 1e3),
        ..Part::default()
    }
}

/// Seconds from the last start on, by Jain's index over windows that end with each sample.
fn convergence(flows: &[&FlowTrace], alive: &[&Life], time: &Together) -> Option<f64> {
    let started = alive.iter().map(|life| life.start).max()?;
    let window = Time::secs(WINDOW_S);
    let ends = time.times.iter().filter(|end| end.saturating_sub(time.from) >= window);
    let indices = ends.map(|end| {
        let rates: Vec<f64> = flows.iter().map(|flow| rate(flow, *end - window, *end)).collect();
        ((*end - started).as_secs_f64(), jain(&rates))
    });
    converged(indices, CONVERGED, LASTING_S as f64)
}

fn exponent(parts: &[Part]) -> Option<f64> {
    let pairs = parts.iter().map(|part| Some((part.base_rtt_ms?, part.settled_mbit)));
    rtt_exponent(&pairs.collect::<Option<Vec<_>>>()?)
}

/// Drops of the places in one direction.
fn dropped(traces: &Traces, direction: Direction, time: &Together) -> u64 {
    let way = direction.way();
    let places = traces.stages.iter().filter(|(info, _)| info.direction == way);
    places
        .map(|(_, stage)| stage.at(time.to).dropped.saturating_sub(stage.at(time.from).dropped))
        .fold(0, u64::saturating_add)
}

/// The mean number waiting in front of the bottleneck.
fn queue(traces: &Traces, direction: Direction, time: &Together) -> Option<f64> {
    let queue = traces.queue(direction)?;
    let within = queue.within(time.from, time.to);
    let sum: u128 = within.iter().map(|sample| u128::from(sample.waiting)).sum();
    (!within.is_empty()).then(|| sum as f64 / within.len() as f64)
}
