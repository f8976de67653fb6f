//! Pauses of a sending program: stretches of time in which TCP has nothing to send.

use crate::lookup::FlowTrace;
use fullpipe_base::tcp::CaState;
use fullpipe_base::trace::{FlowSample, Limit};
use fullpipe_base::units::Time;

/// A shorter time without data is no pause: a program that writes at a rate leaves as much between two writes.
const LEAST: Time = Time::ms(50);
/// Share of a sample in which a flow waits for its program, from which on all of it counts, if nothing is sent in it.
const WHOLE: f64 = 0.9;
/// Parts of a flow's life in which it is looked whether the program ran dry.
const PARTS: usize = 10;
/// Parts in which cwnd grows first.
const GROWTH: usize = 3;

/// Time for which a flow waits for its program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pauses {
    /// Number of pauses: stretches of half a round trip and of 50 ms at least.
    pub count: usize,
    /// Share of the pauses in the time from the first to the last data (0 to 1).
    pub share: f64,
    /// Share of all waits for the program, short ones too.
    pub waits: f64,
    /// Tenths of the life, the first three left out, in which the program ran dry.
    pub dry: usize,
    /// Tenths of the life, the first three left out, in which the flow was in slow start without a timeout.
    pub restarts: usize,
}

impl Pauses {
    /// Whether the pauses are a habit of the program, which sends as fast as it can between them.
    pub fn are_a_habit(self) -> bool {
        self.take_time() || self.cost_cwnd()
    }

    /// Whether the pauses take a tenth of the time and are two or more, or take a quarter of the time. A program that
    /// writes at a rate waits nearly all the time.
    pub fn take_time(self) -> bool {
        (self.count >= 2 && self.share >= 0.1 || self.share >= 0.25) && self.waits <= 0.8
    }

    /// Whether cwnd starts again after pauses that are too short to be seen: data that is in flight hides them.
    fn cost_cwnd(self) -> bool {
        self.restarts >= 3 && self.waits >= 0.1 && self.waits <= 0.8
    }

    /// Whether the flow always catches up with its program.
    pub fn runs_dry(self) -> bool {
        self.dry == PARTS - GROWTH
    }
}

/// The pauses of a flow; one that is not `done` may pause at its end.
pub fn pauses(trace: &FlowTrace, round_trip: Time, done: bool) -> Pauses {
    let is_busy = |sample: &&FlowSample| sample.in_flight > 0 || sample.unsent > 0;
    let waited = |sample: &FlowSample| sample.limits[Limit::Application as usize];
    let samples = &trace.samples;

    // A flow's pauses lie between its first and its last data.
    let first = samples.iter().position(is_busy);
    let last = samples.iter().rposition(is_busy);
    let (Some(first), Some(mut last)) = (first, last) else { return Pauses::default() };

    // A flow that is not done may still wait for its program at the end.
    while !done && last + 1 < samples.len() && waited(samples[last + 1]) > waited(samples[last]) {
        last += 1;
    }
    let (begin, all) =
        (samples[first].time, samples[last].time.saturating_sub(samples[first].time));
    if all == Time::ZERO {
        return Pauses::default();
    }

    // Data in flight hides the first part of a pause.
    let least = LEAST.max(Time(round_trip.0 / 2));
    let slow = |sample: &FlowSample| sample.limits[Limit::CwndSlowStart as usize];
    let (mut own, mut dry, mut starts) = (Pauses::default(), [false; PARTS], [false; PARTS]);
    let mut times_out = [false; PARTS];
    let (mut stretch, mut paused, mut waits) = (Time::ZERO, 0, 0);
    for pair in samples[first..=last].windows(2) {
        let span = pair[1].time.saturating_sub(pair[0].time);
        let waiting = waited(pair[1]).saturating_sub(waited(pair[0]));
        waits = u64::saturating_add(waits, waiting);

        // Parts of equal length show whether the program lacks data all along.
        let at = pair[1].time.saturating_sub(begin).0 as f64 / all.0 as f64;
        let part = ((at * PARTS as f64) as usize).min(PARTS - 1);
        dry[part] |= waiting > 0;
        starts[part] |= slow(pair[1]) > slow(pair[0]);
        times_out[part] |= pair[1].ca_state == CaState::Loss as u8;
        let is_silent = pair[1].bytes_sent == pair[0].bytes_sent;

        // Silence alone is not a pause: cwnd or the receiver may cause it.
        if is_silent && waiting as f64 >= WHOLE * span.0 as f64 {
            stretch = Time(stretch.0.saturating_add(span.0));
            continue;
        }
        if stretch >= least {
            (own.count, paused) = (own.count + 1, u64::saturating_add(paused, stretch.0));
        }
        stretch = Time::ZERO;
    }

    // The last stretch ends with the samples.
    if stretch >= least {
        (own.count, paused) = (own.count + 1, u64::saturating_add(paused, stretch.0));
    }

    own.share = paused as f64 / all.0 as f64;
    own.waits = waits as f64 / all.0 as f64;

    // The first parts are left out: cwnd grows there anyway.
    own.dry = dry[GROWTH..].iter().filter(|dry| **dry).count();
    own.restarts = (GROWTH..PARTS).filter(|part| starts[*part] && !times_out[*part]).count();
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_trace::schema::Row;

    /// A flow that sends for `on` ms and waits for its program for `off` ms, for 3 s.
    fn of(on: u64, off: u64) -> Pauses {
        let mut waited = 0;
        let samples: Vec<FlowSample> = (1..=3000)
            .map(|ms| {
                let sends = ms % (on + off) < on;
                waited += if sends { 0 } else { 1_000_000 };
                let mut limits = [0; Limit::COUNT];
                limits[Limit::Application as usize] = waited;
                FlowSample { time: Time::ms(ms), in_flight: 1, limits, ..FlowSample::blank() }
            })
            .collect();
        pauses(&FlowTrace::new(samples.iter().collect()), Time::ms(20), true)
    }

    #[test]
    fn pauses_are_counted() {
        let own = of(500, 500);
        assert_eq!(own.count, 3);
        assert!((0.45..0.55).contains(&own.share), "{own:?}");
        assert!(own.are_a_habit() && !own.runs_dry());
    }

    #[test]
    fn a_short_gap_is_no_pause() {
        let own = of(40, 40);
        assert_eq!((own.count, own.dry), (0, 7));
        assert!(own.runs_dry() && !own.are_a_habit());
        assert_eq!(of(4000, 1), Pauses::default());
    }

    /// A write of a packet each 200 ms.
    #[test]
    fn a_program_that_writes_at_a_rate_does_not_pause() {
        assert!(!of(10, 190).are_a_habit());
    }
}
