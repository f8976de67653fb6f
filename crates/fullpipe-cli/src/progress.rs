//! How far the runs are: a bar over simulated time on a terminal, plain lines otherwise, on standard
//! error.

use crate::output::note;
use crate::pace::{Pace, rounded};
use fullpipe_sim::units::Time;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::Mutex;

/// Shows progress; shared by the threads that run.
pub enum Progress {
    /// Nothing is shown.
    Quiet,
    /// A line when a run ends.
    Lines,
    /// A bar, counting simulated microseconds.
    Bar(ProgressBar, Mutex<Pace>),
}

const BAR: &str = "{bar:30} {percent:>3} % of {msg}{prefix}";

impl Progress {
    /// For runs of these simulated times.
    pub fn new(quiet: bool, runs: &[Time]) -> Progress {
        if quiet {
            return Progress::Quiet;
        }
        if !stderr().is_terminal() {
            return Progress::Lines;
        }
        let total = runs.iter().fold(Time::ZERO, |sum, run| sum + *run);
        let bar = ProgressBar::new(total.as_us());
        if let Ok(style) = ProgressStyle::with_template(BAR) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(format!("{:.0} simulated s in {} runs", total.as_secs_f64(), runs.len()));
        Progress::Bar(bar, Mutex::new(Pace::new(total.as_us())))
    }

    /// Another span was simulated.
    pub fn advance(&self, span: Time) {
        let Progress::Bar(bar, pace) = self else { return };
        bar.inc(span.as_us());
        // Another thread that has it does the same.
        if let Ok(mut pace) = pace.try_lock()
            && let Some(left) = pace.left(bar.elapsed(), bar.position())
        {
            bar.set_prefix(format!(", {} left", rounded(left)));
        }
    }

    /// So many runs more, of that simulated time each.
    pub fn more(&self, span: Time, runs: usize) {
        let Progress::Bar(bar, pace) = self else { return };
        bar.inc_length(span.as_us() * runs as u64);
        if let Ok(mut pace) = pace.lock() {
            pace.more(span.as_us() * runs as u64);
        }
    }

    /// Something that a reader wants to know while it happens.
    pub fn say(&self, text: &str) {
        match self {
            Progress::Quiet => {}
            Progress::Lines => note(text),
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
