//! Spans of a trial: when the counted flows send, and what they get meanwhile.

use super::case::Case;
use crate::analysis::document::Run;
use crate::gain::done;
use crate::scenario::{App, Resolved};
use crate::trace::recording::Recording;
use fullpipe_base::units::Time;

/// Beginning and end of the flow with the most data acknowledged; for a loop of connections, of the whole loop.
pub(super) fn main_life(
    counts: &[bool],
    recording: &Recording,
    run: &Resolved,
    made: &Run,
    end: Time,
) -> [Time; 2] {
    let mut acked = vec![0; counts.len()];
    let mut busy = vec![Time::ZERO; counts.len()];
    for sample in &recording.flows {
        let flow = usize::from(sample.flow);
        if counts.get(flow) == Some(&true) {
            // Messages are seldom in flight at a sample.
            let done = done(sample, run.flow[flow].app == App::Nfs);
            if sample.in_flight > 0 || done > acked[flow] {
                busy[flow] = sample.time;
            }
            acked[flow] = done;
        }
    }
    let counted = || (0..counts.len()).filter(|flow| counts[*flow]);
    let in_loops = in_loops(counts, run);
    if !in_loops.is_empty() {
        let start = in_loops.iter().map(|flow| run.flow[*flow].start).min();
        let last = in_loops.iter().map(|flow| busy[*flow]).max();
        return [start.unwrap_or(Time::ZERO), last.unwrap_or(end).min(end)];
    }
    let most = counted().max_by_key(|flow| acked[*flow]);
    most.map_or([Time::ZERO, end], |flow| {
        // The end of a transfer is known more exactly than its samples say.
        let start = run.flow[flow].start;
        let took = made.flows.get(flow).and_then(|own| own.completion_s);
        let took = took.filter(|_| run.flow[flow].bytes.is_some());
        let last = took.map_or(busy[flow], |took| start + Time::ns((took * 1e9) as u64));
        // What a program has written is on its way for longer.
        let until = run.flow[flow].duration.map_or(end, |lasts| (start + lasts).min(end));
        [start, last.min(until)]
    })
}

/// Counted flows that are connections of loops.
pub(super) fn in_loops(counts: &[bool], run: &Resolved) -> Vec<usize> {
    let followers = || run.flow.iter().enumerate().filter(|(at, _)| counts[*at]);
    let mut all: Vec<usize> = followers()
        .filter_map(|(at, flow)| Some([run.follows(flow)?.0, at]))
        .flatten()
        .filter(|at| counts[*at])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Rate and delay within a span.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// Acknowledged and read payload, Mb/s.
    pub(super) mbit: f64,
    /// Median round trip of the slowest flow above that of the path, ms.
    pub(super) queue_ms: f64,
    /// That round trip over the path's.
    pub(super) inflation: f64,
}

/// Rate and delay of the counted flows from one moment to another.
pub(super) fn window(
    case: &Case,
    run: &Resolved,
    counts: &[bool],
    recording: &Recording,
    [from, until]: [Time; 2],
) -> Window {
    let mut first: Vec<Option<u64>> = vec![None; counts.len()];
    let mut last: Vec<u64> = vec![0; counts.len()];
    let mut before: Vec<Time> = vec![Time::ZERO; counts.len()];
    let mut trips: Vec<Vec<u32>> = vec![Vec::new(); counts.len()];
    for sample in
        recording.flows.iter().filter(|sample| counts.get(usize::from(sample.flow)) == Some(&true))
    {
        let flow = usize::from(sample.flow);
        let done = done(sample, run.flow[flow].app == App::Nfs);
        if sample.time <= from {
            first[flow] = Some(done);
        } else if sample.time <= until && sample.srtt_us > 0 && sample.in_flight > 0 {
            trips[flow].push(sample.srtt_us);
        }
        // The first sample behind the end of a transfer has its last bytes.
        if before[flow] < until {
            last[flow] = done;
        }
        before[flow] = sample.time;
    }
    let acked: u64 = last.iter().zip(&first).map(|(b, a)| b - a.unwrap_or(0)).sum();
    let seconds = until.saturating_sub(from).as_secs_f64();
    let mbit = if seconds > 0.0 { acked as f64 * 8.0 / seconds / 1e6 } else { 0.0 };
    let base_ms = case.round_trip.as_ns() as f64 / 1e6;
    let medians = trips.iter_mut().filter_map(|own| {
        own.sort_unstable();
        own.get(own.len() / 2).map(|us| f64::from(*us) / 1e3)
    });
    let worst = medians.fold(base_ms, f64::max);
    Window { mbit, queue_ms: worst - base_ms, inflation: worst / base_ms.max(1e-6) }
}
