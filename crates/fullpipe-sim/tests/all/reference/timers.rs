//! Timers of a host: a list.

use fullpipe_sim::tcp::profile::TimerWheel;
use fullpipe_sim::units::Time;

/// Each timer's due time, what fires it (none: a timer of its own) and how many were started before it.
type Entry = (Time, Option<TimerWheel>, usize);

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

    /// Starts, moves or stops a timer; one that is due then already stays in its place.
    pub fn set(&mut self, number: usize, due: Option<Time>, by: Option<TimerWheel>) {
        let running = &mut self.running[number];
        if running.map(|(time, ..)| time) != due {
            self.started += 1;
            *running = due.map(|due| (due, by, self.started));
        }
    }

    /// When the next one is due.
    pub fn next(&self) -> Option<Time> {
        self.running.iter().flatten().map(|(time, ..)| *time).min()
    }

    /// Stops and names the first one that is due. Of several due at one time those of the wheel come first: of one
    /// with levels the last that was started, else the first.
    pub fn take(&mut self, now: Time) -> Option<usize> {
        let next = self.next().filter(|due| *due <= now)?;
        let due = self.running.iter().enumerate();
        let due = due.filter_map(|(number, running)| Some((number, running.as_ref()?)));
        let due: Vec<_> = due.filter(|(_, (time, ..))| *time == next).collect();
        let of = |wheel| due.iter().filter(move |(_, (_, by, _))| *by == wheel);
        let started = |(_, (.., number)): &&(usize, &Entry)| *number;
        let last = of(Some(TimerWheel::Levels)).max_by_key(started);
        let first = of(Some(TimerWheel::Cascading)).min_by_key(started);
        let own = of(None).min_by_key(started);
        let number = last.or(first).or(own).map(|(number, _)| *number)?;
        self.running[number] = None;
        Some(number)
    }
}
