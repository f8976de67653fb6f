//! The scenarios of the suite, and where their tables are.

use fullpipe::parity::case::{self, Case};
use std::path::{Path, PathBuf};

/// The folder of the suite, seen from the repository's root.
pub const SHOWN: &str = "scenarios/parity";

/// The folder of the suite.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(SHOWN)
}

/// All runs, by file and variant.
pub fn all() -> Vec<Case> {
    case::suite(&folder(), SHOWN).unwrap_or_else(|why| panic!("{why}"))
}

/// Where a case's table is.
pub fn table(case: &Case) -> PathBuf {
    case::kept(&folder(), case)
}

/// Command that runs a case on real Linux.
pub fn command(case: &Case) -> String {
    format!("{} --engine linux", case.command)
}
