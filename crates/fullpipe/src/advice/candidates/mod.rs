//! Changes that may help a case: visible faults undone, buffers by arithmetic, and a pace just below the path.
//!
//! [`cure`] is all of them at once, where the method begins. [`remedies`] are those for the first limit of a run.

mod buffers;
mod datagrams;
mod faults;
mod hosts;
mod pace;
mod remedies;

pub use buffers::{for_equal_flows, least, most, scaled};
pub use remedies::{Offers, remedies};

use super::Case;
use super::change::Change;

/// The whole arithmetic cure, in the order in which changes act: what undoes a fault comes before what sets a value.
pub fn cure(case: &Case) -> Vec<Change> {
    // What datagrams lack shows a run, not arithmetic.
    if case.datagrams.is_some() {
        return Vec::new();
    }
    let parts = [faults::changes(case), buffers::changes(case), pace::changes(case)];
    parts.into_iter().flatten().collect()
}

/// Lists of changes that shorten the queue of a full path, each to be tried alone.
pub fn shorter(case: &Case) -> Vec<Vec<Change>> {
    vec![pace::changes(case), buffers::caps(case), remedies::short_queue(case)]
}
