//! Progress of the runs: a bar over simulated time on a terminal, lines every few seconds otherwise, on standard error.

use crate::interrupt;
use crate::output::note;
use crate::pace::{Every, Pace, rounded};
use fullpipe::base::trace::Control;
use fullpipe::base::units::Time;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of runs up to which each has a line when it ends.
const FEW: usize = 6;

/// Shows progress; shared by the threads that run.
pub enum Progress {
    /// Nothing is shown.
    Quiet,
    /// A line every few seconds, and one when a run ends.
    Lines(Mutex<Lines>),
    /// A bar, counting simulated microseconds.
    Bar(ProgressBar, Mutex<Pace>),
}

/// State of lines.
pub struct Lines {
    pace: Pace,
    every: Every,
    /// Simulated microseconds: all, and the finished ones.
    total_us: u64,
    done_us: u64,
    /// Runs of the scenario: all, and the finished ones.
    runs: usize,
    ended: usize,
    /// Current work that is not a run of the scenario.
    doing: String,
    left: Option<Duration>,
}

const BAR: &str = "{bar:30} {percent:>3} % of {msg}{prefix}";

impl Progress {
    /// For runs of these simulated times. `shown` of them are runs of the scenario, which are counted; the others widen bands.
    pub fn new(quiet: bool, runs: &[Time], shown: usize) -> Progress {
        if quiet {
            return Progress::Quiet;
        }
        let total = runs.iter().fold(Time::ZERO, |sum, run| sum + *run);
        let pace = Pace::new(total.as_us());

        // A log gets lines now and then: a bar would fill it.
        if !stderr().is_terminal() {
            return Progress::Lines(Mutex::new(Lines::new(pace, total, shown)));
        }
        let bar = ProgressBar::new(total.as_us());
        if let Ok(style) = ProgressStyle::with_template(BAR) {
            bar.set_style(style.progress_chars("=> "));
        }

        // Commands that do not know their runs yet add them later.
        if !runs.is_empty() {
            let (seconds, count) = (total.as_secs_f64(), runs.len());
            bar.set_message(format!("{seconds:.0} simulated s in {count} runs"));
        }
        Progress::Bar(bar, Mutex::new(pace))
    }

    /// Another span was simulated.
    pub fn advance(&self, span: Time) {
        match self {
            Progress::Quiet => {}
            Progress::Lines(lines) => lock(lines).advance(span).iter().for_each(|line| note(line)),
            Progress::Bar(bar, pace) => {
                bar.inc(span.as_us());
                // A thread that holds the lock does the same.
                if let Ok(mut pace) = pace.try_lock()
                    && let Some(left) = pace.left(bar.elapsed(), bar.position())
                {
                    bar.set_prefix(format!(", {} left", rounded(left)));
                }
            }
        }
    }

    /// Adds runs of that simulated time each.
    pub fn more(&self, span: Time, runs: usize) {
        let more = span.as_us() * runs as u64;
        match self {
            Progress::Quiet => {}
            Progress::Lines(lines) => {
                let mut lines = lock(lines);
                lines.total_us += more;
                lines.pace.more(more);
            }
            Progress::Bar(bar, pace) => {
                bar.inc_length(more);
                lock(pace).more(more);
                let all = bar.length().unwrap_or(0);
                bar.set_message(format!("{:.0} simulated s so far", all as f64 / 1e6));
            }
        }
    }

    /// Names the current work that is not a run of the scenario; empty when it is done.
    pub fn doing(&self, what: &str) {
        if let Progress::Lines(lines) = self {
            lock(lines).doing = what.to_string();
        }
    }

    /// A run of the scenario has ended. Of many runs lines show only how many have.
    pub fn ended(&self, text: &str) {
        if let Progress::Lines(lines) = self {
            let mut lines = lock(lines);
            lines.ended += 1;
            if lines.runs > FEW {
                return;
            }
        }
        self.say(text);
    }

    /// Something that a reader wants to know while it happens.
    pub fn say(&self, text: &str) {
        match self {
            Progress::Quiet => {}
            Progress::Lines(_) => note(text),
            Progress::Bar(bar, _) => bar.suspend(|| note(text)),
        }
    }

    /// No more runs; the bar leaves no trace.
    pub fn finish(&self) {
        if let Progress::Bar(bar, _) = self {
            bar.finish_and_clear();
        }
    }
}

/// Watches consecutive runs: prints a line every few seconds, and ends them at a signal.
pub struct InTurn {
    every: Every,
    /// Number of the run, from 1 on.
    run: usize,
    seen: Time,
}

impl InTurn {
    /// Before the first run.
    pub fn new() -> InTurn {
        InTurn { every: Every::new(), run: 1, seen: Time::ZERO }
    }
}

impl Control for InTurn {
    fn go_on(&mut self, now: Time) -> bool {
        if now < self.seen {
            self.run += 1;
        }
        self.seen = now;
        if self.every.is_due() {
            note(&format!("run {}: {:.0} s simulated", self.run, now.as_secs_f64()));
        }
        !interrupt::stopped()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lines {
    fn new(pace: Pace, total: Time, runs: usize) -> Lines {
        Lines {
            pace,
            every: Every::new(),
            total_us: total.as_us(),
            done_us: 0,
            runs,
            ended: 0,
            doing: String::new(),
            left: None,
        }
    }

    /// Counts a span; the line that is due.
    fn advance(&mut self, span: Time) -> Option<String> {
        self.done_us += span.as_us();
        let left = self.pace.left(self.every.elapsed(), self.done_us);
        self.left = left.or(self.left);
        self.every.is_due().then(|| self.line())
    }

    /// "3 of 72 runs, 12 % of 800 simulated s, 40 s left; reno: run 2 of 8 for the band".
    fn line(&self) -> String {
        let percent = (self.done_us * 100).checked_div(self.total_us).unwrap_or(0).min(100);
        let total = self.total_us as f64 / 1e6;
        let mut line = match self.runs {
            0 | 1 => format!("{percent} % of {total:.0} simulated s"),
            runs => format!("{} of {runs} runs, {percent} % of {total:.0} simulated s", self.ended),
        };
        line += &self.left.map_or_else(String::new, |left| format!(", {} left", rounded(left)));
        if !self.doing.is_empty() {
            line += &format!("; {}", self.doing);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_the_runs_are_and_what_runs_beside_them() {
        let total = Time::secs(40);
        let mut lines = Lines::new(Pace::new(total.as_us()), total, 4);
        assert_eq!(lines.advance(Time::secs(10)), None);
        lines.ended = 1;
        assert_eq!(lines.line(), "1 of 4 runs, 25 % of 40 simulated s");
        lines.doing = "reno: run 2 of 8 for the band".into();
        lines.left = Some(Duration::from_secs(7));
        let line = "1 of 4 runs, 25 % of 40 simulated s, 7 s left; reno: run 2 of 8 for the band";
        assert_eq!(lines.line(), line);
    }
}
