//! Remaining time, from the speed in the last seconds. Runs differ in speed, so old progress says little, and a single
//! moment says nothing. Where few runs end in ten seconds, more seconds count, until enough runs have ended.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Time over which the rate is taken.
const WINDOW: Duration = Duration::from_secs(10);
/// Least work over which the rate is taken, where there was so much.
const LEAST_WORK: u64 = 20;
/// Least time between two looks.
const STEP: Duration = Duration::from_millis(500);
/// Least time that says anything.
const LEAST: Duration = Duration::from_secs(2);

/// Estimates the remaining time from the work of the last seconds.
#[derive(Debug)]
pub struct Pace {
    total: u64,
    /// When, since the beginning, and how much was done by then.
    seen: VecDeque<(Duration, u64)>,
}

impl Pace {
    /// An estimate for `total` work.
    pub fn new(total: u64) -> Pace {
        Pace { total, seen: VecDeque::from([(Duration::ZERO, 0)]) }
    }

    /// Adds work.
    pub fn more(&mut self, work: u64) {
        self.total += work;
    }

    /// `done` of the work is done at `now`: how long the rest takes. None between two looks, and
    /// while it cannot be known.
    pub fn left(&mut self, now: Duration, done: u64) -> Option<Duration> {
        let (last, _) = *self.seen.back()?;
        if now < last + STEP {
            return None;
        }
        self.seen.push_back((now, done));

        // The oldest looks drop out, as long as the rest spans enough time and work.
        while self
            .seen
            .get(1)
            .is_some_and(|(time, work)| *time + WINDOW <= now && work + LEAST_WORK <= done)
        {
            self.seen.pop_front();
        }
        let (since, before) = *self.seen.front()?;
        let (span, work) = (now - since, done.saturating_sub(before));

        // Little work or time predicts nothing.
        if work == 0 || span < LEAST {
            return None;
        }
        let rest = self.total.saturating_sub(done) as f64;
        Duration::try_from_secs_f64(rest / work as f64 * span.as_secs_f64()).ok()
    }
}

/// Times of progress lines: every few seconds at first, every half minute in a long run.
#[derive(Debug)]
pub struct Every {
    began: Instant,
    last_line: Duration,
}

/// Least and most time between two lines; between these bounds, the pause as a share of the time so far.
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(30);
const SHARE: u32 = 10;

impl Every {
    /// The clock starts now.
    pub fn new() -> Every {
        Every { began: Instant::now(), last_line: Duration::ZERO }
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether a line is due now; it counts as written then.
    pub fn is_due(&mut self) -> bool {
        self.is_due_at(self.elapsed())
    }

    fn is_due_at(&mut self, now: Duration) -> bool {
        let gap = (now / SHARE).clamp(SHORTEST, LONGEST);
        let due = now >= self.last_line + gap;
        if due {
            self.last_line = now;
        }
        due
    }
}

/// A time as coarse as it is known: "7 s", "40 s", "3 min", "2 h".
pub fn rounded(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 20.0 => format!("{:.0} s", s.ceil()),
        s if s < 90.0 => format!("{:.0} s", (s / 5.0).ceil() * 5.0),
        s if s < 5400.0 => format!("{:.0} min", (s / 60.0).ceil()),
        s => format!("{:.0} h", (s / 3600.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: f64) -> Duration {
        Duration::from_secs_f64(s)
    }

    #[test]
    fn the_last_ten_seconds_count() {
        let mut pace = Pace::new(1000);
        let mut left = None;
        // 20 s at 1 a second, then 10 s at 10 a second
        for half in 1..=60 {
            let now = f64::from(half) / 2.0;
            let done = if now <= 20.0 { now } else { 20.0 + (now - 20.0) * 10.0 };
            left = pace.left(seconds(now), done as u64);
        }
        assert_eq!(left, Some(seconds(88.0)));
    }

    #[test]
    fn where_little_ends_more_time_counts() {
        let mut pace = Pace::new(100);
        let mut left = None;
        // A run every 6 s: the last ten seconds have seen one or two of them.
        for half in 1..=600_u32 {
            let now = f64::from(half) / 2.0;
            left = pace.left(seconds(now), (now / 6.0) as u64).or(left);
        }
        let left = left.expect("known").as_secs_f64();
        assert!((left - 300.0).abs() < 20.0, "{left}");
    }

    #[test]
    fn one_fast_moment_moves_it_by_its_share_only() {
        let mut pace = Pace::new(10_000);
        for half in 1..=40_u32 {
            pace.left(seconds(f64::from(half) / 2.0), u64::from(half) * 5);
        }
        let (steady, spike) = (980.0, pace.left(seconds(20.5), 300).expect("known").as_secs_f64());
        assert!(spike > 0.4 * steady && spike < steady, "{spike}");
    }

    #[test]
    fn nothing_is_said_before_it_is_known() {
        let mut pace = Pace::new(100);
        assert_eq!(pace.left(seconds(0.1), 1), None);
        assert_eq!(pace.left(seconds(1.0), 2), None);
        assert_eq!(pace.left(seconds(2.0), 4), Some(seconds(48.0)));
        assert_eq!(pace.left(seconds(2.1), 50), None);
        let mut stuck = Pace::new(100);
        assert_eq!(stuck.left(seconds(5.0), 0), None);
    }

    #[test]
    fn lines_are_due_every_few_seconds_and_less_often_later() {
        let mut every = Every::new();
        let mut due: Vec<u64> = Vec::new();
        for second in 0..600 {
            if every.is_due_at(Duration::from_secs(second)) {
                due.push(second);
            }
        }
        assert_eq!(due[..4], [5, 10, 15, 20]);
        let gaps: Vec<u64> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps.iter().max(), Some(&30));
        assert!(gaps.is_sorted(), "{gaps:?}");
    }

    #[test]
    fn times_are_as_coarse_as_they_are_known() {
        let table =
            [(0.2, "1 s"), (19.4, "20 s"), (61.0, "65 s"), (90.0, "2 min"), (7300.0, "3 h")];
        for (time, text) in table {
            assert_eq!(rounded(seconds(time)), text);
        }
    }
}
