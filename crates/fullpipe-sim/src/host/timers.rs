//! The timers of a host: those of its flows, and its qdisc's.
//!
//! Limits:
//! - TCP's timers of one tick fire by the levels of their wheel, in a level the last one that was set first, before
//!   the packets of that nanosecond. A timer set as a tick begins counts from the next tick. Linux does so only in a
//!   tick in which a timer has fired, also later in it. That changes the level of waits of exactly 63, 504 or 4032
//!   ticks.
//! - In 6.1 flows that start at one nanosecond go in another order on real Linux, the last one first. Start them a
//!   microsecond apart to compare them.

use super::clock::{Clockwork, Timers};
use crate::jiffy_clock::{Expiry, JiffyClock};
use crate::tcp::profile::TimerWheel;
use crate::units::Time;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// What a timer of a flow is for. Those that are set together stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The application calls connect().
    Start,
    /// The SYN is sent again.
    Connect,
    /// The application's next write.
    Write,
    /// An skb leaves the host.
    Leaves,
    /// TCP's own, of the end that sends data.
    Tcp,
    /// TCP may go on at its pace.
    Pacing,
    /// The answer to a SYN is sent again.
    Answer,
    /// The delayed ACK.
    Delayed,
    /// The reader has done with what it got.
    Reader,
    /// ACKs that are held back (compressed).
    Compressed,
}

/// All of them, by number.
const ALL: [Timer; 10] = [
    Timer::Start,
    Timer::Connect,
    Timer::Write,
    Timer::Leaves,
    Timer::Tcp,
    Timer::Pacing,
    Timer::Answer,
    Timer::Delayed,
    Timer::Reader,
    Timer::Compressed,
];

impl Timer {
    /// Whether the kernel has it in its wheel of jiffies ([`HostTimers::set_wheel`]).
    fn is_of_wheel(self) -> bool {
        matches!(self, Timer::Connect | Timer::Tcp | Timer::Answer | Timer::Delayed)
    }
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A timer of this flow.
    Flow(usize, Timer),
    /// The qdisc lets something go.
    Qdisc,
    /// GRO does.
    Gro,
    /// The next of these datagrams.
    Datagrams(usize),
    /// The program that receives these datagrams has done with one, or its pause is over.
    ReadsDatagrams(usize),
    /// A client of remote procedure calls begins; behind all of these, a server's threads are done.
    Rpc(usize),
}

impl Due {
    fn is_of_wheel(self) -> bool {
        matches!(self, Due::Flow(_, timer) if timer.is_of_wheel())
    }
}

/// See the module's description.
pub(super) struct HostTimers {
    timers: Timers,
    wheel: TimerWheel,
    jiffies: JiffyClock,
    /// The number of the qdisc's, behind those of the flows; GRO's and those of datagrams follow.
    qdisc: usize,
    /// Programs with datagrams.
    datagrams: usize,
    /// That of the first of remote procedure calls, behind these.
    rpc: usize,
    /// When each flow's held ACKs go at the latest; never, if there are none. And those flows by that time.
    compressed: Vec<Time>,
    by_latest: BTreeSet<(Time, usize)>,
    /// How much earlier they may go.
    slack: Time,
}

impl HostTimers {
    /// Those of a host with so many flows, datagrams of so many programs and so many clients of remote procedure calls, none of
    /// which runs; `wheel` is its kernel's, with `hz` jiffies per second; ACKs that are held may go `slack` earlier.
    pub(super) fn new(
        [flows, datagrams, clients]: [usize; 3],
        wheel: TimerWheel,
        hz: u32,
        slack: Time,
    ) -> HostTimers {
        let qdisc = flows * ALL.len();
        let rpc = qdisc + 2 + 2 * datagrams;
        HostTimers {
            timers: Timers::new(rpc + clients + 1),
            wheel,
            jiffies: JiffyClock::jiffies(hz),
            qdisc,
            datagrams,
            rpc,
            compressed: alloc::vec![Time::NEVER; flows],
            by_latest: BTreeSet::new(),
            slack,
        }
    }

    /// A flow's timer is due at `due`, or stopped. One that is due then already stays in its place.
    #[inline]
    pub(super) fn set(&mut self, flow: usize, timer: Timer, due: Option<Time>) {
        debug_assert!(!timer.is_of_wheel());
        self.timers.set(flow * ALL.len() + timer as usize, due, Clockwork::Own);
    }

    /// The same of one of the wheel's.
    #[inline]
    pub(super) fn set_wheel(&mut self, flow: usize, timer: Timer, expiry: Option<Expiry>) {
        debug_assert!(timer.is_of_wheel());
        let by = Clockwork::Wheel(self.wheel, expiry.map_or(0, |expiry| expiry.level));
        self.timers.set(flow * ALL.len() + timer as usize, expiry.map(|expiry| expiry.at), by);
    }

