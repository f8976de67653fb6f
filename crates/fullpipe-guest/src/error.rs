//! Errors of the guest, with what they happened to.

use std::{fmt, io};

use fullpipe_guest::record::{FAILED, REFUSED};
use fullpipe_guest::refusal::{Asked, Refusal};

/// An error of the guest: the failed action, and the reason.
#[derive(Debug, PartialEq)]
pub struct Error {
    what: String,
    why: String,
    /// The refused value of the plan, where the kernel refuses one.
    refusal: Option<Box<Refusal>>,
}

/// A result of the guest.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error: the action `what` failed because of `why`.
    pub fn new(what: impl fmt::Display, why: impl fmt::Display) -> Error {
        Error { what: what.to_string(), why: why.to_string(), refusal: None }
    }

    /// Adds the name of the host or flow that failed.
    pub fn of(self, whom: &str) -> Error {
        Error { what: format!("{whom}: {}", self.what), ..self }
    }

    /// The error as a record: its kind and its text.
    pub fn record(&self) -> (u16, String) {
        let refusal = self.refusal.as_ref().and_then(|r| serde_json::to_string(r).ok());
        refusal.map_or_else(|| (FAILED, self.to_string()), |text| (REFUSED, text))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

/// Adds the failed action to another error.
pub trait Context<T> {
    /// `what` is called only on failure.
    fn at<D: fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn at<D: fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|why| Error::new(what(), why))
    }
}

/// Says that the kernel refuses `asked` if `done` is an error.
pub fn granted(done: io::Result<()>, asked: impl FnOnce() -> Asked) -> Result<()> {
    done.map_err(|why| {
        let refusal = Refusal { asked: asked(), said: why.to_string() };
        let (what, why) = (refusal.asked.to_string(), refusal.said.clone());
        Error { what, why, refusal: Some(Box::new(refusal)) }
    })
}
