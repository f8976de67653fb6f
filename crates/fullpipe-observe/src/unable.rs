//! Reasons for which a kernel shows nothing.

use std::fmt;
use std::io;

/// A failure: the attempt, and the reason with what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unable(String);

impl Unable {
    /// The attempt failed for this reason.
    pub fn new(attempt: impl fmt::Display, why: impl fmt::Display) -> Unable {
        Unable(format!("{attempt}: {why}"))
    }

    /// Makes the failure of an attempt from an error.
    pub fn to<E: fmt::Display>(attempt: &'static str) -> impl Fn(E) -> Unable {
        move |why| Unable::new(attempt, why)
    }

    /// The kernel cannot show sockets at all.
    pub fn without_diag(error: &io::Error) -> Unable {
        Unable::new(
            "this kernel does not show its sockets (sock_diag)",
            format!(
                "{error}; it needs CONFIG_INET_DIAG and CONFIG_INET_TCP_DIAG \
                 (as modules: `modprobe tcp_diag`)"
            ),
        )
    }
}

impl fmt::Display for Unable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unable {}
