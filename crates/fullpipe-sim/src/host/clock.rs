//! Timers of a host, and the clock that accounts a flow's time by limit.

use crate::tcp::profile::TimerWheel;
use crate::trace::Limit;
use crate::units::Time;
use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Timers by number. At one time their turns decide the order. Moving a timer later costs nothing: its early entry is
/// checked when it comes up.
pub(crate) struct Timers {
    queue: BinaryHeap<Reverse<(Time, FiringOrder, u32)>>,
    timers: Vec<Timer>,
    started: u64,
}

/// One timer. Its fields lie together, because with many flows it is seldom in a cache.
#[derive(Clone, Copy)]
struct Timer {
    /// Time at which the timer is due; never, if it is stopped.
    due: Time,
    /// Earliest entry of the timer in the queue.
    queued: Time,
    /// Firing order of the timer, and its clockwork.
    order: FiringOrder,
    by: Clockwork,
}

/// Most entries of the queue for each timer, so that the search for old entries is rare.
const MOST_ENTRIES: usize = 4;

/// Order among timers that are due at one time: those of the wheel first, by level and by time of setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FiringOrder(u64);

/// First place of timers outside the wheel.
const OWN: u64 = 1 << 63;
/// Places of one level of the wheel, which has at most nine levels.
const LEVEL: u64 = 1 << 59;

/// Mechanism that fires a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clockwork {
    /// The wheel of jiffies. In 2.6.20 timers fire in the order of setting. In a wheel with levels (4.8 `__run_timers`,
    /// `enqueue_timer`) higher levels fire first, and in a level the last timer set.
    Wheel(TimerWheel, u32),
    /// An hrtimer: these fire in the order of setting.
    Own,
}

impl Timers {
    pub(crate) fn new(count: usize) -> Timers {
        let (due, queued, by) = (Time::NEVER, Time::NEVER, Clockwork::Own);
        let stopped = Timer { due, queued, order: FiringOrder(0), by };
        Timers { queue: BinaryHeap::new(), timers: alloc::vec![stopped; count], started: 0 }
    }

    /// Sets timer `number` to `due`, or stops it. A timer that is already due then, on the same level, keeps its place
    /// (6.12 `__mod_timer`).
    #[inline]
    pub(crate) fn set(&mut self, number: usize, due: Option<Time>, by: Clockwork) {
        let due = due.unwrap_or(Time::NEVER);
        let timer = &self.timers[number];
        if timer.due != due || due != Time::NEVER && timer.by != by {
            self.change(number, due, by);
        }
    }

    fn change(&mut self, number: usize, due: Time, by: Clockwork) {
        let timer = &mut self.timers[number];
        timer.due = due;
        if due == Time::NEVER {
            return;
        }
        self.started += 1;
        timer.by = by;
        timer.order = FiringOrder(match by {
            // __run_timers begins with the highest level, enqueue_timer puts the last timer first.
            Clockwork::Wheel(TimerWheel::Levels, level) => {
                OWN - u64::from(level) * LEVEL - self.started
            }
            // Before 4.8 the timers of a tick fire in the order in which they were set (internal_add_timer).
            Clockwork::Wheel(TimerWheel::Cascading, _) => self.started,
            Clockwork::Own => OWN + self.started,
        });

        // A timer set anew leaves its old entry in the queue; the queue is tidied when they are many.
        if let Some(entry) = timer.entry() {
            self.queue.push(Reverse((entry.0, entry.1, number as u32)));
            if self.queue.len() > MOST_ENTRIES * self.timers.len() {
                self.tidy();
            }
        }
    }

    /// Leaves one entry in the queue for each running timer. A timer that moves back and forth leaves an entry at each
    /// late time.
    #[cold]
    fn tidy(&mut self) {
        let mut entries = core::mem::take(&mut self.queue).into_vec();
        entries.clear();
        for (number, timer) in self.timers.iter_mut().enumerate() {
            timer.queued = timer.due;
            if timer.due != Time::NEVER {
                entries.push(Reverse((timer.due, timer.order, number as u32)));
            }
        }
        self.queue = entries.into();
    }

