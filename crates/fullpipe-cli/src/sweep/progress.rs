//! How many runs are made, how fast, and how long the rest takes: a bar on a terminal, a line now and then otherwise.

use crate::output::note;
use crate::pace::{Pace, rounded};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const BAR: &str = "{bar:24} {pos} of {len} runs{prefix}";
/// Between two lines where there is no terminal.
const EVERY: Duration = Duration::from_secs(30);

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
    began: Instant,
    told: Instant,
    done: u64,
    failed: u64,
}

impl Progress {
    /// For so many runs.
    pub fn new(quiet: bool, total: u64) -> Progress {
        let shown = match (quiet || total == 0, stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, false) => Shown::Lines,
            (false, true) => Shown::Bar(bar(total)),
        };
        let now = Instant::now();
        let state = State { pace: Pace::new(total), began: now, told: now, done: 0, failed: 0 };
        Progress { shown, state: Mutex::new(state), total }
    }

    /// A run is made; `failed`: what is to be said of it, empty where nothing is.
    pub fn done(&self, failed: Option<&str>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        state.failed += u64::from(failed.is_some());
        let failed = failed.filter(|why| !why.is_empty());
        let elapsed = state.began.elapsed();
        let done = state.done;
        let left = state.pace.left(elapsed, done);
        match &self.shown {
            Shown::Nothing => failed.into_iter().for_each(note),
            Shown::Lines => {
                failed.into_iter().for_each(note);
                if state.told.elapsed() >= EVERY {
                    state.told = Instant::now();
                    note(&format!("{done} of {} runs{}", self.total, rest(&state, left)));
                }
            }
            Shown::Bar(bar) => {
                failed.into_iter().for_each(|why| bar.suspend(|| note(why)));
                bar.set_position(done);
                if left.is_some() {
                    bar.set_prefix(rest(&state, left));
                }
            }
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
fn rest(state: &State, left: Option<Duration>) -> String {
    let rate = state.done as f64 / state.began.elapsed().as_secs_f64().max(1e-3);
    let mut text = match rate {
        rate if rate >= 1.0 => format!(", {rate:.1} a second"),
        rate => format!(", {:.1} a minute", rate * 60.0),
    };
    text += &left.map_or_else(String::new, |left| format!(", {} left", rounded(left)));
    match state.failed {
        0 => text,
        failed => text + &format!(", {failed} failed"),
    }
}
