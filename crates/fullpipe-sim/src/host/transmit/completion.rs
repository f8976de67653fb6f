//! When the driver hears that segments were sent, and when its queue is stopped and goes on.
//!
//! A card tells by an interrupt that segments were sent: so long after the first of those that it has not told of (Linux
//! `ETHTOOL_GCOALESCE`: tx_coalesce_usecs, include/uapi/linux/ethtool.h), of all that were sent by then. Only then are their
//! descriptors free. After each skb the driver stops its queue if fewer descriptors are free than the next one may need, and
//! an interrupt that finds enough of them wakes it (2.6.20 and 6.12 drivers/net/.../e1000: `e1000_maybe_stop_tx`,
//! `e1000_clean_tx_irq`).
//!
//! Limits:
//! - An interrupt of `tx_coalesce` takes no CPU time and waits for none. No number of packets calls it early
//!   (`tx-frames`).
//! - TCP small queues count an skb until that interrupt, as with TSO, not cut into segments. Without `tx_coalesce`
//!   they count it until the card has it, so the smallest `tx_coalesce` already counts longer.
//! - A driver that `requeues` works with `pfifo_fast` only, without `tso`, `bql` and thresholds.
//! - `tx_stop` and `tx_wake` are those of no particular driver unless they are set.

use crate::config::{Driver, Host};
use crate::packet::come_by;
use crate::stage::{DueCounter, Samples};
use crate::units::Time;

/// Segments that are sent, or told of, at even pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finishes {
    pub(super) first: u64,
    pub(super) spacing: u64,
    pub(super) count: u32,
}

impl Finishes {
    /// When the one of that number is, from 1 on.
    pub(super) fn time(&self, number: u64) -> u64 {
        self.first + (number - 1) * self.spacing
    }

    /// Takes away what comes by `now`; how many.
    pub(super) fn take_until(&mut self, now: u64) -> u32 {
        let done = come_by(self.first, self.spacing, self.count, now);
        self.count -= done;
        self.first += u64::from(done) * self.spacing;
        done
    }
}

/// The card's interrupts.
pub(super) struct Interrupts {
    /// How long after a segment was sent the interrupt comes, ns; 0: at once, for each.
    wait: u64,
    /// When the last one comes.
    last: u64,
}

impl Interrupts {
    /// None so far.
    pub(super) fn new(wait: Time) -> Interrupts {
        Interrupts { wait: wait.0, last: 0 }
    }

    /// Whether each segment is told of as it is sent.
    pub(super) fn are_immediate(&self) -> bool {
        self.wait == 0
    }

    /// When the last segment that was sent is told of; not of use where they [are immediate](Interrupts::are_immediate).
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// These segments are sent next: calls `each` with those that one interrupt tells of, or with all if each has its own.
    #[inline]
    pub(super) fn sent(&mut self, mut sent: Finishes, mut each: impl FnMut(Finishes)) {
        if self.wait == 0 {
            return each(sent);
        }
        while sent.count > 0 {
            if sent.first > self.last {
                self.last = sent.first + self.wait;
            }
            let count = sent.take_until(self.last);
            each(Finishes { first: self.last, spacing: 0, count });
        }
    }
}

/// Whether the driver's queue goes on.
pub(super) struct Gate {
    /// It stops when fewer descriptors than that are free (0: never).
    stop: u64,
    /// It goes on when so many are.
    wake: u64,
    /// Until then it is stopped, ns.
    pub(super) opens: u64,
    stops: DueCounter,
    restarts: DueCounter,
}

/// What a gate's driver counts, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// How often the driver stopped its queue (netif_stop_queue).
    pub stops: u64,
    /// How often an interrupt let it go on (netif_wake_queue).
    pub restarts: u64,
}

impl Gate {
    /// That of an empty ring.
    pub(super) fn new(host: &Host, samples: Samples) -> Gate {
        let stop = match host.driver {
            Driver::Stops => host.tx_stop.into(),
            Driver::Requeues => 0,
        };
        let counter = || DueCounter::new(samples);
        Gate { stop, wake: host.tx_wake.into(), opens: 0, stops: counter(), restarts: counter() }
    }

    /// Whether a ring stops the queue in which so many of its descriptors are in use, after an skb.
    pub(super) fn stops_at(&self, in_use: u64, size: u64) -> bool {
        in_use + self.stop > size
    }

    /// How many of the descriptors that are in use have to be free again before the queue goes on, for an skb of so many segments.
    pub(super) fn to_be_freed(&self, in_use: u64, size: u64, segments: u64) -> u64 {
        in_use + segments.max(self.wake).min(size) - size
    }

    /// The queue is stopped at `at` and goes on at `opens`.
    pub(super) fn stop(&mut self, at: u64, opens: u64) {
        self.opens = opens;
        if self.stop > 0 {
            self.stops.one(Time(at), 0u64);
            self.restarts.one(Time(opens), 0u64);
        }
    }

    /// The same for each of these skbs, which stop it so long.
    pub(super) fn stop_each(&mut self, at: Finishes, long: u64) {
        let Finishes { first, spacing, count } = at;
        self.opens = at.time(count.into()) + long;
        self.stops.add(Time(first), spacing, count, 0u64);
        self.restarts.add(Time(first + long), spacing, count, 0u64);
    }

    /// What was counted by `now`.
    pub(super) fn count(&mut self, now: Time) -> Stopped {
        self.stops.advance(now);
        self.restarts.advance(now);
        Stopped { stops: self.stops.count, restarts: self.restarts.count }
    }
}
