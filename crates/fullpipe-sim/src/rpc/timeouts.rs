//! Timeouts of calls, after which they are sent again.
//!
//! A call has a minor and a major timeout, counted from when it got its slot. A minor timeout sends it again and
//! lengthens the next wait by the mount's `timeo`. After `retrans` of these the major timeout sends it again, and the
//! first wait begins anew. One timer of the kernel's wheel serves all waiting calls. It is set for the first of them,
//! and stays when that call is answered.
//!
//! Source: Linux 6.12 net/sunrpc/xprt.c (`xprt_init_majortimeo`, `xprt_adjust_timeout`), sched.c (`__rpc_add_timer`,
//! `__rpc_queue_timer_fn`), fs/nfs/client.c (`nfs_init_timeout_values`).
//!
//! Limits:
//! - A call that waits to be written has no timeout; the kernel's has.

use super::Retry;
use crate::jiffy_clock::JiffyClock;
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Timeouts of a call, in jiffies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Timeout {
    /// Wait before the next minor timeout.
    wait: u64,
    minor: u64,
    major: u64,
}

/// Change of the host's timer for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alarm {
    /// The timer fires after so many jiffies.
    In(u32),
    /// The timer stops.
    Never,
}

/// Timeouts of a client's calls.
pub(super) struct Timeouts {
    jiffies: JiffyClock,
    /// `timeo` in jiffies, and `retrans`.
    first: u64,
    retries: u64,
    /// Calls that wait for replies and when they time out, in the order in which they were written.
    waiting: VecDeque<(u64, u64)>,
    /// Jiffy for which the timer is set, where calls wait.
    expires: Option<u64>,
    alarm: Option<Alarm>,
}

impl Timeouts {
    pub(super) fn new(retry: Retry, hz: u32) -> Timeouts {
        let first = (u128::from(retry.timeo.0) * u128::from(hz) / 1_000_000_000) as u64;
        Timeouts {
            jiffies: JiffyClock::jiffies(hz),
            first: first.max(1),
            retries: retry.retrans.into(),
            waiting: VecDeque::new(),
            expires: None,
            alarm: None,
        }
    }

    /// Timeouts of a call that gets its slot at `now`.
    pub(super) fn begin(&self, now: Time) -> Timeout {
        let at = self.jiffies.at(now);
        Timeout { wait: self.first, minor: at + self.first, major: at + self.most() }
    }

    /// Longest wait, and time from one major timeout to the next.
    fn most(&self) -> u64 {
        self.first.saturating_mul(self.retries + 1)
    }

    /// Begins the wait of a written call for its reply.
    pub(super) fn wait(&mut self, call: u64, timeout: Timeout, now: Time) {
        let due = timeout.minor.min(timeout.major);
        if self.waiting.is_empty() || self.expires.is_none_or(|expires| due < expires) {
            self.set(due, now);
        }
        self.waiting.push_back((call, due));
    }

    /// Ends the wait of an answered call.
    pub(super) fn answer(&mut self, call: u64) {
        let Some(at) = self.waiting.iter().position(|(own, _)| *own == call) else { return };
        self.waiting.remove(at);
        if self.waiting.is_empty() {
            (self.expires, self.alarm) = (None, Some(Alarm::Never));
        }
    }

    /// Takes the calls that have timed out when the timer fires, last written first.
    pub(super) fn fire(&mut self, now: Time) -> Vec<u64> {
        let at = self.jiffies.at(now);
        let due = self.waiting.iter().rev().filter(|(_, due)| *due <= at);
        let due: Vec<u64> = due.map(|(call, _)| *call).collect();
        self.waiting.retain(|(_, due)| *due > at);
        self.expires = None;
        if let Some(next) = self.waiting.iter().map(|(_, due)| *due).min() {
            self.set(next, now);
        }
        due
    }

    /// Timeouts of a call after one of them has passed at `now`.
    pub(super) fn adjusted(&self, of: Timeout, now: Time) -> Timeout {
        let is_major = self.jiffies.at(now) >= of.major;
        let wait = match is_major {
            true => self.first,
            false => (of.wait + self.first).min(self.most()),
        };
        let major = if is_major { of.major + self.most() } else { of.major };
        Timeout { wait, minor: of.minor + wait, major }
    }

    /// Takes a new setting of the host's timer, if there is one.
    pub(super) fn take_alarm(&mut self) -> Option<Alarm> {
        self.alarm.take()
    }

    fn set(&mut self, due: u64, now: Time) {
        let after = due.saturating_sub(self.jiffies.at(now));
        self.expires = Some(due);
        self.alarm = Some(Alarm::In(u32::try_from(after).unwrap_or(u32::MAX)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Retry = Retry { timeo: Time::ms(700), retrans: 2 };

    /// `timeo=7,retrans=2`: 0.7 s, then 1.4 s more, and the major timeout after 2.1 s begins anew.
    #[test]
    fn waits_grow_up_to_the_major_timeout() {
        let mut timeouts = Timeouts::new(RETRY, 1000);
        let first = timeouts.begin(Time::ms(10));
        timeouts.wait(0, first, Time::ms(10));
        assert_eq!(timeouts.take_alarm(), Some(Alarm::In(700)));
        assert_eq!(timeouts.fire(Time::ms(709)), [] as [u64; 0]);
        assert_eq!(timeouts.take_alarm(), Some(Alarm::In(1)));
        assert_eq!(timeouts.fire(Time::ms(710)), [0]);

        let second = timeouts.adjusted(first, Time::ms(710));
        assert_eq!(second, Timeout { wait: 1400, minor: 2110, major: 2110 });
        let third = timeouts.adjusted(second, Time::ms(2110));
        assert_eq!(third, Timeout { wait: 700, minor: 2810, major: 4210 });
    }

    /// The timer of a call that is answered goes on while others wait.
    #[test]
    fn one_timer_serves_all_calls() {
        let mut timeouts = Timeouts::new(RETRY, 1000);
        for (call, at) in [(0, 0), (1, 300)] {
            timeouts.wait(call, timeouts.begin(Time::ms(at)), Time::ms(at));
        }
        assert_eq!(timeouts.take_alarm(), Some(Alarm::In(700)));
        timeouts.answer(0);
        assert_eq!(timeouts.take_alarm(), None);
        assert_eq!(timeouts.fire(Time::ms(704)), [] as [u64; 0]);
        assert_eq!(timeouts.take_alarm(), Some(Alarm::In(296)));
        timeouts.answer(1);
        assert_eq!(timeouts.take_alarm(), Some(Alarm::Never));
    }
}
