//! Transmit completion: when the driver notices sent segments, and when its queue stops and starts.
//!
//! An interrupt reports sent segments to the driver. It comes so long after the first unreported one, and reports all
//! segments sent by then. Source: Linux `ETHTOOL_GCOALESCE`: tx_coalesce_usecs, include/uapi/linux/ethtool.h. Only then
//! their descriptors are free.
//!
//! After each skb the driver stops its queue if fewer descriptors are free than the next skb may need. An interrupt
//! that finds enough of them wakes the queue (2.6.20 and 6.12 drivers/net/.../e1000: `e1000_maybe_stop_tx`,
//! `e1000_clean_tx_irq`).
//!
//! Limits:
//! - An interrupt of `tx_coalesce` takes no CPU time and waits for none. No number of packets makes it early
//!   (`tx-frames`).
//! - TCP small queues count an skb until that interrupt, as with TSO, not cut into segments. Without `tx_coalesce` they
//!   count it until the NIC has it, so the smallest `tx_coalesce` already counts longer.
//! - A driver that `requeues` works with `pfifo_fast` only, without `tso`, `bql` and thresholds.
//! - The defaults of `tx_stop` and `tx_wake` belong to no particular driver.

use crate::config::{Driver, Host};
use crate::packet::come_by;
use crate::stage::{DueCounter, Samples};
use crate::units::Time;

/// Segments that are sent, or reported, at even pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finishes {
    pub(super) first: u64,
    pub(super) spacing: u64,
    pub(super) count: u32,
}

impl Finishes {
    /// Time of segment `number`, counted from 1.
    pub(super) fn time(&self, number: u64) -> u64 {
        self.first + (number - 1) * self.spacing
    }

    /// Removes segments up to `now`, and returns how many.
    pub(super) fn take_until(&mut self, now: u64) -> u32 {
        let done = come_by(self.first, self.spacing, self.count, now);
        self.count -= done;
        self.first += u64::from(done) * self.spacing;
        done
    }
}

/// Transmit interrupts of a NIC.
pub(super) struct Interrupts {
    /// Delay between a sent segment and its interrupt, ns; 0: each segment is reported at once.
    wait: u64,
    /// Time of the last interrupt.
    last: u64,
}

impl Interrupts {
    /// Interrupts before the first segment.
    pub(super) fn new(wait: Time) -> Interrupts {
        Interrupts { wait: wait.0, last: 0 }
    }

    /// Whether each segment is reported as it is sent.
    pub(super) fn are_immediate(&self) -> bool {
        self.wait == 0
    }

    /// Time at which the last sent segment is reported; meaningless where reports [are
    /// immediate](Interrupts::are_immediate).
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Adds the next sent segments. Calls `each` with the segments of each interrupt, or with all if each segment has
    /// its own.
    #[inline]
    pub(super) fn sent(&mut self, mut sent: Finishes, mut each: impl FnMut(Finishes)) {
        if self.wait == 0 {
            return each(sent);
        }
        while sent.count > 0 {
            // An interrupt is due `wait` after the first segment that none has reported.
            if sent.first > self.last {
                self.last = sent.first + self.wait;
            }
            let count = sent.take_until(self.last);
            each(Finishes { first: self.last, spacing: 0, count });
        }
    }
}

/// Stopping and waking of the driver's queue.
pub(super) struct Gate {
    /// Free descriptors below which the queue stops (0: never).
    stop: u64,
    /// Free descriptors at which the queue wakes.
    wake: u64,
    /// End of the last stop, ns.
    pub(super) opens: u64,
    stops: DueCounter,
    restarts: DueCounter,
}

/// Counters of a driver's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// Stops by the driver (netif_stop_queue).
    pub stops: u64,
    /// Wake-ups by interrupts (netif_wake_queue).
    pub restarts: u64,
}

impl Gate {
    /// Gate of an empty ring.
    pub(super) fn new(host: &Host, samples: Samples) -> Gate {
        let stop = match host.driver {
            Driver::Stops => host.tx_stop.into(),
            Driver::Requeues => 0,
        };
        let counter = || DueCounter::new(samples);
        Gate { stop, wake: host.tx_wake.into(), opens: 0, stops: counter(), restarts: counter() }
    }

    /// Whether the queue stops after an skb, with `in_use` descriptors in use.
    pub(super) fn stops_at(&self, in_use: u64, size: u64) -> bool {
        in_use + self.stop > size
    }

    /// Descriptors in use that must become free before the queue wakes, for an skb of `segments` segments.
    pub(super) fn to_be_freed(&self, in_use: u64, size: u64, segments: u64) -> u64 {
        in_use + segments.max(self.wake).min(size) - size
    }

    /// Notes a stop of the queue from `at` until `opens`.
    pub(super) fn stop(&mut self, at: u64, opens: u64) {
        self.opens = opens;
        if self.stop > 0 {
            self.stops.one(Time(at), 0u64);
            self.restarts.one(Time(opens), 0u64);
        }
    }

    /// Notes stops by each of these skbs, for `long` nanoseconds each.
    pub(super) fn stop_each(&mut self, at: Finishes, long: u64) {
        let Finishes { first, spacing, count } = at;
        self.opens = at.time(count.into()) + long;
        self.stops.add(Time(first), spacing, count, 0u64);
        self.restarts.add(Time(first + long), spacing, count, 0u64);
    }

    /// Counters at `now`.
    pub(super) fn count(&mut self, now: Time) -> Stopped {
        self.stops.advance(now);
        self.restarts.advance(now);
        Stopped { stops: self.stops.count, restarts: self.restarts.count }
    }
}
