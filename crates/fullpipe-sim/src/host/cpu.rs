//! A host's CPU: urgent work piece by piece, and an application's step that yields to it.
//!
//! Limits:
//! - A read that copies before packets of its moment costs no call.
//! - A host is one CPU with constant costs per call, per byte and per packet. Caches, memory bandwidth, further cores and other
//!   processes are not modelled.

use crate::config;
use crate::units::Time;

/// Progress of a host that handles an event: time of the event, and time that its CPU has reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    pub(super) cpu: Time,
    pub(super) now: Time,
}

/// The CPU of a host.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    /// End of the urgent work so far, and of the last finished step.
    pub(crate) free: Time,
    /// Nanoseconds of urgent work and of finished steps.
    booked: u64,
    step: Option<CpuStep>,
}

/// A step of an application: copying between its memory and the kernel's.
#[derive(Clone, Copy, Debug)]
struct CpuStep {
    end: Time,
    cost: Time,
}

impl Cpu {
    /// Adds urgent work from `from` to `until`; a step in progress ends later by as much. Work that begins later than
    /// now begins when the urgent work before it ends.
    pub(crate) fn urgent(&mut self, from: Time, until: Time) {
        let spent = until - from;
        self.booked += spent.0;
        self.free = self.free.max(until);
        if let Some(step) = &mut self.step {
            step.end += spent;
        }
    }

    /// Begins a step of `cost` at `from`.
    pub(crate) fn begin_step(&mut self, from: Time, cost: Time) {
        self.step = Some(CpuStep { end: from + cost, cost });
    }

    /// End of the step in progress, if there is one.
    pub(crate) fn step_end(&self) -> Option<Time> {
        self.step.map(|step| step.end)
    }

    /// Ends the step at `now`; from then on the CPU is free for the next work.
    pub(crate) fn end_step(&mut self, now: Time) {
        self.booked += self.step.take().map_or(0, |step| step.cost.0);
        self.free = self.free.max(now);
    }

    /// Nanoseconds of work up to `now`.
    pub(crate) fn busy_ns(&self, now: Time) -> u64 {
        let ahead = self.free.saturating_sub(now).0;
        let in_step = self.step.map_or(0, |step| (step.cost - (step.end - self.free.max(now))).0);
        self.booked - ahead + in_step
    }
}

/// CPU time to copy `bytes`.
pub(super) fn copy_time(host: &config::Host, bytes: u64) -> Time {
    Time(bytes * host.cpu.copy_ps_per_byte / 1000)
}
