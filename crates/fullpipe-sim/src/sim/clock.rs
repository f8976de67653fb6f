//! Timers of a host, and the clock that books a flow's life on what limited it.

use crate::tcp::profile::TimerWheel;
use crate::trace::Limit;
use crate::units::Time;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Timers by number; of those due at one time by turn. Moving one later costs nothing: its early entry is looked at
/// when it comes up.
pub(crate) struct Timers {
    queue: BinaryHeap<Reverse<(Time, Turn, u32)>>,
    /// When each is due; never, if it is stopped.
    due: Vec<Time>,
    /// Turn of each timer, as it was started last.
    turns: Vec<Turn>,
    /// Earliest entry in the queue for each timer.
    queued: Vec<Time>,
    started: u64,
}

/// Among timers that are due at one time: those of the wheel before others, and by when they were started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn(u8, u64);

/// What fires a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clockwork {
    /// The wheel of jiffies. Of 2.6.20 the first that was started is the first to fire; with levels (4.8
    /// `enqueue_timer`, `expire_timers`) the last.
    Wheel(TimerWheel),
    /// One of its own (hrtimer): the first that was started.
    Own,
}

impl Timers {
    pub(crate) fn new(count: usize) -> Timers {
        Timers {
            queue: BinaryHeap::new(),
            due: alloc::vec![Time::NEVER; count],
            turns: alloc::vec![Turn(0, 0); count],
            queued: alloc::vec![Time::NEVER; count],
            started: 0,
        }
    }

    /// Timer `number` is due at `due`, or stopped. One that is due then already stays in its place.
    #[inline]
    pub(crate) fn set(&mut self, number: usize, due: Option<Time>, by: Clockwork) {
        let due = due.unwrap_or(Time::NEVER);
        if self.due[number] != due {
            self.change(number, due, by);
        }
    }

    fn change(&mut self, number: usize, due: Time, by: Clockwork) {
        self.due[number] = due;
        if due == Time::NEVER {
            return;
        }
        self.started += 1;
        self.turns[number] = match by {
            Clockwork::Wheel(TimerWheel::Levels) => Turn(0, u64::MAX - self.started),
            Clockwork::Wheel(TimerWheel::Cascading) => Turn(0, self.started),
            Clockwork::Own => Turn(1, self.started),
        };
        self.enqueue(number);
    }

    fn enqueue(&mut self, number: usize) {
        let due = self.due[number];
        if due != Time::NEVER && due <= self.queued[number] {
            self.queue.push(Reverse((due, self.turns[number], number as u32)));
            self.queued[number] = due;
        }
    }

    /// When to call [`Timers::pop`] next.
    pub(crate) fn next(&self) -> Time {
        self.queue.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time)
    }

    /// Takes the entry due at `now`; the timer's number if it is really due.
    pub(crate) fn pop(&mut self, now: Time) -> Option<usize> {
        let &Reverse((time, turn, number)) = self.queue.peek()?;
        if time > now {
            return None;
        }
        self.queue.pop();
        let number = number as usize;
        if self.queued[number] == time {
            self.queued[number] = Time::NEVER;
        }
        if self.due[number] == time && self.turns[number] == turn {
            self.due[number] = Time::NEVER;
            return Some(number);
        }
        self.enqueue(number);
        None
    }
}

/// Books time on limits.
#[derive(Clone, Debug)]
pub(crate) struct LimitClock {
    current: Limit,
    since: Time,
    booked: [u64; Limit::COUNT],
}

impl LimitClock {
    pub(crate) fn new() -> LimitClock {
        LimitClock { current: Limit::Idle, since: Time::ZERO, booked: [0; Limit::COUNT] }
    }

    /// From `now` on, `limit` holds.
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.booked[self.current as usize] += (now - self.since).0;
            self.since = now;
            self.current = limit;
        }
    }

    /// Nanoseconds booked up to `now`.
    pub(crate) fn read(&self, now: Time) -> [u64; Limit::COUNT] {
        let mut booked = self.booked;
        booked[self.current as usize] += (now - self.since).0;
        booked
    }
}
