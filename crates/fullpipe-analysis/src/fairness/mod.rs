//! How flows share a path, from the samples of a run.
//!
//! All measures are of the time in which all flows live, between two samples of the trace, so that all flows are counted over the
//! same time. What each is stands with its field; the formulas stand in [`measures`].

pub mod measures;

use super::RunMeta;
use super::lookup::{FlowTrace, Life, Lives, Traces, mbit};
use fullpipe_sim::config::Direction;
use fullpipe_sim::units::Time;
use measures::{converged, jain, rtt_exponent, variation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Jain's index at which flows have converged. Of two flows one has then 0.615 and the other one 0.385 of the rate at most: as
/// the shares (1 + d)/2 and (1 - d)/2 of the d-fair convergence time (Bansal, Balakrishnan, Floyd, Shenker: Dynamic Behavior
/// of Slowly-Responsive Congestion Control Algorithms, SIGCOMM 2001; RFC 5166, 2.3) with d = 0.23.
pub const CONVERGED: f64 = 0.95;
/// Length of the window over which that index is taken, s: about a period between two losses of CUBIC at 10 Gb/s and 25 ms, so
/// that it does not follow single losses.
pub const WINDOW_S: u64 = 10;
/// How long it has to stay there, s: two such windows.
pub const LASTING_S: u64 = 20;

/// How the flows of a run share the path, while all of them live: those whose data goes forward, or backward where fewer than
/// two go forward. Absent where there are fewer than two, where they do not live at one time, and where none of them delivers
/// anything then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// The first sample at which all of them live, simulated seconds.
    pub start_s: f64,
    /// The last one.
    pub end_s: f64,
    /// Jain's index of the rates over this time (Jain, Chiu, Hawe 1984): (sum x)^2 / (n sum x^2), from 1/n, where one flow has
    /// everything, to 1, where all have the same.
    pub jain: f64,
    /// The same over the second half of this time; null where nothing was delivered then.
    pub jain_settled: Option<f64>,
    /// The same over each interval of `report.interval`, from `start_s` on; null where nothing was delivered.
    pub jain_intervals: Vec<Option<f64>>,
    /// Convergence time: seconds from the start of the last flow until Jain's index over the 10 s before first is 0.95 or more and stays so
    /// for 20 s, so at least 10; null where that was not seen, and where `jain_settled` is below 0.95: flows that
    /// part later have passed each other. Of two flows 0.95 is the d-fair convergence time of Bansal et al.
    /// 2001 (RFC 5166, 2.3) with d = 0.23.
    pub converged_s: Option<f64>,
    /// k of x1/x2 = (RTT2/RTT1)^k, of the rates over the second half and the round trips without queues (Lakshman, Madhow 1997);
    /// of more than two flows by least squares of the logarithms; null where the round trips do not differ.
    pub rtt_exponent: Option<f64>,
    /// Units that all places of the data's way dropped in this time, whosever they were.
    pub dropped: u64,
    /// Mean number of packets waiting in front of the slowest link, or of a card that is slower; null where the trace does not
    /// tell.
    pub queue: Option<f64>,
    /// The flows, in the scenario's order.
    pub flows: Vec<Part>,
}

/// What a flow has of a path that it shares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Name in the scenario.
    pub name: String,
    /// Mean rate in the time in which all flows live, Mb/s of payload.
    pub mbit: f64,
    /// The same in the second half of it.
    pub settled_mbit: f64,
    /// Its part of what all flows deliver in this time (0 to 1).
    pub share: f64,
    /// Coefficient of variation of its rates in intervals of `report.interval` in the second half: standard deviation over mean
    /// (Floyd et al., SIGCOMM 2000); null with fewer than two intervals, and where nothing was delivered.
    pub variation: Option<f64>,
    /// Segments retransmitted in this time.
    pub retransmitted_segments: u64,
    /// Of the segments sent in this time, those that were sent again (0 to 1).
    pub retransmitted_share: f64,
    /// Round trip without queues, ms: all delays of the path and of the hosts' qdiscs. Absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_rtt_ms: Option<f64>,
    /// Mean of its smoothed RTT at the samples in this time, ms; null where none was measured.
    pub srtt_ms: Option<f64>,
}

impl Fairness {
    /// Whether the flows live together for less time than [`converged_s`](Fairness::converged_s) needs.
    pub fn is_too_short(&self) -> bool {
        self.end_s - self.start_s < (WINDOW_S + LASTING_S) as f64 - 1e-9
    }
}

