//! The format below the keys: TOML with places, kinds of values, and their problems.
//!
//! A scenario becomes a tree of [`node`]s. Variants and options change it by [`dotted`] keys. [`keys`] declares
//! tables, which read the tree. Everything wrong goes to the [`context`].

pub mod axes;
pub mod context;
pub mod diagnostic;
pub mod dotted;
pub mod keys;
pub mod near;
pub mod node;
pub mod quantity;
pub mod real_sysctl;
mod renamed;
pub mod set;
pub mod sockopt;
pub mod special;
pub mod sysctl;
pub mod values;
