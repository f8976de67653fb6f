//! Counters of stages: the ground floor of queues, links and hosts.
//!
//! A stage works on whole trains, so packets of a train may lie beyond the next sample. Each counter here accepts
//! future events and shows a sample only the past ones.

mod counters;
mod drops;
mod due_counter;
mod occupancy;
mod peaks;
mod samples;

pub use counters::Counters;
pub use drops::Drops;
pub use due_counter::DueCounter;
pub use occupancy::{Occupancy, Span, Spans, waited, waited_bytes};
pub use peaks::{Leaving, Line, Peaks};
pub use samples::Samples;
