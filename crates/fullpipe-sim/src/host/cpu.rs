//! A host's CPU: urgent work one after the other, and an application's step that gives way to it.
//!
//! Limits:
//! - A read that copies before packets of its moment come pays for no call.
//! - A host is one CPU with constant costs per call, per byte and per packet. Caches, memory bandwidth, further cores and other
//!   processes are not modelled.

use crate::config;
use crate::units::Time;

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    /// When the urgent work booked so far is done, and the last step that is over.
    pub(crate) free: Time,
    /// Nanoseconds of urgent work and of steps that are over.
    booked: u64,
    step: Option<Step>,
}

/// A step of an application: copying between its memory and the kernel's.
#[derive(Clone, Copy, Debug)]
struct Step {
    end: Time,
    cost: Time,
}

impl Cpu {
    /// Urgent work takes `from .. until`; a step in progress ends so much later. Work that begins
    /// later than now begins when the urgent work before it ends.
    pub(crate) fn urgent(&mut self, from: Time, until: Time) {
        let spent = until - from;
        self.booked += spent.0;
        self.free = self.free.max(until);
        if let Some(step) = &mut self.step {
            step.end += spent;
        }
    }

    /// A step that costs `cost` begins at `from`.
    pub(crate) fn begin_step(&mut self, from: Time, cost: Time) {
        self.step = Some(Step { end: from + cost, cost });
    }

    /// When the step in progress ends, if there is one.
    pub(crate) fn step_end(&self) -> Option<Time> {
        self.step.map(|step| step.end)
    }

    /// The step is over at `now`; whoever waits for the CPU has it from then on.
    pub(crate) fn end_step(&mut self, now: Time) {
        self.booked += self.step.take().map_or(0, |step| step.cost.0);
        self.free = self.free.max(now);
    }

    /// Nanoseconds up to `now` during which it worked.
    pub(crate) fn busy_ns(&self, now: Time) -> u64 {
        let ahead = self.free.saturating_sub(now).0;
        let left_of = |step: Step| step.end - self.free.max(now);
        let in_step = self.step.map_or(0, |step| (step.cost - left_of(step)).0);
        self.booked - ahead + in_step
    }
}

/// CPU time to copy `bytes`.
pub(super) fn copy_time(host: &config::Host, bytes: u64) -> Time {
    Time(bytes * host.cpu.copy_ps_per_byte / 1000)
}
