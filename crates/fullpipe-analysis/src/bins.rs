//! Rates, queues and drops over time, in bins of `report.bin` of the run's own clock.
//!
//! Counters are known at the trace's samples alone. So a bin ends with the last sample up to its bound, and begins
//! where the previous bin ends. The counts of all bins add up to the run's.

use super::document::{Bins, PlaceBins, Rates};
use super::lookup::{FlowTrace, StageTrace, Traces, mbit};
use super::occupancy::Occupancy;
use crate::meta::RunMeta;
use crate::picture::WITHOUT_PACKETS;
use fullpipe_base::trace::{FlowSample, StageInfo, StageSample};
use fullpipe_base::units::Time;
use fullpipe_trace::recording::Recording;

/// The bins of a run.
pub fn bins(meta: &RunMeta, recording: &Recording, traces: &Traces) -> Bins {
    let ends = ends(meta.bin, recording);
    let spans: Vec<(Time, Time)> =
        std::iter::once(Time::ZERO).chain(ends.iter().copied()).zip(ends.iter().copied()).collect();
    let flows: Vec<Rates> = traces.flows.iter().map(|flow| rates(&spans, flow)).collect();
    let seconds = |times: &dyn Fn(&(Time, Time)) -> Time| {
        spans.iter().map(|span| times(span).as_secs_f64()).collect()
    };
    Bins {
        bin_s: meta.bin.as_secs_f64(),
        start_s: seconds(&|span| span.0),
        end_s: seconds(&|span| span.1),
        sum: sum(&spans, &flows),
        flows,
        places: traces
            .stages
            .iter()
            .filter_map(|(info, trace)| place(&spans, info, trace))
            .collect(),
    }
}

/// The last sample of each bin that has one.
fn ends(bin: Time, recording: &Recording) -> Vec<Time> {
    let flows = recording.flows.iter().map(|sample| sample.time);
    let stages = recording.stage_samples.iter().map(|sample| sample.time);
    let mut times: Vec<Time> = flows.chain(stages).filter(|time| *time > Time::ZERO).collect();
    times.sort_unstable();
    times.dedup();
    let number = |time: Time| time.as_ns().div_ceil(bin.as_ns().max(1));
    let bins = times.chunk_by(|a, b| number(*a) == number(*b));
    bins.filter_map(|times| times.last().copied()).collect()
}

fn rates(spans: &[(Time, Time)], flow: &FlowTrace) -> Rates {
    let column = |of: fn(&FlowSample) -> u64| {
        spans.iter().map(|(from, to)| of(flow.at(*to)).saturating_sub(of(flow.at(*from)))).collect()
    };
    with_rates(
        spans,
        Rates {
            sent_bytes: column(|s| s.bytes_sent),
            retransmitted_bytes: column(|s| s.bytes_retransmitted),
            acked_bytes: column(|s| s.bytes_acked),
            delivered_bytes: column(|s| s.bytes_delivered),
            ..Rates::default()
        },
    )
}

fn sum(spans: &[(Time, Time)], flows: &[Rates]) -> Rates {
    let column = |of: fn(&Rates) -> &Vec<u64>| -> Vec<u64> {
        (0..spans.len())
            .map(|bin| flows.iter().fold(0, |sum: u64, flow| sum.saturating_add(of(flow)[bin])))
            .collect()
    };
    with_rates(
        spans,
        Rates {
            sent_bytes: column(|flow| &flow.sent_bytes),
            retransmitted_bytes: column(|flow| &flow.retransmitted_bytes),
            acked_bytes: column(|flow| &flow.acked_bytes),
            delivered_bytes: column(|flow| &flow.delivered_bytes),
            ..Rates::default()
        },
    )
}

fn with_rates(spans: &[(Time, Time)], rates: Rates) -> Rates {
    let rate = |bytes: &[u64]| {
        let lengths = spans.iter().map(|(from, to)| to.saturating_sub(*from));
        bytes.iter().zip(lengths).map(|(bytes, length)| mbit(*bytes, length)).collect()
    };
    Rates {
        sent_mbit: rate(&rates.sent_bytes),
        delivered_mbit: rate(&rates.delivered_bytes),
        ..rates
    }
}

/// Bins of a place. None for a stage without packets, and where nothing ever waited and nothing was dropped.
fn place(spans: &[(Time, Time)], info: &StageInfo, trace: &StageTrace) -> Option<PlaceBins> {
    if WITHOUT_PACKETS.contains(&info.kind) {
        return None;
    }
    let highest = |sample: &StageSample| sample.peak.max(sample.waiting);

    // A place where nothing waits has only zeros to show.
    if !trace.samples.iter().any(|sample| highest(sample) > 0 || sample.dropped > 0) {
        return None;
    }
    let within = |(from, to): &(Time, Time)| trace.within(*from, *to);

    // A stage that measures occupancy knows its mean; others have only the samples' mean.
    let mean = |span: &(Time, Time)| {
        let exact = Occupancy::between(info, &trace.at(span.0), &trace.at(span.1));
        exact.map_or_else(|| mean_waiting(within(span)), |exact| exact.mean)
    };
    let peak = |samples: &[&StageSample]| samples.iter().map(|s| highest(s)).max().unwrap_or(0);
    let dropped =
        |(from, to): &(Time, Time)| trace.at(*to).dropped.saturating_sub(trace.at(*from).dropped);
    Some(PlaceBins {
        stage: info.name.clone(),
        mean: spans.iter().map(mean).collect(),
        peak: spans.iter().map(|span| peak(within(span))).collect(),
        dropped: spans.iter().map(dropped).collect(),
    })
}

/// Mean of what waits at the samples; 0 without samples.
fn mean_waiting(samples: &[&StageSample]) -> f64 {
    let sum: u128 = samples.iter().map(|sample| u128::from(sample.waiting)).sum();
    sum as f64 / samples.len().max(1) as f64
}
