//! Reasons why a measurement does not begin or does not end well.

use std::fmt;

/// A failure: what failed, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The request cannot be met: an unknown host, an option that an end does not take.
    Request(String),
    /// This machine, the path or the peer fails.
    Environment(String),
}

impl Wrong {
    /// The environment failed while doing `what`.
    pub(crate) fn during(what: impl fmt::Display, why: impl fmt::Display) -> Wrong {
        Wrong::Environment(format!("{what}: {why}"))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Request(text) | Wrong::Environment(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Wrong {}
