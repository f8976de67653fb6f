//! Progress of a build: a bar over the lines of `make` on a terminal, plain lines otherwise, on standard error.

use crate::interrupt;
use crate::output::note;
use crate::pace::{Pace, rounded};
use fullpipe::engine::linux::kernel::watch::{Step, Watch};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};

const BAR: &str = "{bar:30} {percent:>3} % of the kernel compiled{prefix}";
/// Steps of plain lines.
const PERCENT: u64 = 10;

/// Shows the progress of a build.
pub struct Progress {
    quiet: bool,
    terminal: bool,
    bar: Option<(ProgressBar, Pace)>,
    /// Percent shown so far.
    shown: u64,
}

impl Progress {
    /// Shows nothing if `quiet`.
    pub fn new(quiet: bool) -> Progress {
        Progress { quiet, terminal: stderr().is_terminal(), bar: None, shown: 0 }
    }

    /// The build has ended; the bar leaves no trace.
    pub fn finish(&mut self) {
        if let Some((bar, _)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn draw(&mut self, lines: u64, expected: u64) {
        let (bar, pace) = self.bar.get_or_insert_with(|| (bar(expected), Pace::new(expected)));
        bar.set_position(lines.min(expected));
        if let Some(left) = pace.left(bar.elapsed(), lines) {
            bar.set_prefix(format!(", {} left", rounded(left)));
        }
    }
}

fn bar(expected: u64) -> ProgressBar {
    let bar = ProgressBar::new(expected);
    if let Ok(style) = ProgressStyle::with_template(BAR) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

impl Watch for Progress {
    fn step(&mut self, step: &Step) {
        // The line of the step before ends first.
        self.finish();
        if self.quiet {
            return;
        }
        note(&match step {
            Step::Waiting(Some(process)) => {
                format!("waiting for another build in this cache (process {process})")
            }
            Step::Waiting(None) => "waiting for another build in this cache".into(),
            Step::Fetching(package) => format!("fetching {package} with apt-get"),
            Step::Unpacking => "unpacking".into(),
            Step::Configuring => "configuring".into(),
            Step::Compiling => "compiling".into(),
            Step::Removing => "removing the source".into(),
        });
    }

    /// More lines than expected are shown as nearly all.
    fn compiled(&mut self, lines: u64, expected: u64) {
        let percent = (lines * 100 / expected.max(1)).min(99);
        if self.quiet {
        } else if self.terminal {
            self.draw(lines.min(expected.saturating_sub(1)), expected);
        } else if percent / PERCENT > self.shown / PERCENT {
            self.shown = percent;
            note(&format!("compiling: {} %", percent / PERCENT * PERCENT));
        }
    }

    fn stopped(&self) -> bool {
        interrupt::stopped()
    }
}
