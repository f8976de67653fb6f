//! Standard output for results, standard error for everything else, and for results where a capture
//! takes standard output.

use crate::failure::Failure;
use fullpipe::analysis::document::Document;
use fullpipe::report::terminal::{self, Detail, Style};
use fullpipe::results::json;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;

/// Where results go and how they may look.
pub struct Output {
    style: Style,
    stream: Stream,
}

#[derive(Clone, Copy)]
enum Stream {
    Out,
    Err,
}

/// Width where no terminal says otherwise.
const WIDTH: usize = 80;

impl Output {
    /// Style of standard output. The width is that of the terminal, or COLUMNS. Colour needs a terminal that shows it, and
    /// NO_COLOR turns it off (no-color.org).
    pub fn detect() -> Output {
        Output { style: style(io::stdout()), stream: Stream::Out }
    }

    /// On standard error. Width and colour as in [`Output::detect`], of that stream.
    pub fn on_stderr() -> Output {
        Output { style: style(io::stderr()), stream: Stream::Err }
    }

    /// Style of text.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Writes a result.
    ///
    /// # Errors
    /// It cannot be written. A reader that has seen enough (a closed pipe) is no error.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.write(|out| out.write_all(text.as_bytes()))
    }

    /// Writes a part of a result without an end; false if its reader has seen enough.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn print_on(&self, text: &str) -> Result<bool, Failure> {
        let mut is_read = true;
        self.write(|out| {
            let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            is_read = !matches!(&written, Err(why) if why.kind() == ErrorKind::BrokenPipe);
            written
        })?;
        Ok(is_read)
    }

    /// Writes a document as text of that extent.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn document(&self, document: &Document, detail: Detail) -> Result<(), Failure> {
        self.print(&terminal::render_as(document, detail, self.style))
    }

    fn write(&self, what: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let (name, mut out): (_, Box<dyn Write>) = match self.stream {
            Stream::Out => ("output", Box::new(io::stdout().lock())),
            Stream::Err => ("error", Box::new(io::stderr().lock())),
        };
        match what(&mut out).and_then(|()| out.flush()) {
            Err(e) if e.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::environment(format!("cannot write to standard {name}"), e))
            }
            _ => Ok(()),
        }
    }

    /// Writes the contents of a file.
    ///
    /// # Errors
    /// As [`Output::print`], or the file cannot be read.
    pub fn copy(&self, path: &Path) -> Result<(), Failure> {
        let file = File::open(path)
            .map_err(|e| Failure::environment(format!("cannot read {}", path.display()), e))?;
        let mut file = BufReader::with_capacity(1 << 16, file);
        self.write(|mut out| io::copy(&mut file, &mut out).map(|_| ()))
    }

    /// Writes one JSON document and a newline.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        self.write(|out| {
            let mut out = BufWriter::new(out);
            json::write(&mut out, value)?;
            out.flush()
        })
    }
}

/// Abilities of `stream`.
fn style(stream: impl IsTerminal + AsFd) -> Style {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let terminal = stream.is_terminal() && set("TERM").is_some_and(|term| term != "dumb");
    let columns = set("COLUMNS").and_then(|columns| columns.parse().ok());
    let size = terminal_size::terminal_size_of(stream).map(|(w, _)| usize::from(w.0));
    let width = size.or(columns).unwrap_or(WIDTH);
    Style { width, color: terminal && set("NO_COLOR").is_none() }
}

/// Prints a line on standard error; a closed standard error is ignored.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
