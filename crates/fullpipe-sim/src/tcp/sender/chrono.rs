//! Time in which a sender was busy, and in which the receiver's window or the send buffer stopped it (tcp_chrono).
//!
//! One condition holds at a time. A later one of [`Condition`] replaces an earlier one. It ends in [`Condition::Busy`],
//! or in none where no data is unsent or unacknowledged. Time counts in whole jiffies. Source: Linux 6.1 and 6.12
//! `tcp_chrono_start`, `tcp_chrono_stop`, `tcp_get_info_chrono_stats` and their callers, which agree. Kernels before
//! 4.10 have no such times; here they count as in 6.12.
//!
//! Limits:
//! - A sender is busy from the end of its first copy on. Linux begins before the copy, with the new skb.
//! - A writer that rests for a random time keeps SOCK_NOSPACE in Linux after it wakes. Here it does not.

use super::Sender;
use crate::units::Time;

/// Condition for which a sender's time counts. The order is that of Linux's `enum tcp_chrono`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tcp) enum Condition {
    /// No data is unsent or unacknowledged.
    Quiet,
    /// Data is unsent or unacknowledged.
    Busy,
    /// The receiver's window stops the sender.
    RwndLimited,
    /// The send buffer stops the sender.
    SndbufLimited,
}

/// Number of conditions whose time is counted.
const COUNTED: usize = 3;

/// Jiffies by condition.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Chrono {
    now: Condition,
    since: u32,
    spent: [u32; COUNTED],
}

/// Times of a sender, jiffies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct ChronoTimes {
    /// Any condition.
    pub(in crate::tcp) busy: u32,
    /// The receiver's window stopped the sender.
    pub(in crate::tcp) rwnd_limited: u32,
    /// The send buffer stopped the sender.
    pub(in crate::tcp) sndbuf_limited: u32,
}

impl Chrono {
    /// Times of a connection that has no data to send.
    pub(in crate::tcp) fn new() -> Chrono {
        Chrono { now: Condition::Quiet, since: 0, spent: [0; COUNTED] }
    }

    fn change(&mut self, to: Condition, jiffies: u32) {
        // A host's CPU may be ahead of the time of a sample.
        let jiffies = jiffies.max(self.since);
        let index = (self.now as usize).checked_sub(1);
        if let Some(spent) = index.and_then(|index| self.spent.get_mut(index)) {
            *spent += jiffies - self.since;
        }
        (self.now, self.since) = (to, jiffies);
    }

    /// Begins a condition, unless a later one holds.
    #[inline]
    fn start(&mut self, condition: Condition, jiffies: impl FnOnce() -> u32) {
        if condition > self.now {
            self.change(condition, jiffies());
        }
    }

    /// Ends a condition; `empty`: no data is unsent or unacknowledged.
    #[inline]
    fn stop(&mut self, condition: Condition, empty: bool, jiffies: impl FnOnce() -> u32) {
        let next = match empty {
            true => Condition::Quiet,
            false if condition == self.now => Condition::Busy,
            false => self.now,
        };
        if next != self.now {
            self.change(next, jiffies());
        }
    }

    /// Times up to now.
    fn times(&self, jiffies: u32) -> ChronoTimes {
        let mut all = *self;
        all.change(Condition::Quiet, jiffies);
        let [busy, rwnd_limited, sndbuf_limited] = all.spent;
        ChronoTimes { busy: busy + rwnd_limited + sndbuf_limited, rwnd_limited, sndbuf_limited }
    }
}

impl Sender {
    /// Notes an skb that joins the write queue (tcp_add_write_queue_tail).
    #[inline]
    pub(in crate::tcp) fn chrono_queue(&mut self, now: Time) {
        if self.queue.head().is_none() {
            let ticks = &self.ticks;
            self.chrono.start(Condition::Busy, || ticks.since_boot(now));
        }
    }

    /// Notes an ACK of new data, perhaps of all sent data (tcp_clean_rtx_queue).
    #[inline]
    pub(in crate::tcp) fn chrono_acked(&mut self, now: Time) {
        if self.board.packets_out == 0 {
            self.chrono_stop(Condition::Busy, now);
        }
    }

