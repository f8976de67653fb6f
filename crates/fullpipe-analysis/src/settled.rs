//! Rate of acknowledged data once a flow's beginning is over, and whether that rate is known.
//!
//! Deliveries would jump where a hole closes, and several flows could seem to exceed the link.

use super::document::{Flow, Settled};
use super::lookup::{FlowTrace, Life, mbit};
use super::plateau::REACHED;
use fullpipe_base::tcp::CaState;
use fullpipe_base::trace::EventKind;
use fullpipe_base::units::Time;

/// Loss epochs over which a mean is steady. The mean of a sawtooth over 30 of its teeth is within a few percent of the
/// mean over all of them. The relative deviation of the mean of n teeth falls with the root of n.
pub const EPOCHS: u64 = 30;
/// Relative difference that the rates of the last three quarters may have where there are fewer epochs.
const EVEN: f64 = 0.01;

/// The second half of the flow's life.
pub fn settled(trace: &FlowTrace, life: &Life) -> Settled {
    let lasts = life.end.saturating_sub(life.start).as_ns();
    let at = |quarter: u64| life.start + Time::ns(lasts / 4 * quarter);
    let rate = |from: Time, to: Time| {
        // The samples before these moments, and the time between these samples.
        let (from, to) = (trace.at(from), trace.at(to));
        let bytes = to.bytes_acked.saturating_sub(from.bytes_acked);
        mbit(bytes, to.time.saturating_sub(from.time))
    };

    // The first quarter holds the start: the other three show whether the rate is even.
    let quarters = [rate(at(1), at(2)), rate(at(2), at(3)), rate(at(3), life.end)];
    let least = quarters.iter().copied().fold(f64::INFINITY, f64::min);
    let most = quarters.iter().copied().fold(0.0, f64::max);
    let even = most > 0.0 && most - least <= EVEN * most;
    let loss_epochs = epochs(trace, at(2));

    // Many loss epochs average out, even if the quarters differ.
    Settled { mbit: rate(at(2), life.end), loss_epochs, steady: loss_epochs >= EPOCHS || even }
}

/// Rate that a flow settles at, Mb/s; none without a plateau.
///
/// A window leaves in one burst for each round trip, and an interval counts whole bursts. The plateau is of the highest
/// intervals, with one burst more than their share: 138 ms fit eight times into some seconds, and 7.2 times into the
/// mean one. The second half of the flow's life has the mean, as long as the flow keeps its plateau there.
pub fn settles_at(flow: &Flow) -> Option<f64> {
    let plateau = flow.plateau_mbit?;
    let half = flow.settled.map(|own| own.mbit);
    let kept = half.filter(|mbit| (REACHED * plateau..plateau).contains(mbit));
    Some(kept.unwrap_or(plateau))
}

/// Number of times that the flow entered Recovery or Loss from another state, from `start` on.
fn epochs(trace: &FlowTrace, start: Time) -> u64 {
    let mut within = false;
    let states = trace.events.iter().filter(|event| event.kind == EventKind::CaState);
    let begins = states.filter(|event| {
        let before = std::mem::replace(&mut within, event.value >= CaState::Recovery as u64);
        within && !before && event.time >= start
    });
    begins.count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::trace::{Event, FlowSample};
    use fullpipe_trace::schema::Row;

    /// A flow of 8 s with these bytes acknowledged in each second, and the given state changes.
    fn of(rates: [u64; 8], states: &[(u64, CaState)]) -> Settled {
        let mut bytes = 0;
        let samples: Vec<FlowSample> = rates
            .iter()
            .enumerate()
            .map(|(second, rate)| {
                bytes += rate;
                let time = Time::secs(second as u64 + 1);
                FlowSample { time, bytes_acked: bytes, ..FlowSample::blank() }
            })
            .collect();
        let events: Vec<Event> = states
            .iter()
            .map(|(ms, state)| Event {
                time: Time::ms(*ms),
                flow: 0,
                kind: EventKind::CaState,
                value: *state as u64,
            })
            .collect();
        let mut trace = FlowTrace::new(samples.iter().collect());
        trace.events = events.iter().collect();
        let (start, end) = (Time::ZERO, Time::secs(8));
        settled(
            &trace,
            &Life { start, begins: true, clock: start, end, complete: false, aborted: None },
        )
    }

    #[test]
    fn the_second_half_counts() {
        const MB: u64 = 1_000_000;
        let even = of([0, 0, MB, MB, MB, MB, MB, MB], &[]);
        assert_eq!(even, Settled { mbit: 8.0, loss_epochs: 0, steady: true });
        let late = of([0, 0, 0, 0, MB, MB, MB, MB], &[]);
        assert_eq!(late, Settled { mbit: 8.0, loss_epochs: 0, steady: false });
        let grows = of([0, 0, MB, MB, MB, MB, 2 * MB, 2 * MB], &[]);
        assert_eq!(grows, Settled { mbit: 12.0, loss_epochs: 0, steady: false });
    }

    #[test]
    fn bursts_of_a_round_trip_do_not_raise_the_rate() {
        let of = |plateau_mbit: Option<f64>, mbit: Option<f64>| {
            let settled = mbit.map(|mbit| Settled { mbit, loss_epochs: 0, steady: false });
            settles_at(&Flow { plateau_mbit, settled, ..Flow::default() })
        };
        // 480 kB in 138 ms: 27.8 Mb/s; a second with eight bursts has 30.5.
        assert_eq!(of(Some(30.5), Some(27.6)), Some(27.6));
        // A rate that fell later settled before, and one that acknowledges more than is useful is not raised.
        assert_eq!(of(Some(30.5), Some(20.0)), Some(30.5));
        assert_eq!(of(Some(30.5), Some(31.0)), Some(30.5));
        assert_eq!((of(Some(30.5), None), of(None, Some(27.6))), (Some(30.5), None));
    }

    #[test]
    fn epochs_of_what_is_averaged_count() {
        use CaState::{Cwr, Loss, Open, Recovery};
        let states = [(1000, Recovery), (1100, Loss), (1500, Open), (3000, Cwr), (6000, Loss)];
        let uneven = [0, 0, 0, 1, 1, 1, 1, 2];
        let few = of(uneven, &states);
        assert_eq!((few.loss_epochs, few.steady), (1, false));
        // 30 epochs from 2 s on are too few: the mean covers the epochs from 4 s on.
        let each = |from: u64, n: u64| (from + n * 50, [Recovery, Open][n as usize % 2]);
        let all: Vec<_> = (0..60).map(|n| each(2000, n)).collect();
        let half = of(uneven, &all);
        assert_eq!((half.loss_epochs, half.steady), (10, false));
        let late: Vec<_> = (0..60).map(|n| each(4000, n)).collect();
        let late = of(uneven, &late);
        assert_eq!((late.loss_epochs, late.steady), (30, true));
    }
}
