//! Timers of a host: a list.

use fullpipe_sim::units::Time;

/// Each timer's due time, by number.
pub struct Timers(Vec<Option<Time>>);

impl Timers {
    /// `count` timers, none of which runs.
    pub fn new(count: usize) -> Timers {
        Timers(vec![None; count])
    }

    /// Starts, moves or stops a timer.
    pub fn set(&mut self, number: usize, due: Option<Time>) {
        self.0[number] = due;
    }

    /// When the next one is due.
    pub fn next(&self) -> Option<Time> {
        self.0.iter().flatten().min().copied()
    }

    /// Stops and names the first one that is due; of several due at one time the lowest number.
    pub fn take(&mut self, now: Time) -> Option<usize> {
        let next = self.next().filter(|due| *due <= now)?;
        let number = self.0.iter().position(|due| *due == Some(next))?;
        self.0[number] = None;
        Some(number)
    }
}