    /// Notes the end of a burst; `stops`: the receiver's window ended it (tcp_write_xmit).
    #[inline]
    pub(in crate::tcp) fn chrono_window(&mut self, stops: bool, now: Time) {
        if stops {
            let ticks = &self.ticks;
            self.chrono.start(Condition::RwndLimited, || ticks.since_boot(now));
        } else {
            self.chrono_stop(Condition::RwndLimited, now);
        }
    }

    /// Notes a transmission after which cwnd has room for more (tcp_cwnd_validate).
    #[inline]
    pub(in crate::tcp) fn chrono_starving(&mut self, now: Time) {
        if self.queue.head().is_none() && self.app.lacks_space() {
            let ticks = &self.ticks;
            self.chrono.start(Condition::SndbufLimited, || ticks.since_boot(now));
        }
    }

    /// Notes that a writer is woken that waited for room (tcp_check_space).
    pub(in crate::tcp) fn chrono_space(&mut self, now: Time) {
        self.chrono_stop(Condition::SndbufLimited, now);
    }

    #[inline]
    fn chrono_stop(&mut self, condition: Condition, now: Time) {
        let empty = self.board.packets_out == 0 && self.queue.head().is_none();
        let ticks = &self.ticks;
        self.chrono.stop(condition, empty, || ticks.since_boot(now));
    }

    /// Times up to `now`.
    pub(in crate::tcp) fn chrono_times(&self, now: Time) -> ChronoTimes {
        self.chrono.times(self.jiffies(now))
    }
}

#[cfg(test)]
mod tests {
    use super::Condition::{Busy, RwndLimited, SndbufLimited};
    use super::*;

    fn times(chrono: &Chrono, at: u32) -> [u32; COUNTED] {
        let ChronoTimes { busy, rwnd_limited, sndbuf_limited } = chrono.times(at);
        [busy, rwnd_limited, sndbuf_limited]
    }

    #[test]
    fn busy_time_includes_the_others() {
        let mut chrono = Chrono::new();
        assert_eq!(times(&chrono, 50), [0, 0, 0]);
        chrono.start(Busy, || 100);
        chrono.start(RwndLimited, || 110);
        assert_eq!(times(&chrono, 115), [15, 5, 0]);
        chrono.stop(RwndLimited, false, || 130);
        assert_eq!(times(&chrono, 131), [31, 20, 0]);
        chrono.start(SndbufLimited, || 140);
        chrono.stop(SndbufLimited, true, || 147);
        assert_eq!(times(&chrono, 900), [47, 20, 7]);
    }

    #[test]
    fn a_later_condition_is_not_replaced_by_an_earlier_one() {
        let mut chrono = Chrono::new();
        chrono.start(SndbufLimited, || 10);
        chrono.start(Busy, || 20);
        chrono.start(RwndLimited, || 20);
        chrono.stop(RwndLimited, false, || 30);
        assert_eq!(times(&chrono, 40), [30, 0, 30]);
        chrono.stop(SndbufLimited, false, || 40);
        assert_eq!(times(&chrono, 45), [35, 0, 30]);
    }

    /// Work of a busy CPU has a later time than a sample in the meantime.
    #[test]
    fn time_does_not_run_backwards() {
        let mut chrono = Chrono::new();
        chrono.start(Busy, || 20);
        assert_eq!(times(&chrono, 19), [0, 0, 0]);
        chrono.start(RwndLimited, || 18);
        assert_eq!(times(&chrono, 25), [5, 5, 0]);
    }

    /// An ACK of all sent data ends every condition if no data is unsent.
    #[test]
    fn nothing_left_ends_every_condition() {
        for condition in [Busy, RwndLimited, SndbufLimited] {
            let mut chrono = Chrono::new();
            chrono.start(condition, || 0);
            chrono.stop(Busy, true, || 3);
            assert_eq!(times(&chrono, 99)[0], 3, "{condition:?}");
        }
    }
}
