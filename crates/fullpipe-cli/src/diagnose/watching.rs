//! Progress of an observation: a bar on a terminal, else a line now and then, on standard error.

use crate::interrupt;
use crate::output::note;
use fullpipe::base::trace::Control;
use fullpipe::base::units::Time;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::Duration;

/// Time between two lines.
const LINES: Time = Time::secs(3);

/// Shows progress, and ends the observation after a signal.
pub struct Watching {
    bar: Option<ProgressBar>,
    /// Moment of the next line; none where nothing is shown.
    next: Option<Time>,
    lasts: Duration,
}

impl Watching {
    /// For an observation of that many connections and that length.
    pub fn new(quiet: bool, connections: usize, lasts: Duration) -> Watching {
        let plural = if connections == 1 { "" } else { "s" };
        let text = format!("watching {connections} connection{plural}");
        let is_terminal = stderr().is_terminal();
        if quiet {
            return Watching { bar: None, next: None, lasts };
        }
        if !is_terminal {
            note(&format!("{text} for {} s", lasts.as_secs_f64()));
            return Watching { bar: None, next: Some(LINES), lasts };
        }
        let bar = ProgressBar::new(lasts.as_millis() as u64).with_message(text);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} % of {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Watching { bar: Some(bar), next: None, lasts }
    }

    /// The observation is over.
    pub fn end(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl Control for Watching {
    fn go_on(&mut self, now: Time) -> bool {
        if let Some(bar) = &self.bar {
            bar.set_position(now.as_us() / 1000);
        }
        if let Some(next) = self.next.filter(|next| now >= *next) {
            note(&format!("{:.0} of {} s", now.as_secs_f64(), self.lasts.as_secs_f64()));
            self.next = Some(next + LINES);
        }
        !interrupt::stopped()
    }
}
