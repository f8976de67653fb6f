//! The contract between engines and everything that looks at a run.
//!
//! [`schema`] declares every column once; [`table`] (Parquet) and [`csv`] follow from it.

pub mod checksum;
pub mod columns;
pub mod csv;
mod error;
pub mod folders;
pub mod packets;
pub mod recording;
pub mod replace;
pub mod rfc3339;
pub mod schema;
pub mod stage_info;
pub mod stale;
pub mod stream;
pub mod table;

pub use error::Error;
