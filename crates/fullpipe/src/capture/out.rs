//! Destination of a capture: a file of its own, or a stream with a reader.

use super::file::Hidden;
use crate::trace::Error;
use std::fmt;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Bytes that are collected before they are written.
const CHUNK: usize = 1 << 18;

/// Destination of a capture, with the bytes that are not written yet.
#[derive(Debug)]
pub struct Out {
    to: To,
    buffer: Vec<u8>,
}

enum To {
    File(Hidden),
    Stream(Box<dyn Write>),
    /// The stream's reader has seen enough.
    Nobody,
}

impl Out {
    /// The file `path`.
    ///
    /// # Errors
    /// As [`Hidden::create`].
    pub fn file(path: &Path) -> Result<Out, Error> {
        Ok(Out::new(To::File(Hidden::create(path)?)))
    }

    /// A stream.
    pub fn stream(stream: Box<dyn Write>) -> Out {
        Out::new(To::Stream(stream))
    }

    fn new(to: To) -> Out {
        Out { to, buffer: Vec::with_capacity(CHUNK) }
    }

    /// Where the file is until it gets its name; none where it is a stream.
    pub fn hidden(&self) -> Option<&Path> {
        match &self.to {
            To::File(file) => Some(file.path()),
            To::Stream(_) | To::Nobody => None,
        }
    }

    /// Whether a stream's reader went away, so that something was not written.
    pub fn reader_left(&self) -> bool {
        matches!(self.to, To::Nobody)
    }

    /// Buffer of the next bytes: whole blocks between two calls of [`Out::flush`].
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes the collected bytes, once they are many or `all` is set. A stream without its reader is no error.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self, all: bool) -> Result<(), Error> {
        if !all && self.buffer.len() < CHUNK {
            return Ok(());
        }
        let written = match &mut self.to {
            To::File(file) => file.write(&self.buffer),
            To::Nobody => Ok(()),
            To::Stream(stream) => {
                match stream.write_all(&self.buffer).and_then(|()| stream.flush()) {
                    Err(e) if e.kind() == ErrorKind::BrokenPipe => {
                        self.to = To::Nobody;
                        Ok(())
                    }
                    written => written.map_err(|e| {
                        Error::new(Path::new("-"), format!("the capture cannot be written: {e}"))
                    }),
                }
            }
        };
        self.buffer.clear();
        written
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// As [`Hidden::finish`].
    pub fn finish(self) -> Result<(), Error> {
        match self.to {
            To::File(file) => file.finish(),
            To::Stream(_) | To::Nobody => Ok(()),
        }
    }
}

impl fmt::Debug for To {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            To::File(file) => file.fmt(f),
            To::Stream(_) => f.write_str("a stream"),
            To::Nobody => f.write_str("nobody"),
        }
    }
}
