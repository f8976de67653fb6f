//! Moments of a flow, as its samples show them.
//!
//! A sample shows that a counter grew or a state changed since the last one, not when. Engines that know
//! better are read no finer: two runs are compared at one resolution.

use super::document::{Happened, Moment};
use super::lookup::{FlowTrace, Life, since_clock};
use fullpipe_base::trace::{EventKind, FlowSample};

/// Most moments that are kept of a flow.
const MOST: usize = 2_000;

/// The moments of a flow, the first [`MOST`] of them, and how many there are besides.
pub fn moments(trace: &FlowTrace, life: &Life) -> (Vec<Moment>, u64) {
    // Timeouts and aborts are events; all else shows in the samples.
    let own = trace.events.iter();
    let own = own.filter(|event| matches!(event.kind, EventKind::Timeout | EventKind::Aborted));
    let mut own = own.peekable();
    let mut all = Vec::new();
    let mut before = trace.before(0);
    for sample in trace.samples.iter().copied() {
        let (mut fired, mut aborted) = (0, None);
        while let Some(event) = own.next_if(|event| event.time <= sample.time) {
            match event.kind {
                EventKind::Timeout => fired += 1,
                _ => aborted = Some(event.value),
            }
        }
        let at_s = since_clock(life, sample.time);
        let seen = changes(before, sample, fired).chain(aborted.map(|e| (Happened::Aborted, e)));
        all.extend(seen.map(|(what, value)| Moment { at_s, what, value }));
        before = sample;
    }

    // The first moments explain the rest; a long run of losses repeats itself.
    let left_out = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    (all, left_out as u64)
}

/// Changes from one sample to the next, after so many timeouts.
fn changes(
    before: &FlowSample,
    sample: &FlowSample,
    timeouts: u64,
) -> impl Iterator<Item = (Happened, u64)> {
    let resent = sample.segments_retransmitted.saturating_sub(before.segments_retransmitted);
    let state = (sample.ca_state != before.ca_state).then_some(u64::from(sample.ca_state));
    let more = |n: u64| (n > 0).then_some(n);
    let seen = [
        (Happened::Timeout, more(timeouts)),
        (Happened::State, state),
        (Happened::Retransmitted, more(resent)),
    ];
    seen.into_iter().filter_map(|(what, value)| Some((what, value?)))
}
