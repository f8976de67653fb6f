//! A host's CPU: what must be done at once, and an application's step that gives way to it.

use super::counter::Busy;
use fullpipe_sim::units::Time;

/// CPU of a host.
#[derive(Default)]
pub struct Cpu {
    /// Until when it does what must be done at once.
    pub free: Time,
    /// The application's step: what is left of it, and since when it has been going on.
    step: Option<(Time, Time)>,
    /// All work.
    pub busy: Busy,
}

impl Cpu {
    /// Something that must be done at once takes `from .. until`.
    pub fn urgent(&mut self, from: Time, until: Time) {
        if let Some((left, since)) = &mut self.step {
            if from > *since {
                self.busy.note(*since, from);
                *left = *left - (from - *since);
            }
            *since = until;
        }
        if until > from {
            self.busy.note(from, until);
        }
        self.free = self.free.max(until);
    }

    /// An application's step of `cost` begins.
    pub fn begin_step(&mut self, now: Time, cost: Time) {
        assert!(self.step.is_none());
        self.step = Some((cost, now));
    }

    /// End of the step if nothing urgent arrives.
    pub fn step_end(&self) -> Option<Time> {
        self.step.map(|(left, since)| since + left)
    }

    /// The step is over.
    pub fn end_step(&mut self, now: Time) {
        let (left, since) = self.step.take().expect("a step was going on");
        assert_eq!(since + left, now);
        self.busy.note(since, now);
    }

    /// Nanoseconds of work up to `now`.
    pub fn busy_up_to(&mut self, now: Time) -> u64 {
        let step = self.step.map_or(0, |(_, since)| now.saturating_sub(since).0);
        self.busy.up_to(now) + step
    }
}
