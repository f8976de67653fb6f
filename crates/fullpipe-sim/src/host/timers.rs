//! Timers of a host: those of its flows, of its qdisc, of GRO, of datagrams and of remote procedure calls.
//!
//! Limits:
//! - TCP's timers of one tick fire by the levels of their wheel, in a level the last one set first, before the packets
//!   of that nanosecond. A timer set as a tick begins counts from the next tick. Linux does so only in a tick in which
//!   a timer has fired, also later in it. This changes the level of waits of exactly 63, 504 or 4032 ticks.
//! - In 6.1, flows that start at one nanosecond have another order on real Linux: the last one is first. Start them a
//!   microsecond apart to compare them.

use super::clock::{Clockwork, Timers};
use crate::jiffy_clock::{Expiry, JiffyClock};
use crate::tcp::profile::TimerWheel;
use crate::units::Time;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Purpose of a flow's timer. Timers that are set together stand together.
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
    /// TCP's own timer of the sending end.
    Tcp,
    /// TCP's pace allows the next skb.
    Pacing,
    /// The SYN-ACK is sent again.
    Answer,
    /// The delayed ACK.
    Delayed,
    /// The reader has finished its work on the data.
    Reader,
    /// Compressed ACKs are due.
    Compressed,
}

/// All timers of a flow, by number.
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
    /// Whether the kernel has the timer in its wheel of jiffies ([`HostTimers::set_wheel`]).
    fn is_of_wheel(self) -> bool {
        matches!(self, Timer::Connect | Timer::Tcp | Timer::Answer | Timer::Delayed)
    }
}

/// A timer that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A timer of this flow.
    Flow(usize, Timer),
    /// The qdisc's timer.
    Qdisc,
    /// GRO's timer.
    Gro,
    /// The next of these datagrams is to be sent.
    Datagrams(usize),
    /// The program that receives these datagrams has finished one, or its pause is over.
    ReadsDatagrams(usize),
    /// A client of remote procedure calls begins, or has timeouts. Numbers after all clients belong to the server's
    /// finished threads.
    Rpc(usize),
}

impl Due {
    fn is_of_wheel(self) -> bool {
        matches!(self, Due::Flow(_, timer) if timer.is_of_wheel())
    }
}

/// Timers of a host.
pub(super) struct HostTimers {
    timers: Timers,
    wheel: TimerWheel,
    jiffies: JiffyClock,
    /// Number of the qdisc's timer, behind those of the flows; GRO's and those of datagrams follow.
    qdisc: usize,
    /// Number of programs with datagrams.
    datagrams: usize,
    /// Number of the first timer of remote procedure calls, behind these.
    rpc: usize,
    /// Latest time of each flow's compressed ACKs; never, if it has none. Behind it, those flows by this time.
    compressed: Vec<Time>,
    by_latest: BTreeSet<(Time, usize)>,
    /// Slack by which compressed ACKs may leave earlier.
    slack: Time,
}

impl HostTimers {
    /// Stopped timers of a host with so many flows, programs with datagrams, and clients of remote procedure calls.
    /// `wheel` is its kernel's, with `hz` jiffies per second.
    /// Compressed ACKs may leave `slack` earlier.
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

    /// Sets a flow's timer to `due`, or stops it. A timer that is already due then keeps its turn.
    #[inline]
    pub(super) fn set(&mut self, flow: usize, timer: Timer, due: Option<Time>) {
        debug_assert!(!timer.is_of_wheel());
        self.timers.set(flow * ALL.len() + timer as usize, due, Clockwork::Own);
    }

    /// Sets a flow's timer in the wheel, or stops it.
    #[inline]
    pub(super) fn set_wheel(&mut self, flow: usize, timer: Timer, expiry: Option<Expiry>) {
        debug_assert!(timer.is_of_wheel());
        let by = Clockwork::Wheel(self.wheel, expiry.map_or(0, |expiry| expiry.level));
        self.timers.set(flow * ALL.len() + timer as usize, expiry.map(|expiry| expiry.at), by);
    }

    /// Expiry of a timer of the wheel that is set at `now` for `jiffies` jiffies later.
    pub(super) fn expiry(&self, now: Time, jiffies: u32) -> Expiry {
        self.jiffies.expiry(self.wheel, now, jiffies)
    }

    /// Start of the jiffy that is `jiffies` after the jiffy at `now`.
    pub(super) fn after(&self, now: Time, jiffies: u64) -> Time {
        self.jiffies.after(now, jiffies)
    }

    /// Sets the latest time of a flow's compressed ACKs, or stops their timer.
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

    /// Whether compressed ACKs are due by `now`.
    pub(super) fn held_are_due(&self, now: Time) -> bool {
        self.by_latest.first().is_some_and(|&(latest, _)| latest <= now)
    }

    /// The flow with the earliest compressed ACKs, if they may leave at `now`. When one of these timers fires, all that
    /// are within their slack fire with it (Linux 6.12 `hrtimer_run_softirq`).
    pub(super) fn expired(&self, now: Time) -> Option<usize> {
        let &(latest, flow) = self.by_latest.first()?;
        (latest <= now + self.slack).then_some(flow)
    }

    /// Sets the qdisc's timer to `due`, or stops it.
    pub(super) fn set_qdisc(&mut self, due: Option<Time>) {
        self.timers.set(self.qdisc, due, Clockwork::Own);
    }

    /// Sets GRO's timer to `due`, or stops it.
    pub(super) fn set_gro(&mut self, due: Option<Time>) {
        self.timers.set(self.qdisc + 1, due, Clockwork::Own);
    }

    /// Sets the timer for the next of these datagrams, or stops it.
    pub(super) fn set_datagrams(&mut self, at: usize, due: Option<Time>) {
        self.timers.set(self.qdisc + 2 + at, due, Clockwork::Own);
    }

    /// Sets the timer of the program that receives these datagrams, or stops it.
    pub(super) fn set_datagram_reader(&mut self, at: usize, due: Option<Time>) {
        self.timers.set(self.qdisc + 2 + self.datagrams + at, due, Clockwork::Own);
    }

    /// Sets a timer of remote procedure calls, or stops it.
    pub(super) fn set_rpc(&mut self, at: usize, due: Option<Time>) {
        self.timers.set(self.rpc + at, due, Clockwork::Own);
    }

    /// Time at which to call [`HostTimers::pop`] next.
    pub(super) fn next(&self) -> Time {
        self.timers.next()
    }

    /// Flow and kind of the first timer that is due at `now`, if it wakes a program.
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

    /// Whether the first timer that is due at `now` is TCP's pace.
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
        // Timers have numbers in this order: flows, qdisc, GRO, datagrams' ends, RPC.
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
