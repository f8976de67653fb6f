//! The moment at which the rate of acknowledged data has settled.
//!
//! A rate counts as settled when three spans in a row carry the same within [`SAME`]. A span has ten round trips and half
//! a second at least, so that a sawtooth shorter than a span does not look like growth.

use crate::engine::{Engine, Failed, Outcome};
use crate::scenario::{Resolved, Until};
use fullpipe_base::trace::{Control, Counter, Event, FlowSample, Packet, Point, Sink};
use fullpipe_base::trace::{StageInfo, StageSample};
use fullpipe_base::units::Time;
use std::cell::RefCell;
use std::collections::VecDeque;

/// Rates of two spans that differ by less are the same.
const SAME: f64 = 0.02;
/// Round trips at the ends of spans that differ by less are the same: a queue breathes with its sawtooth.
const SAME_TRIP: f64 = 0.1;
/// Round trips of a span.
const ROUND_TRIPS: u64 = 10;
/// Least length of a span.
const LEAST_SPAN: Time = Time::ms(500);
/// Spans that are compared.
const SPANS: usize = 3;

/// Round trips and time before which no rate counts as settled.
const GROWN: u64 = 30;
const LEAST: Time = Time::secs(2);

/// Runs a scenario on an engine until its `report.until` says: to its end, or until its rate has settled.
///
/// A run that has settled is a complete run.
///
/// # Errors
/// As [`Engine::run`].
pub fn run(
    engine: &dyn Engine,
    resolved: &Resolved,
    sink: &mut dyn Sink,
    control: &mut dyn Control,
) -> Result<Outcome, Failed> {
    if resolved.report.until == Until::End {
        return engine.run(resolved, sink, control);
    }

    // The flows must have grown before a steady rate means anything.
    let latest = resolved.flow.iter().map(|flow| flow.start).max().unwrap_or(Time::ZERO);
    let trips = resolved.flow.iter().map(|flow| resolved.round_trip(flow));
    let round_trip = trips.max().unwrap_or(Time::ZERO);
    let from = latest + Time(round_trip.0.saturating_mul(GROWN)) + LEAST;
    let from = Steady::from(resolved, from);

    // All flows count for the user's own run.
    let all = vec![true; resolved.flow.len()];
    let steady = RefCell::new(Steady::new(round_trip, from, &all));
    let outcome = engine.run(
        resolved,
        &mut Watching { sink, steady: &steady },
        &mut UntilSteady { control, steady: &steady },
    )?;

    // A run that has settled was ended on purpose.
    let settled = steady.borrow().settled().is_some();
    Ok(Outcome { complete: outcome.complete || settled, ..outcome })
}

/// Acknowledged bytes, span by span.
#[derive(Debug)]
pub struct Steady {
    span: Time,
    /// No rate counts as settled before.
    from: Time,
    /// Bytes by flow; none of flows that do not count.
    acked: Vec<Option<u64>>,
    /// Smoothed round trips by flow.
    round_trips: Vec<Time>,
    /// Bytes of all flows, and the longest round trip, at the ends of the last spans.
    marks: VecDeque<(u64, Time)>,
    /// Whether the round trip has to settle, too.
    with_round_trip: bool,
    /// End of the current span.
    next: Time,
    settled: Option<Time>,
}

impl Steady {
    /// The moment from which a run's rate may count as settled. The rate of connections one after another never settles.
    pub fn from(run: &Resolved, from: Time) -> Time {
        if run.has_loops() { Time::NEVER } else { from }
    }

    /// A detector for flows with this longest round trip, of which `counts` selects the ones that count; it looks after
    /// `from`.
    pub fn new(round_trip: Time, from: Time, counts: &[bool]) -> Steady {
        // ACKs arrive in bunches, so a span has a whole number of round trips.
        let trips = ROUND_TRIPS.max(LEAST_SPAN.0.div_ceil(round_trip.0.max(1)));
        let span = Time(round_trip.0.saturating_mul(trips)).max(LEAST_SPAN);
        // The first span that is compared ends where the flows have grown.
        let first = Time(from.0.saturating_sub((SPANS as u64).saturating_mul(span.0)));
        Steady {
            span,
            from,
            acked: counts.iter().map(|counts| counts.then_some(0)).collect(),
            round_trips: vec![Time::ZERO; counts.len()],
            marks: VecDeque::new(),
            with_round_trip: false,
            next: first,
            settled: None,
        }
    }

    /// A detector that also waits for the round trip: a queue may grow while the rate is the path's.
    pub fn with_round_trip(self) -> Steady {
        Steady { with_round_trip: true, ..self }
    }

