//! Verdicts from the sockets and counters of one host.
//!
//! A [sight](crate::view) of the host becomes [facts](facts::Facts), and the first rule that fires makes the verdict. Nothing here
//! sees the recording, so a verdict rests on what `ss`, `nstat`, `tc` and `ethtool` of that host show.

mod answer;
mod cuts;
pub mod facts;
mod measure;
mod receiver;
pub mod rules;
mod verdict;

pub(crate) use answer::{of_receiver, of_sender};
pub use measure::facts;
pub use verdict::Verdict;

/// Code of a transfer that is over before anything limits it.
const TOO_SHORT: &str = "too_short";
