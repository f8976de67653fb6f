//! Repetitions of a run: other seeds, and what a seed shifts.
//!
//! A drop-tail path with bulk flows draws no random number, so its repetitions would be one run; and where flows start at
//! one moment on ways of one length, who finds the queue full is a matter of phase (Floyd, Jacobson: On Traffic Phase
//! Effects in Packet-Switched Gateways, 1991). So a repetition may shift when flows start and how long ways are, each by
//! a random amount that follows from the run's seed.

use super::format::written;
use super::resolved::Resolved;
use super::{Element, Flow};
use fullpipe_sim::rng::Rng;
use fullpipe_sim::units::Time;

/// How runs are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Runs of each point, with the scenario's seed and those after it.
    pub seeds: u32,
    /// The most by which a flow starts later.
    pub start_jitter: Time,
    /// The most by which each delay of the path is longer.
    pub delay_jitter: Time,
}

impl Default for Repeat {
    fn default() -> Repeat {
        Repeat { seeds: 1, start_jitter: Time::ZERO, delay_jitter: Time::ZERO }
    }
}

impl Repeat {
    /// What was written; without it each point is one run, and nothing is shifted.
    pub(super) fn of(written: Option<&written::Repeat>) -> Repeat {
        let Some(written) = written else { return Repeat::default() };
        let time = |at: Option<Time>| at.unwrap_or(Time::ZERO);
        Repeat {
            seeds: written.seeds.as_ref().map_or(1, |at| at.value.0 as u32),
            start_jitter: time(written.start_jitter.as_ref().map(|at| Time::ns(at.value.0))),
            delay_jitter: time(written.delay_jitter.as_ref().map(|at| Time::ns(at.value.0))),
        }
    }

    /// Shifts what the run's seed shifts.
    pub(super) fn shift(&self, run: &mut Resolved) {
        let seed = run.seed;
        let starts = run.flow.iter_mut().filter(|flow| flow.answers.is_none());
        starts.for_each(|flow: &mut Flow| {
            flow.start += part(self.start_jitter, seed, "start", &flow.name)
        });
        let ways = run.path.forward.iter_mut().chain(&mut run.path.back);
        let delays = ways.filter_map(|element| match element {
            Element::Delay(delay) => Some(delay),
            _ => None,
        });
        delays.for_each(|delay| delay.delay += part(self.delay_jitter, seed, "delay", &delay.name));
    }
}

/// A random part of `most` that follows from the seed and a name, in whole nanoseconds.
fn part(most: Time, seed: u64, what: &str, name: &str) -> Time {
    if most == Time::ZERO {
        return Time::ZERO;
    }
    let share = Rng::new(seed, &format!("repeat {what} {name}")).unit();
    Time::ns((most.as_ns() as f64 * share) as u64)
}
