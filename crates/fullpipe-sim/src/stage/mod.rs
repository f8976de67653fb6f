//! Counters of stages: the ground floor of queues, links and hosts.
//!
//! A stage works on whole trains, whose packets may lie beyond the next sample. Each counter here takes such a
//! future in and shows a sample exactly the part that is past.

mod counters;
mod drops;
mod due_counter;
mod occupancy;
mod peaks;
mod samples;

pub use counters::Counters;
pub use drops::Drops;
pub use due_counter::DueCounter;
pub use occupancy::{Occupancy, Spans, waited, waited_bytes};
pub use peaks::{Leaving, Line, Peaks};
pub use samples::Samples;
