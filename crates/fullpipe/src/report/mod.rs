//! Shows a [`Document`](crate::analysis::document::Document), and nothing but what stands in it.
//!

pub mod limits;
pub mod numbers;
pub mod terminal;
