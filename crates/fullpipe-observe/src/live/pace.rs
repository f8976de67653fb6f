//! A steady pace: the times of looks, how late each was, and the CPU time that they took.

use fullpipe_base::units::Time;
use rustix::time::{ClockId, clock_gettime};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest sleep between two questions whether to go on.
const SLICE: Duration = Duration::from_millis(50);

/// Delays that are kept: those of an hour of ten looks a second.
const KEPT: usize = 36_000;

/// Lateness and cost of the looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Looks that were taken.
    pub looks: u64,
    /// Median of the delays behind their times, ns.
    pub median: u64,
    /// Delay that 99 % of the looks do not exceed, ns.
    pub p99: u64,
    /// Longest delay, ns.
    pub most: u64,
    /// CPU time of the looks, ns.
    pub cpu: u64,
}

/// The clock of an observation.
pub struct Pace {
    begun: Instant,
    every: Duration,
    /// Number of the next look; the look at the beginning is number 0.
    next: u32,
    /// Delays of the last looks.
    late: Vec<u64>,
    looks: u64,
    cpu: u64,
}

impl Pace {
    /// A pace that begins now.
    pub fn new(every: Duration) -> Pace {
        Pace { begun: Instant::now(), every, next: 1, late: Vec::new(), looks: 0, cpu: cpu() }
    }

    /// Time since the beginning.
    pub fn now(&self) -> Time {
        Time(u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Waits for the next look; false if `go_on` ends the wait. Looks that are past are left out.
    pub fn wait(&mut self, mut go_on: impl FnMut(Time) -> bool) -> bool {
        loop {
            if !go_on(self.now()) {
                return false;
            }
            let left = (self.every * self.next).saturating_sub(self.begun.elapsed());
            if left.is_zero() {
                break;
            }
            sleep(left.min(SLICE));
        }
        let late = self.begun.elapsed().saturating_sub(self.every * self.next);
        let late = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        match self.late.len() < KEPT {
            true => self.late.push(late),
            false => self.late[self.looks as usize % KEPT] = late,
        }
        self.looks += 1;
        let passed = self.begun.elapsed().as_nanos() / self.every.as_nanos().max(1);
        self.next = u32::try_from(passed).unwrap_or(u32::MAX).saturating_add(1);
        true
    }

    /// Lateness and cost so far.
    pub fn lateness(&self) -> Lateness {
        let mut late = self.late.clone();
        late.sort_unstable();
        let at = |share: usize| late.get((late.len().saturating_sub(1)) * share / 100).copied();
        Lateness {
            looks: self.looks,
            median: at(50).unwrap_or(0),
            p99: at(99).unwrap_or(0),
            most: late.last().copied().unwrap_or(0),
            cpu: cpu().saturating_sub(self.cpu),
        }
    }
}

/// CPU time of the calling thread, ns.
fn cpu() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_keep_to_their_times_however_long_each_takes() {
        let mut pace = Pace::new(Duration::from_millis(20));
        let mut times = Vec::new();
        for _ in 0..5 {
            assert!(pace.wait(|_| true));
            times.push(pace.now().as_us());
            sleep(Duration::from_millis(5));
        }
        // Delays do not add up: the fifth look is not before its time, and its delay is its own.
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
        assert!(times[4] >= 100_000, "{times:?}");
        let own = pace.lateness();
        assert_eq!(own.looks, 5);
        assert!(own.median <= own.p99 && own.p99 <= own.most, "{own:?}");
    }

    #[test]
    fn a_late_look_leaves_out_those_that_are_past() {
        let mut pace = Pace::new(Duration::from_millis(10));
        assert!(pace.wait(|_| true));
        sleep(Duration::from_millis(35));
        assert!(pace.wait(|_| true));
        assert!(pace.next >= 5, "{}", pace.next);
        assert!(!pace.wait(|_| false));
    }
}
