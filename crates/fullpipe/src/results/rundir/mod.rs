//! Run directories: one per experiment, written whole or not at all, never overwritten.
//!
//! ```text
//! fullpipe-results/
//!   latest -> fink-2007-run-2       newest, by a link
//!   fink-2007/  fink-2007-run-2/    one per experiment
//!     summary.json                  the document of all runs
//!     run.json                      when, where and with what it was made
//!     report.html                   the report
//!     cubic-initial_ssthresh-100/   one per run, named after its variant
//!       scenario.resolved.toml  flows.parquet  stages.parquet  events.parquet  intervals.csv
//!       counters.parquet            counters of the hosts
//!       packets.parquet  time-sequence.html    where packets were to be kept
//! ```
//! The order of calls is [`Place::check`] before the first run, [`Place::create`] when results begin to exist,
//! [`Writer::run`] once per finished run in any order, [`Writer::finish`] at the end. Until then everything lies in a
//! hidden directory next to the final one. A dropped writer removes it, and the next program removes what a killed one
//! has left. A finished result is never removed. Where its name was taken meanwhile it gets the next free one. Where
//! its document could not be written its name ends in `.incomplete`.

mod place;
mod read;
mod rescue;
mod writer;

pub use place::Place;
pub use read::{RunDir, open};
pub use writer::Writer;

const SUMMARY: &str = "summary.json";
const PROVENANCE: &str = "run.json";
/// Name of the report in a run directory.
pub const REPORT: &str = "report.html";
const RESOLVED: &str = "scenario.resolved.toml";
const INTERVALS: &str = "intervals.csv";
use crate::trace::folders::LATEST;
