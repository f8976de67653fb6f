//! The format: what keys exist and what was written in them, with places.
//!
//! [`written`] lists the keys. A scenario becomes a tree of [`node`]s, variants and options change
//! it by [`dotted`] keys, and the tables of `written` read it. Everything wrong goes to the
//! [`context`].

pub mod axes;
pub mod choices;
pub mod context;
pub mod dotted;
pub mod genuine_sysctl;
pub mod keys;
pub mod near;
pub mod node;
pub mod quantity;
mod renamed;
pub mod set;
pub mod sockopt;
pub mod special;
pub mod sysctl;
pub mod values;
pub mod written;
