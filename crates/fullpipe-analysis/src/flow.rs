//! The facts of one flow.

use super::acks::dropped_acks;
use super::attribution::{Attribution, Carries};
use super::document::{Aborted, CpuShares, Flow, Interval, Medians, Messages};
use super::intervals::{full_rates, intervals};
use super::lookup::{FlowTrace, Life, Lives, Traces, mbit, since_clock};
use super::moments::moments;
use super::plateau::{REACHED, plateau};
use super::reductions::reductions;
use super::rounds::rounds;
use super::series::series;
use super::settled::settled;
use super::slow_start::{Link, slow_start};
use crate::meta::{FlowMeta, RunMeta, WayMeta};
use fullpipe_base::path::Direction;
use fullpipe_base::trace::{EventKind, FlowSample};
use fullpipe_base::units::Time;
use fullpipe_scenario::ENDS;

/// The facts of the flow of that index.
pub fn flow(meta: &RunMeta, traces: &Traces, lives: &Lives, index: usize) -> Flow {
    let (about, trace, life) = (&meta.flows[index], &traces.flows[index], &lives.flows[index]);
    let passed = traces.passed(meta, lives, index);
    let attribution = Attribution::new(trace, &passed, life, carries(meta, trace, index));
    let queue = traces.queue(about.direction);

    // Without a constant rate the queue's delay is unknown.
    let rate = meta.way(about.direction).rate;
    let link = queue.zip(rate).map(|(queue, rate)| Link { queue, rate });
    let intervals = intervals(meta, trace, life, &attribution, queue);
    let plateau = plateau(&full_rates(meta, &intervals));
    let last = trace.last();
    // The life ends between two samples; the later one closes it.
    let end = trace.count(Time(life.end.as_ns().saturating_sub(1))) + 1;

    // Limits and reductions count samples of the flow's life alone.
    let within = trace.count(life.start)..end;
    let (moments, moments_left_out) = moments(trace, life);
    Flow {
        name: about.name.clone(),
        index: None,
        backward: about.direction == Direction::Backward,
        from: Some(about.hosts[0].clone()).filter(|name| !ENDS.contains(&&name[..])),
        congestion: about.congestion.clone(),
        kernel: about.kernel.clone(),
        clock_start_s: life.clock.as_secs_f64(),
        series: series(meta, trace, life, &attribution, queue),
        limits: attribution.named(within.start, within.end),
        reductions: reductions(about, traces, trace, &attribution, passed.sack, within.clone()),
        acks_dropped: dropped_acks(meta, about, traces),
        bytes: last.bytes_delivered,
        retransmitted_segments: last.segments_retransmitted,
        mean_mbit: mbit(last.bytes_delivered, life.end.saturating_sub(life.start)),
        settled: Some(settled(trace, life)),
        plateau_mbit: plateau.map(|plateau| plateau.rate),
        time_to_plateau_s: plateau.map(|plateau| intervals[plateau.first].end_s),
        time_to_full_rate_s: time_to_full_rate(meta.way(about.direction), &intervals),
        slow_start: slow_start(trace, life, link),
        slow_start_rounds: rounds(trace, life, meta.sample),
        medians: medians(
            &trace.samples[within.start.min(within.end)..within.end.min(trace.samples.len())],
        ),
        completion_s: life.complete.then(|| life.end.saturating_sub(life.start).as_secs_f64()),
        aborted: life.aborted.map(|errno| Aborted { at_s: since_clock(life, life.end), errno }),
        messages: messages(trace),
        cpu: cpu(about, traces, life),
        intervals,
        moments,
        moments_left_out,
    }
}

/// Data of the flow of that index.
fn carries(meta: &RunMeta, trace: &FlowTrace, index: usize) -> Carries {
    let is_read = [EventKind::Answered, EventKind::MessageRead].map(|kind| trace.first(kind));
    match meta.is_of_mount(index) {
        true => Carries::Calls,
        false
            if meta.flows[index].reverse_flow.is_some() || is_read.iter().any(Option::is_some) =>
        {
            Carries::Messages { mss: meta.mss }
        }
        false => Carries::Stream,
    }
}

/// Medians over the samples from the first RTT on.
fn medians(samples: &[&FlowSample]) -> Option<Medians> {
    let measured: Vec<&FlowSample> =
        samples.iter().copied().filter(|sample| sample.srtt_us > 0).collect();
    let median = |of: fn(&FlowSample) -> u32| {
        let mut values: Vec<u32> = measured.iter().map(|sample| of(sample)).collect();
        values.sort_unstable();
        values.get(values.len().saturating_sub(1) / 2).copied()
    };
    Some(Medians {
        cwnd: median(|sample| sample.cwnd)?,
        in_flight: median(|sample| sample.in_flight)?,
        srtt_us: median(|sample| sample.srtt_us)?,
    })
}

/// Times of a flow's messages, from the answers in its trace, or from messages without an answer.
fn messages(trace: &FlowTrace) -> Option<Messages> {
    let ends = [EventKind::Answered, EventKind::MessageRead];
    let read = trace.events.iter().filter(|event| ends.contains(&event.kind));
    let one_way = trace.events.iter().any(|event| event.kind == EventKind::MessageRead);
    let times = Messages::of(read.map(|event| event.value).collect())?;
    Some(Messages { one_way, ..times })
}

/// Busy share of the CPUs of a flow's hosts, from its interval clock's start to its end, by samples.
fn cpu(about: &FlowMeta, traces: &Traces, life: &Life) -> Option<CpuShares> {
    // Shares count from the interval clock on: the handshake costs the CPUs little.
    let elapsed = life.end.saturating_sub(life.clock).as_ns();
    let worked = |host: &String| {
        let stage = traces.stage(&format!("{host}.cpu"))?;
        Some((stage.at(life.end).busy_ns - stage.at(life.clock).busy_ns) as f64)
    };
    let [sender, receiver] = about.hosts.each_ref().map(worked);
    let (sender, receiver) = (sender?, receiver?);

    // A run without costs for CPUs has no shares.
    let works = elapsed > 0 && sender + receiver > 0.0;
    let share = |worked: f64| (worked / elapsed as f64).min(1.0);
    works.then(|| CpuShares { sender: share(sender), receiver: share(receiver) })
}

/// Consecutive intervals that have to be full: data held back by a lost segment arrives in one or two.
const LASTING: usize = 3;

/// Time until the end of the first of [`LASTING`] intervals that delivered [`REACHED`] of the path's capacity.
fn time_to_full_rate(way: &WayMeta, intervals: &[Interval]) -> Option<f64> {
    let full = REACHED * way.capacity_mbit?;
    let mut runs = intervals.windows(LASTING);
    let first = runs.find(|run| run.iter().all(|interval| interval.throughput_mbit >= full))?;
    Some(first[0].end_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_messages_are_of_the_nearest_rank() {
        let of = |count: u64| {
            let own = Messages::of((1..=count).rev().map(|ms| ms * 1_000_000).collect())?;
            Some((own.count, own.median_ms, own.p95_ms, own.worst_ms))
        };
        assert_eq!(of(0), None);
        assert_eq!(of(1), Some((1, 1.0, 1.0, 1.0)));
        assert_eq!(of(2), Some((2, 1.0, 2.0, 2.0)));
        assert_eq!(of(20), Some((20, 10.0, 19.0, 20.0)));
        assert_eq!(of(21), Some((21, 11.0, 20.0, 21.0)));
    }
}
