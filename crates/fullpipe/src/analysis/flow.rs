//! The facts of one flow.

use super::RunMeta;
use super::document::{Aborted, Flow};
use super::intervals::{full_rates, intervals};
use super::limits::Attribution;
use super::lookup::{Lives, Traces, mbit, since_clock};
use super::moments::moments;
use super::plateau::plateau;
use super::series::series;
use fullpipe_sim::trace::Event;
use fullpipe_sim::units::Time;

/// The facts of the flow of that index.
pub fn flow(
    meta: &RunMeta,
    traces: &Traces,
    lives: &Lives,
    events: &[Event],
    index: usize,
) -> Flow {
    let (about, trace, life) = (&meta.flows[index], &traces.flows[index], &lives.flows[index]);
    let attribution = Attribution::new(trace, traces);
    let queue = traces.links.first();
    let intervals = intervals(meta, trace, life, &attribution, queue);
    let plateau = plateau(&full_rates(meta, &intervals));
    let last = trace.last();
    // The life ends between two samples; the later one closes it.
    let end = trace.count(Time(life.end.as_ns().saturating_sub(1))) + 1;
    let (moments, moments_left_out) = moments(trace, life, events, index);
    Flow {
        name: about.name.clone(),
        congestion: about.congestion.clone(),
        kernel: about.kernel.clone(),
        clock_start_s: life.clock.as_secs_f64(),
        series: series(meta, trace, life, &attribution, queue),
        limits: attribution.named(trace.count(life.start), end),
        bytes: last.bytes_delivered,
        retransmitted_segments: last.segments_retransmitted,
        mean_mbit: mbit(last.bytes_delivered, life.end.saturating_sub(life.start)),
        plateau_mbit: plateau.map(|plateau| plateau.rate),
        time_to_plateau_s: plateau.map(|plateau| intervals[plateau.first].end_s),
        completion_s: life.complete.then(|| life.end.saturating_sub(life.start).as_secs_f64()),
        aborted: life.aborted.map(|errno| Aborted { at_s: since_clock(life, life.end), errno }),
        intervals,
        moments,
        moments_left_out,
    }
}
