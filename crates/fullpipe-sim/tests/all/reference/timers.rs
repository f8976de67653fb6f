//! Timers of a host: a list.

use fullpipe_sim::jiffy_clock::Expiry;
use fullpipe_sim::tcp::profile::TimerWheel;
use fullpipe_sim::units::Time;

/// Due time of a timer, the wheel that fires it and its level there (none: an hrtimer), and the number of timers
/// started before it.
type Entry = (Time, Option<WheelTimer>, usize);

/// Place of a timer in the wheel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WheelTimer {
    wheel: TimerWheel,
    level: u32,
}

/// Expiry of a timer that is set at `now` for `jiffies` jiffies later. Without levels: at the start of that jiffy. With
/// levels: at the end of its slot. A level has 64 slots, and each is 8 times as coarse as a slot of the level below.
///
/// Jiffies began five minutes before they fill 32 bits, ten seconds before the run. As a jiffy begins, its slot is
/// over: the wheel is on the next one.
pub fn in_wheel(wheel: TimerWheel, hz: u64, now: Time, jiffies: u64) -> Expiry {
    let tick = 1_000_000_000 / hz;
    let began = (1 << 32) - 290 * (1_000_000_000 / tick);
    let due = now.0 / tick + jiffies;
    if wheel == TimerWheel::Cascading {
        return Expiry::alone(Time(due * tick));
    }
    let on_next = now.0.is_multiple_of(tick);
    let ahead = if on_next { jiffies.saturating_sub(1) } else { jiffies };
    let level = (0..).find(|&level| ahead < 63 << (3 * level)).expect("a level");
    let slot: u64 = 1 << (3 * level);
    Expiry { at: Time((((began + due) / slot + 1) * slot - began) * tick), level }
}

/// The timers by number.
pub struct Timers {
    running: Vec<Option<Entry>>,
    started: usize,
}

impl Timers {
    /// `count` timers, none of which runs.
    pub fn new(count: usize) -> Timers {
        Timers { running: vec![None; count], started: 0 }
    }

    /// Starts, moves or stops a timer; one that is due then already, and on that level, stays in its place.
    pub fn set(&mut self, number: usize, due: Option<Time>, by: Option<WheelTimer>) {
        let running = &mut self.running[number];
        if running.map(|(time, by, _)| (time, by)) != due.map(|time| (time, by)) {
            self.started += 1;
            *running = due.map(|due| (due, by, self.started));
        }
    }

    /// Sets a timer of the wheel.
    pub fn set_in(&mut self, wheel: TimerWheel, number: usize, expiry: Option<Expiry>) {
        let by = expiry.map(|expiry| WheelTimer { wheel, level: expiry.level });
        self.set(number, expiry.map(|expiry| expiry.at), by);
    }

    /// Time at which the next timer is due.
    pub fn next(&self) -> Option<Time> {
        self.running.iter().flatten().map(|(time, ..)| *time).min()
    }

    /// Names the first one that is due, without stopping it.
    pub fn first(&self, now: Time) -> Option<usize> {
        let mut copy = Timers { running: self.running.clone(), ..*self };
        copy.take(now)
    }

    /// Whether the first one that is due is the wheel's.
    pub fn first_is_of_wheel(&self, now: Time) -> bool {
        let by = self.first(now).and_then(|number| self.running[number]);
        by.is_some_and(|(_, by, _)| by.is_some())
    }

    /// Stops and names the first timer that is due. At one time those of the wheel come first. In a wheel with levels
    /// the highest level is first, and in a level the last timer started. Otherwise the first timer started is first.
    pub fn take(&mut self, now: Time) -> Option<usize> {
        let next = self.next().filter(|due| *due <= now)?;
        let due = self.running.iter().enumerate();
        let due = due.filter_map(|(number, running)| Some((number, running.as_ref()?)));
        let due: Vec<_> = due.filter(|(_, (time, ..))| *time == next).collect();
        let of = |wheel| due.iter().filter(move |(_, (_, by, _))| by.map(|by| by.wheel) == wheel);
        let started = |(_, (.., number)): &&(usize, &Entry)| *number;
        let level = |(_, (_, by, _)): &&(usize, &Entry)| by.expect("the wheel's").level;
        let last = of(Some(TimerWheel::Levels)).max_by_key(|timer| (level(timer), started(timer)));
        let first = of(Some(TimerWheel::Cascading)).min_by_key(started);
        let own = of(None).min_by_key(started);
        let number = last.or(first).or(own).map(|(number, _)| *number)?;
        self.running[number] = None;
        Some(number)
    }
}
