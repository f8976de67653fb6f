//! Errors of results on disk.

use std::fmt;
use std::path::{Path, PathBuf};

/// An error with its place and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file or directory concerned.
    pub path: PathBuf,
    /// Error, as a clause.
    pub what: String,
    /// Remedy, as an imperative clause; empty where there is none.
    pub hint: String,
    /// True if the name that was asked for is taken: another name helps, another machine does not.
    pub taken: bool,
}

impl Error {
    /// An error about `path` without a hint.
    pub fn new(path: &Path, what: impl fmt::Display) -> Error {
        Error {
            path: path.to_path_buf(),
            what: what.to_string(),
            hint: String::new(),
            taken: false,
        }
    }

    /// A name that something has already, which is not overwritten.
    pub fn taken(path: &Path, what: impl fmt::Display) -> Error {
        Error { taken: true, ..Error::new(path, what) }
    }

    /// Adds advice to the error.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
