//! Integrals of numbers over time, and changes of states.

use crate::units::Time;
use alloc::vec::Vec;

/// A number that changes, and its integral over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Integral {
    value: u32,
    since: Time,
    sum: u128,
}

impl Integral {
    /// Sets the number from `now` on.
    pub(crate) fn set(&mut self, now: Time, value: u32) {
        self.sum = self.at(now);
        (self.value, self.since) = (value, now);
    }

    /// Integral up to `now`, ns.
    pub(crate) fn read(&self, now: Time) -> u64 {
        self.at(now).try_into().unwrap_or(u64::MAX)
    }

    fn at(&self, now: Time) -> u128 {
        self.sum + u128::from(self.value) * u128::from(now.saturating_sub(self.since).0)
    }
}

/// A state, and its changes since the last [`Changes::take`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes<T> {
    current: T,
    log: Vec<(Time, T)>,
}

impl<T: Copy + PartialEq> Changes<T> {
    /// Sets the state from `now` on.
    pub(crate) fn set(&mut self, now: Time, state: T) {
        if state != self.current {
            self.current = state;
            self.log.push((now, state));
        }
    }

    /// Takes the changes, in order of time.
    pub(crate) fn take(&mut self) -> Vec<(Time, T)> {
        core::mem::take(&mut self.log)
    }
}
