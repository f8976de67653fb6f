//! Standard output for results, standard error for everything else.

use crate::failure::Failure;
use fullpipe::report::terminal::Style;
use serde::Serialize;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Where results go and how they may look.
pub struct Output {
    style: Style,
}

/// Width where no terminal says otherwise.
const WIDTH: usize = 80;

impl Output {
    /// Width from the terminal or COLUMNS; colour only on a terminal that shows it, and never with
    /// NO_COLOR set to anything (no-color.org).
    pub fn detect() -> Output {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let terminal = io::stdout().is_terminal() && set("TERM").is_some_and(|term| term != "dumb");
        let columns = set("COLUMNS").and_then(|columns| columns.parse().ok());
        let size = terminal_size::terminal_size_of(io::stdout()).map(|(w, _)| usize::from(w.0));
        let style = Style {
            width: size.or(columns).unwrap_or(WIDTH),
            color: terminal && set("NO_COLOR").is_none(),
        };
        Output { style }
    }

    /// How text may look.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Writes a result.
    ///
    /// # Errors
    /// It cannot be written. A reader that has seen enough (a closed pipe) is no error.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::environment("cannot write to standard output", e))
            }
            _ => Ok(()),
        }
    }

    /// Writes one JSON document and a newline.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|e| Failure::environment("cannot write JSON", e))?;
        self.print(&(text + "\n"))
    }
}

/// Says something on standard error; whoever closed it does not want to know.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
