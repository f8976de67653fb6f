//! The cells of a sweep as text for a terminal.

pub(in crate::sweep) mod cells;
pub(in crate::sweep) mod company;
mod swept;
pub(in crate::sweep) mod versus;

pub use cells::{MOST_LINES, cells, lines_of};
pub use company::company;
pub use swept::swept;
pub use versus::versus;