    /// When the rate settled; none as long as it has not.
    pub fn settled(&self) -> Option<Time> {
        self.settled
    }

    fn flow(&mut self, sample: &FlowSample) {
        if let Some(Some(acked)) = self.acked.get_mut(usize::from(sample.flow)) {
            *acked = sample.bytes_acked;
            self.round_trips[usize::from(sample.flow)] = Time::us(sample.srtt_us.into());
        }
    }

    fn at(&mut self, now: Time) {
        if self.settled.is_some() || now < self.next {
            return;
        }

        // One mark a span: so many alike spans make a steady rate.
        self.next = now + self.span;
        let longest = self.round_trips.iter().copied().max().unwrap_or(Time::ZERO);
        self.marks.push_back((self.acked.iter().flatten().sum(), longest));
        if self.marks.len() > SPANS + 1 {
            self.marks.pop_front();
        }
        if now >= self.from && self.marks.len() == SPANS + 1 && self.are_alike() {
            self.settled = Some(now);
        }
    }

    fn are_alike(&self) -> bool {
        let later = self.marks.iter().skip(1);
        let spans = || self.marks.iter().zip(later.clone()).map(|((a, _), (b, _))| b - a);
        let (least, most) = (spans().min().unwrap_or(0), spans().max().unwrap_or(0));
        least > 0 && (most - least) as f64 <= SAME * most as f64 && !self.round_trip_grows()
    }

    /// Whether the round trip differs between the last spans where it has to settle.
    fn round_trip_grows(&self) -> bool {
        let trips = || self.marks.iter().map(|(_, trip)| trip.as_secs_f64());
        let (shortest, longest) =
            (trips().fold(f64::INFINITY, f64::min), trips().fold(0.0, f64::max));
        self.with_round_trip && longest > (1.0 + SAME_TRIP) * shortest
    }
}

/// A sink that watches the rate on the way to another sink.
pub struct Watching<'a> {
    /// Sink of all records.
    pub sink: &'a mut dyn Sink,
    /// Detector of the settled rate.
    pub steady: &'a RefCell<Steady>,
}

impl Sink for Watching<'_> {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.sink.stages(stages);
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.steady.borrow_mut().flow(sample);
        self.sink.flow(sample);
    }
    fn stage(&mut self, sample: &StageSample) {
        self.sink.stage(sample);
    }
    fn event(&mut self, event: &Event) {
        self.sink.event(event);
    }
    fn counter(&mut self, counter: &Counter) {
        self.sink.counter(counter);
    }
    fn point(&self) -> Option<Point> {
        self.sink.point()
    }
    fn packet(&mut self, packet: &Packet) {
        self.sink.packet(packet);
    }
}

/// A control that ends a run when its rate has settled, or when another control says so.
pub struct UntilSteady<'a> {
    /// The other control.
    pub control: &'a mut dyn Control,
    /// Detector of the settled rate.
    pub steady: &'a RefCell<Steady>,
}

impl Control for UntilSteady<'_> {
    fn go_on(&mut self, now: Time) -> bool {
        let mut steady = self.steady.borrow_mut();
        steady.at(now);
        steady.settled().is_none() && self.control.go_on(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::schema::Row;

    /// Feeds a rate, bytes per ms, by time in ms, and says when it settled.
    fn settled(lasts_ms: u64, rate: impl Fn(u64) -> u64) -> Option<Time> {
        let mut steady = Steady::new(Time::ms(20), Time::secs(2), &[true, false]);
        let mut acked = 0;
        for ms in 1..=lasts_ms {
            acked += rate(ms);
            let sample = FlowSample { bytes_acked: acked, ..FlowSample::blank() };
            steady.flow(&sample);
            // Another direction does not count.
            steady.flow(&FlowSample { flow: 1, bytes_acked: ms * ms, ..FlowSample::blank() });
            steady.at(Time::ms(ms));
        }
        steady.settled()
    }

    #[test]
    fn an_even_rate_settles_at_once() {
        assert_eq!(settled(5000, |_| 1000), Some(Time::ms(2000)));
    }

    #[test]
    fn a_rate_that_grows_does_not_settle() {
        assert_eq!(settled(20_000, |ms| ms), None);
    }

    /// A rate that grows by 5 % a second until 6 s and is even then settles three spans of half a second later.
    #[test]
    fn a_rate_settles_when_it_has_grown() {
        let at = settled(20_000, |ms| 1000 + 50 * ms.min(6000) / 1000).expect("settled");
        assert!((Time::ms(6500)..=Time::ms(7600)).contains(&at), "{at}");
    }

    #[test]
    fn nothing_is_no_rate() {
        assert_eq!(settled(20_000, |_| 0), None);
    }
}