    /// Time at which to call [`Timers::pop`] next.
    pub(crate) fn next(&self) -> Time {
        self.queue.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time)
    }

    /// The number of the first timer that is due by `now`.
    pub(crate) fn due(&mut self, now: Time) -> Option<usize> {
        loop {
            let mut first = self.queue.peek_mut()?;
            let Reverse((time, order, number)) = *first;
            if time > now {
                return None;
            }
            let timer = &mut self.timers[number as usize];

            // An entry is current where the timer still has this time and order.
            if (timer.due, timer.order) == (time, order) {
                return Some(number as usize);
            }

            // An old entry becomes the timer's present one, or leaves the queue.
            if timer.queued == time {
                timer.queued = Time::NEVER;
            }
            match timer.entry() {
                Some((time, order)) => *first = Reverse((time, order, number)),
                None => _ = PeekMut::pop(first),
            }
        }
    }

    /// Takes the first timer that is due by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<usize> {
        let number = self.due(now)?;
        let Reverse((time, ..)) = self.queue.pop()?;
        let timer = &mut self.timers[number];
        if timer.queued == time {
            timer.queued = Time::NEVER;
        }
        timer.due = Time::NEVER;
        Some(number)
    }
}

impl Timer {
    /// The entry that the timer needs in the queue, if none of its entries comes up in time.
    fn entry(&mut self) -> Option<(Time, FiringOrder)> {
        if self.due == Time::NEVER || self.due > self.queued {
            return None;
        }
        self.queued = self.due;
        Some((self.due, self.order))
    }
}

/// Accounts time by limit.
#[derive(Clone, Debug)]
pub(crate) struct LimitClock {
    current: Limit,
    since: Time,
    booked: [u64; Limit::COUNT],
    /// Changes of the limit, if they are kept for others.
    changes: Option<Vec<(Time, Limit)>>,
}

impl LimitClock {
    pub(crate) fn new() -> LimitClock {
        let (current, since) = (Limit::Idle, Time::ZERO);
        LimitClock { current, since, booked: [0; Limit::COUNT], changes: None }
    }

    /// Sets the limit from `now` on.
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.booked[self.current as usize] += (now - self.since).0;
            self.since = now;
            self.current = limit;
            if let Some(changes) = &mut self.changes {
                changes.push((now, limit));
            }
        }
    }

    /// Keeps changes of the limit from now on.
    pub(crate) fn keep_changes(&mut self) {
        self.changes = Some(Vec::new());
    }

    /// Takes the kept changes, in order of time.
    pub(crate) fn take_changes(&mut self) -> Vec<(Time, Limit)> {
        self.changes.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Nanoseconds by limit, up to `now`.
    pub(crate) fn read(&self, now: Time) -> [u64; Limit::COUNT] {
        let mut booked = self.booked;
        booked[self.current as usize] += (now - self.since).0;
        booked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts timer 0 before timer 1 for one time, then moves timer 0 to `level`.
    fn order(level: u32) -> [Option<usize>; 2] {
        let (at, wheel) = (Time::ms(1), |level| Clockwork::Wheel(TimerWheel::Levels, level));
        let mut timers = Timers::new(2);
        timers.set(0, Some(at), wheel(2));
        timers.set(1, Some(at), wheel(2));
        timers.set(0, Some(at), wheel(level));
        let order = [timers.pop(at), timers.pop(at)];
        assert_eq!(timers.pop(at), None);
        order
    }

    #[test]
    fn a_timer_that_is_due_late_and_early_by_turns_takes_little_memory() {
        let mut timers = Timers::new(2);
        timers.set(1, Some(Time::ms(500)), Clockwork::Own);
        for now in 0..1000 {
            for due in [now + 200, now + 1] {
                timers.set(0, Some(Time::ms(due)), Clockwork::Own);
            }
            let fired = (now == 499).then_some(1).or(Some(0));
            assert_eq!(timers.pop(Time::ms(now + 1)), fired);
            if now == 499 {
                assert_eq!(timers.pop(Time::ms(now + 1)), Some(0));
            }
            assert!(timers.queue.len() <= MOST_ENTRIES * 2, "{now}: {}", timers.queue.len());
        }
    }

    #[test]
    fn a_timer_that_moves_to_another_level_is_moved_though_it_fires_at_the_same_time() {
        assert_eq!(order(2), [Some(1), Some(0)]);
        assert_eq!(order(3), [Some(0), Some(1)]);
        assert_eq!(order(1), [Some(1), Some(0)]);
    }
}