/// The time in which all flows live: its first sample, its middle and its last sample.
struct Together {
    from: Time,
    middle: Time,
    to: Time,
    /// Samples from the first one on.
    times: Vec<Time>,
}

/// How the flows of a run share its path.
pub fn fairness(meta: &RunMeta, traces: &Traces, lives: &Lives) -> Option<Fairness> {
    let (direction, own) = compared(meta)?;
    let flows: Vec<&FlowTrace> = own.iter().map(|index| &traces.flows[*index]).collect();
    let alive: Vec<&Life> = own.iter().map(|index| &lives.flows[*index]).collect();
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
    let late: Vec<&Vec<f64>> = of_intervals
        .iter()
        .zip(&intervals)
        .filter(|(_, (from, _))| *from >= time.middle)
        .map(|(rates, _)| rates)
        .collect();
    let sum: f64 = whole.iter().sum();
    let part = |(n, index): (usize, &usize)| {
        let about = &meta.flows[*index];
        let own: Vec<f64> = late.iter().map(|rates| rates[n]).collect();
        Part {
            name: about.name.clone(),
            mbit: whole[n],
            settled_mbit: settled[n],
            share: whole[n] / sum,
            variation: variation(&own),
            base_rtt_ms: about.base_rtt.map(|rtt| rtt.as_secs_f64() * 1e3),
            ..sent(flows[n], &time)
        }
    };
    let parts: Vec<Part> = own.iter().enumerate().map(part).collect();
    Some(Fairness {
        start_s: time.from.as_secs_f64(),
        end_s: time.to.as_secs_f64(),
        jain: jain(&whole)?,
        jain_settled,
        jain_intervals: of_intervals.iter().map(|rates| jain(rates)).collect(),
        converged_s: jain_settled
            .filter(|index| *index >= CONVERGED)
            .and_then(|_| convergence(&flows, &alive, &time)),
        rtt_exponent: exponent(&parts),
        dropped: dropped(traces, direction, &time),
        queue: queue(traces, direction, &time),
        flows: parts,
    })
}

/// Which flows are compared: those of one direction.
fn compared(meta: &RunMeta) -> Option<(Direction, Vec<usize>)> {
    let of = |direction: Direction| {
        let flows = meta.flows.iter().enumerate().filter(|(_, flow)| flow.direction == direction);
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

/// Most intervals that are told.
const MOST_INTERVALS: u64 = 1_000_000;

/// The full intervals.
fn intervals(time: &Together, length: Time) -> Vec<(Time, Time)> {
    let count = time.to.saturating_sub(time.from).as_ns() / length.as_ns().max(1);
    let count = count.min(MOST_INTERVALS);
    let bound = |n: u64| time.from + Time::ns(length.as_ns() * n);
    (0..count).map(|n| (bound(n), bound(n + 1))).collect()
}

/// What a flow sent again, and its RTT.
fn sent(flow: &FlowTrace, time: &Together) -> Part {
    let (before, after) = (flow.at(time.from), flow.at(time.to));
    let again = after.segments_retransmitted.saturating_sub(before.segments_retransmitted);
    let all = after.segments_sent.saturating_sub(before.segments_sent);
    let within = &flow.samples[flow.count(time.from)..flow.count(time.to)];
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
    let pair = |part: &Part| Some((part.base_rtt_ms?, part.settled_mbit));
    rtt_exponent(&parts.iter().map(pair).collect::<Option<Vec<_>>>()?)
}

/// What the places of that way dropped.
fn dropped(traces: &Traces, direction: Direction, time: &Together) -> u64 {
    let way = super::lookup::way_of(direction);
    let places = traces.stages.iter().filter(|(info, _)| info.direction == way);
    let own = |(_, stage): &super::lookup::Told| {
        stage.at(time.to).dropped.saturating_sub(stage.at(time.from).dropped)
    };
    places.map(own).fold(0, u64::saturating_add)
}

/// The mean number waiting in front of the bottleneck.
fn queue(traces: &Traces, direction: Direction, time: &Together) -> Option<f64> {
    let queue = traces.queue(direction)?;
    let within = queue.within(time.from, time.to);
    let sum: u128 = within.iter().map(|sample| u128::from(sample.waiting)).sum();
    (!within.is_empty()).then(|| sum as f64 / within.len() as f64)
}
