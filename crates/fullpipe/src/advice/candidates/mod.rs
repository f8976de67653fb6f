//! Changes that may help a case: visible faults undone, buffers by arithmetic, and a pace just below the path.
//!
//! [`cure`] is all of them at once, where the method begins. [`remedies`] are those for the first limit of a run.

mod buffers;
mod faults;
mod hosts;
mod pace;
mod remedies;

pub use buffers::{least, most, scaled};
pub use remedies::{Offers, remedies};

use super::Case;
use super::change::Change;

/// The whole arithmetic cure, in the order in which changes act: what undoes a fault comes before what sets a value.
pub fn cure(case: &Case) -> Vec<Change> {
    let parts = [faults::changes(case), buffers::changes(case), pace::changes(case)];
    parts.into_iter().flatten().collect()
}
