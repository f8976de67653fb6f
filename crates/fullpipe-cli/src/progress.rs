//! How far the runs are: a bar over simulated time on a terminal, plain lines otherwise, on standard
//! error.

use crate::output::note;
use fullpipe_sim::units::Time;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};

/// Shows progress; shared by the threads that run.
pub enum Progress {
    /// Nothing is shown.
    Quiet,
    /// A line when a run ends.
    Lines,
    /// A bar, counting simulated microseconds.
    Bar(ProgressBar),
}

const BAR: &str = "{bar:30} {percent:>3} % of {msg}, {eta} left";

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
        Progress::Bar(bar)
    }

    /// Another span was simulated.
    pub fn advance(&self, span: Time) {
        if let Progress::Bar(bar) = self {
            bar.inc(span.as_us());
        }
    }

    /// Something that a reader wants to know while it happens.
    pub fn say(&self, text: &str) {
        match self {
            Progress::Quiet => {}
            Progress::Lines => note(text),
            Progress::Bar(bar) => bar.suspend(|| note(text)),
        }
    }

    /// No more runs; the bar leaves no trace.
    pub fn finish(&self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
