//! Timers of a host, and the clock that books a flow's life on what limited it.

use crate::trace::Limit;
use crate::units::Time;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Timers by number. Moving one later costs nothing: its early entry is looked at when it comes up.
pub(crate) struct Timers {
    queue: BinaryHeap<Reverse<(Time, u32)>>,
    due: Vec<Option<Time>>,
    /// Earliest entry in the queue for each timer.
    queued: Vec<Option<Time>>,
}

impl Timers {
    pub(crate) fn new(count: usize) -> Timers {
        Timers {
            queue: BinaryHeap::new(),
            due: alloc::vec![None; count],
            queued: alloc::vec![None; count],
        }
    }

    /// Timer `number` is due at `due`, or stopped.
    pub(crate) fn set(&mut self, number: usize, due: Option<Time>) {
        self.due[number] = due;
        let Some(due) = due else { return };
        if self.queued[number].is_none_or(|queued| due < queued) {
            self.queue.push(Reverse((due, number as u32)));
            self.queued[number] = Some(due);
        }
    }

    /// When to call [`Timers::pop`] next.
    pub(crate) fn next(&self) -> Time {
        self.queue.peek().map_or(Time::NEVER, |Reverse((time, _))| *time)
    }

    /// Takes the entry due at `now`; the timer's number if it is really due.
    pub(crate) fn pop(&mut self, now: Time) -> Option<usize> {
        let &Reverse((time, number)) = self.queue.peek()?;
        if time > now {
            return None;
        }
        self.queue.pop();
        let number = number as usize;
        if self.queued[number] == Some(time) {
            self.queued[number] = None;
        }
        match self.due[number] {
            Some(due) if due <= now => {
                self.due[number] = None;
                Some(number)
            }
            Some(due) => {
                self.set(number, Some(due));
                None
            }
            None => None,
        }
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