    /// When a timer of the wheel fires that is set at `now` for so many jiffies later.
    pub(super) fn expiry(&self, now: Time, jiffies: u32) -> Expiry {
        self.jiffies.expiry(self.wheel, now, jiffies)
    }

    /// When the jiffy begins that is so many after that at `now`.
    pub(super) fn after(&self, now: Time, jiffies: u64) -> Time {
        self.jiffies.after(now, jiffies)
    }

    /// As [`HostTimers::set`] for a flow's held ACKs.
    #[inline]
    pub(super) fn set_compressed(&mut self, flow: usize, latest: Option<Time>) {
        let time = latest.unwrap_or(Time::NEVER);
        if self.compressed[flow] != time {
            self.by_latest.remove(&(self.compressed[flow], flow));
            self.compressed[flow] = time;
            self.by_latest.extend(latest.map(|time| (time, flow)));
            self.set(flow, Timer::Compressed, latest);
        }
    }

    /// Whether held ACKs have to go by `now`.
    pub(super) fn held_are_due(&self, now: Time) -> bool {
        self.by_latest.first().is_some_and(|&(latest, _)| latest <= now)
    }

    /// A flow whose held ACKs may go at `now`, the one whose would have to go first, when a timer like theirs fires: each of
    /// them that may fires with it (Linux 6.12 `hrtimer_run_softirq`).
    pub(super) fn expired(&self, now: Time) -> Option<usize> {
        let &(latest, flow) = self.by_latest.first()?;
        (latest <= now + self.slack).then_some(flow)
    }

    /// The same of the qdisc's.
    pub(super) fn set_qdisc(&mut self, due: Option<Time>) {
        self.timers.set(self.qdisc, due, Clockwork::Own);
    }

    /// The same of GRO's.
    pub(super) fn set_gro(&mut self, due: Option<Time>) {
        self.timers.set(self.qdisc + 1, due, Clockwork::Own);
    }

    /// The same of datagrams'.
    pub(super) fn set_datagrams(&mut self, at: usize, due: Option<Time>) {
        self.timers.set(self.qdisc + 2 + at, due, Clockwork::Own);
    }

    /// The timer of the program that receives datagrams of that place is due at `due`, or stopped.
    pub(super) fn set_datagram_reader(&mut self, at: usize, due: Option<Time>) {
        self.timers.set(self.qdisc + 2 + self.datagrams + at, due, Clockwork::Own);
    }

    /// The same of remote procedure calls'.
    pub(super) fn set_rpc(&mut self, at: usize, due: Option<Time>) {
        self.timers.set(self.rpc + at, due, Clockwork::Own);
    }

    /// When to call [`HostTimers::pop`] next.
    pub(super) fn next(&self) -> Time {
        self.timers.next()
    }

    /// The first timer that is due at `now`, and its flow, if it wakes a program.
    #[inline]
    pub(super) fn program_due(&mut self, now: Time) -> Option<(usize, Timer)> {
        match self.first_due(now)? {
            Due::Flow(flow, timer @ (Timer::Write | Timer::Reader)) => Some((flow, timer)),
            _ => None,
        }
    }

    /// Whether the first timer that is due at `now` wakes a program that reads datagrams.
    pub(super) fn datagram_reader_is_due(&mut self, now: Time) -> bool {
        matches!(self.first_due(now), Some(Due::ReadsDatagrams(_)))
    }

    /// Whether the first timer that is due at `now` is one of the wheel.
    pub(super) fn wheel_is_due(&mut self, now: Time) -> bool {
        self.first_due(now).is_some_and(Due::is_of_wheel)
    }

    /// Whether the first timer that is due at `now` lets TCP go on at its pace.
    pub(super) fn pace_is_due(&mut self, now: Time) -> bool {
        matches!(self.first_due(now), Some(Due::Flow(_, Timer::Pacing)))
    }

    #[inline]
    fn first_due(&mut self, now: Time) -> Option<Due> {
        if self.next() > now {
            return None;
        }
        let number = self.timers.due(now)?;
        Some(self.of(number))
    }

    /// Takes the first timer that is due at `now`.
    pub(super) fn pop(&mut self, now: Time) -> Option<Due> {
        let number = self.timers.pop(now)?;
        Some(self.of(number))
    }

    fn of(&self, number: usize) -> Due {
        match number.cmp(&self.qdisc) {
            Ordering::Less => Due::Flow(number / ALL.len(), ALL[number % ALL.len()]),
            Ordering::Equal => Due::Qdisc,
            Ordering::Greater if number == self.qdisc + 1 => Due::Gro,
            Ordering::Greater if number >= self.rpc => Due::Rpc(number - self.rpc),
            Ordering::Greater => match number - self.qdisc - 2 {
                at if at < self.datagrams => Due::Datagrams(at),
                at => Due::ReadsDatagrams(at - self.datagrams),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timer_stands_at_its_number() {
        for (number, timer) in ALL.into_iter().enumerate() {
            assert_eq!(timer as usize, number);
        }
    }
}
