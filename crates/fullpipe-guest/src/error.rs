//! What went wrong, and at what.

use std::fmt;

/// An error of the guest: what it was doing, and why that failed.
#[derive(Debug, PartialEq)]
pub struct Error {
    what: String,
    why: String,
}

/// A result of the guest.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// `what` was being done and failed because of `why`.
    pub fn new(what: impl fmt::Display, why: impl fmt::Display) -> Error {
        Error { what: what.to_string(), why: why.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

/// Says what was being done when something else failed.
pub trait Context<T> {
    /// `what` is asked for only on failure.
    fn at<D: fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn at<D: fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|why| Error::new(what(), why))
    }
}
