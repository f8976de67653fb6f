//! A clock that ticks: which tick a time lies in, without a division where it is that of the last time.

use crate::units::Time;
use core::cell::Cell;

/// See the module's description. Tick 0 begins at time 0.
#[derive(Clone, Debug)]
pub struct Ticks {
    /// Nanoseconds of a tick.
    ns: u64,
    /// Beginning and number of the tick that was asked for last.
    last: Cell<(u64, u64)>,
}

impl Ticks {
    /// Jiffies of a kernel with so many per second.
    pub fn jiffies(hz: u32) -> Ticks {
        Ticks { ns: 1_000_000_000 / u64::from(hz), last: Cell::new((0, 0)) }
    }

    /// The number of the tick at `time`.
    #[inline]
    pub fn at(&self, time: Time) -> u64 {
        let (begin, number) = self.last.get();
        if time.0.wrapping_sub(begin) < self.ns {
            return number;
        }
        let number = time.0 / self.ns;
        self.last.set((number * self.ns, number));
        number
    }

    /// When a tick begins.
    pub fn begin(&self, number: u64) -> Time {
        Time(number * self.ns)
    }
}
