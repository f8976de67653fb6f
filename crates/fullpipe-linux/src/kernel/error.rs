//! Errors of a kernel's build and cache.

use std::fmt;
use std::path::Path;

/// Why there is no kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A user asked to stop.
    Stopped,
    /// A step failed.
    Failed {
        /// Error and its place, as a clause.
        what: String,
        /// Remedy, as an imperative clause; empty where there is none.
        hint: String,
    },
}

impl Error {
    /// A failure without advice.
    pub fn new(what: impl fmt::Display) -> Error {
        Error::Failed { what: what.to_string(), hint: String::new() }
    }

    /// A failure of something about `path`.
    pub fn at(path: &Path, what: impl fmt::Display) -> Error {
        Error::new(format!("{}: {what}", path.display()))
    }

    /// Adds advice to the error.
    pub fn hint(mut self, advice: impl Into<String>) -> Error {
        if let Error::Failed { hint, .. } = &mut self {
            *hint = advice.into();
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Stopped => write!(f, "stopped"),
            Error::Failed { what, hint } if hint.is_empty() => write!(f, "{what}"),
            Error::Failed { what, hint } => write!(f, "{what}; {hint}"),
        }
    }
}

impl std::error::Error for Error {}
