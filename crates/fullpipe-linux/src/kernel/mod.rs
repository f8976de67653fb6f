//! The kernel that engine `linux` runs: found in the cache, or built from the distribution's source package.
//!
//! [`build::build`] reads as the way from a package to a cached kernel. Nothing of the kernel is part
//! of fullpipe: [`source`] fetches it by name, [`change`] edits the user's copy. Without x86-64
//! there is no such kernel.

pub mod build;
pub mod cache;
pub mod change;
pub mod config;
mod error;
mod make;
pub mod needs;
mod process;
pub mod record;
pub mod source;
pub mod wanted;
pub mod watch;

pub use cache::{Cache, Entry};
pub use error::Error;
pub use record::Record;
pub use wanted::{Contents, Family, Hz, Wanted};
