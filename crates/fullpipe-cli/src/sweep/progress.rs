//! Progress of a sweep: number of runs, speed, and remaining time, as a bar on a terminal, a line now and then
//! otherwise.

use crate::output::note;
use crate::pace::{Every, Pace, rounded};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const BAR: &str = "{bar:24} {pos} of {len} runs{prefix}";
/// Shows progress; shared by the threads that run.
pub struct Progress {
    shown: Shown,
    state: Mutex<State>,
    total: u64,
}

enum Shown {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

struct State {
    pace: Pace,
    every: Every,
    left: Option<Duration>,
    done: u64,
    failed: u64,
}

impl Progress {
    /// Progress of `total` runs.
    pub fn new(quiet: bool, total: u64) -> Progress {
        let shown = match (quiet || total == 0, stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, false) => Shown::Lines,
            (false, true) => Shown::Bar(bar(total)),
        };
        let (pace, every) = (Pace::new(total), Every::new());
        let state = State { pace, every, left: None, done: 0, failed: 0 };
        Progress { shown, state: Mutex::new(state), total }
    }

    /// A run is made; `failed`: text on its failure, empty without one.
    pub fn done(&self, failed: Option<&str>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        state.failed += u64::from(failed.is_some());

        // A repeated reason comes as an empty text: it counts, and prints nothing.
        let failed = failed.filter(|why| !why.is_empty());
        let elapsed = state.every.elapsed();
        let done = state.done;
        let left = state.pace.left(elapsed, done);

        // The pace answers now and then: the last answer stays until the next.
        state.left = left.or(state.left);
        match &self.shown {
            Shown::Nothing | Shown::Lines => failed.into_iter().for_each(note),
            Shown::Bar(bar) => {
                failed.into_iter().for_each(|why| bar.suspend(|| note(why)));
                bar.set_position(done);
                if left.is_some() {
                    bar.set_prefix(rest(&state));
                }
            }
        }
    }

    /// Writes the line that is due, also while no run ends.
    pub fn tick(&self) {
        if !matches!(self.shown, Shown::Lines) {
            return;
        }
        // A thread that holds the lock does the same.
        let Ok(mut state) = self.state.try_lock() else { return };
        if state.every.is_due() {
            note(&format!("{} of {} runs{}", state.done, self.total, rest(&state)));
        }
    }

    /// No more runs; the bar leaves no trace.
    pub fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template(BAR) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Rate, time left and failures.
fn rest(state: &State) -> String {
    if state.done == 0 {
        return String::new();
    }
    let rate = state.done as f64 / state.every.elapsed().as_secs_f64().max(1e-3);

    // Slow sweeps count by the minute.
    let mut text = match rate {
        rate if rate >= 1.0 => format!(", {rate:.1} a second"),
        rate => format!(", {:.1} a minute", rate * 60.0),
    };
    text += &state.left.map_or_else(String::new, |left| format!(", {} left", rounded(left)));
    match state.failed {
        0 => text,
        failed => text + &format!(", {failed} failed"),
    }
}
