//! The contract between engines and everything that looks at a run.
//!
//! [`schema`] declares every column once; [`table`] (Parquet), [`csv`] and [`formats`] (the
//! reference page) follow from it. [`rundir`] is what a run leaves on disk.

pub(crate) mod checksum;
pub mod columns;
pub mod csv;
mod error;
pub mod formats;
pub mod json;
pub(crate) mod leftover;
pub mod limits;
pub mod packets;
pub mod provenance;
pub mod recording;
pub mod replace;
pub mod rundir;
pub mod schema;
pub(crate) mod stage_info;
pub mod stream;
pub mod table;

pub use error::Error;
