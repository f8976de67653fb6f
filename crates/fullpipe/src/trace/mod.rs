//! The contract between engines and everything that looks at a run.

pub mod recording;
