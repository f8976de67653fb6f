//! The report's intervals of a flow.
//!
//! The clock starts when the receiver's accept() returns, earlier by the report's offset. The first interval may have a
//! length of its own. The last one ends with the flow or the run, and is kept although it is shorter. It takes
//! everything that was delivered after the last full interval, so that the intervals add up to the flow.

use super::attribution::Attribution;
use super::document::Interval;
use super::lookup::{FlowTrace, Life, StageTrace, mbit};
use crate::meta::RunMeta;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;

/// Slow start thresholds from here on are infinite (Linux: TCP_INFINITE_SSTHRESH).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The threshold, or none where it is infinite.
pub fn ssthresh(sample: &FlowSample) -> Option<u32> {
    (sample.ssthresh < INFINITE_SSTHRESH).then_some(sample.ssthresh)
}

/// The smoothed round-trip time, or none before the first measurement.
pub fn srtt_us(sample: &FlowSample) -> Option<u32> {
    (sample.srtt_us > 0).then_some(sample.srtt_us)
}

/// Bounds of the intervals in simulated time.
fn bounds(meta: &RunMeta, life: &Life) -> Vec<(Time, Time)> {
    let mut bounds = Vec::new();
    let (mut from, mut length) = (life.clock, meta.first_interval);
    while from < life.end && length > Time::ZERO {
        let to = from + length;
        bounds.push((from, to.min(life.end)));
        (from, length) = (to, meta.interval);
    }
    bounds
}

/// The time over which the samples of the interval `from` to `to` count: from the last sample before it to its last one,
/// or to the end of the flow. It is the interval's length where its bounds are samples.
fn sampled(flow: &FlowTrace, life: &Life, from: Time, to: Time) -> Time {
    let at = |bound: Time| match flow.count(bound) {
        0 => bound,
        count => flow.before(count).time,
    };
    let end = if to == life.end { to } else { at(to) };
    end.saturating_sub(at(from))
}

/// The intervals of a flow.
pub fn intervals(
    meta: &RunMeta,
    flow: &FlowTrace,
    life: &Life,
    attribution: &Attribution,
    queue: Option<&StageTrace>,
) -> Vec<Interval> {
    let mut intervals = Vec::new();
    for (from, to) in bounds(meta, life) {
        let first = flow.count(from);

        // The last interval takes all samples left: the final one may follow the life's end.
        let last = if to == life.end { flow.samples.len() } else { flow.count(to) };
        let (before, after) = (flow.before(first), flow.before(last));
        let bytes = after.bytes_delivered.saturating_sub(before.bytes_delivered);
        intervals.push(Interval {
            start_s: from.saturating_sub(life.clock).as_secs_f64(),
            end_s: to.saturating_sub(life.clock).as_secs_f64(),
            bytes,
            segments: after.segments_delivered.saturating_sub(before.segments_delivered),
            throughput_mbit: mbit(bytes, sampled(flow, life, from, to)),
            retransmitted_segments: after
                .segments_retransmitted
                .saturating_sub(before.segments_retransmitted),
            cwnd: after.cwnd,
            ssthresh: ssthresh(after),
            srtt_us: srtt_us(after),
            in_flight: after.in_flight,
            queue: queue.map_or(0, |link| link.at(to).waiting),
            limits: attribution.named(first, last),
        });
    }
    intervals
}

/// Rates of the intervals of full length, Mb/s.
pub fn full_rates(meta: &RunMeta, intervals: &[Interval]) -> Vec<f64> {
    let full = |(index, interval): &(usize, &Interval)| {
        let length = if *index == 0 { meta.first_interval } else { meta.interval };
        interval.end_s - interval.start_s >= length.as_secs_f64() * (1.0 - 1e-9)
    };
    let full = intervals.iter().enumerate().filter(full);
    full.map(|(_, interval)| interval.throughput_mbit).collect()
}
