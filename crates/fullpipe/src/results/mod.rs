//! Files that a run leaves on disk: its directory, who made it where, its intervals, and the page that describes them.

pub mod formats;
pub mod intervals;
pub mod json;
pub mod provenance;
pub mod rundir;
