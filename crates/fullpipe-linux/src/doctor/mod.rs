//! Needs of runs on a real kernel, checked on this machine; each check tries the thing itself. A new check is a
//! function and one line in [`checks`].

mod boot;
mod build;
mod memory;
mod ptrace;
mod tmpfs;

use crate::kernel::Cache;
use serde::Serialize;

/// Version of the document.
pub const FORMAT: u32 = 1;

/// Result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Name of the check.
    pub name: &'static str,
    /// Whether it is as it must be.
    pub ok: bool,
    /// Finding, as text.
    pub found: String,
    /// Reason for the check.
    pub why: &'static str,
    /// Remedy; empty where none is needed.
    pub remedy: String,
}

/// All that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Version of this document.
    pub format: u32,
    /// Whether everything is as it must be.
    pub ok: bool,
    /// Each thing.
    pub checks: Vec<Check>,
}

impl Check {
    /// A check with its finding; a problem has its remedy.
    fn new(name: &'static str, why: &'static str, found: Result<String, Problem>) -> Check {
        match found {
            Ok(found) => Check { name, ok: true, found, why, remedy: String::new() },
            Err(Problem { found, remedy }) => Check { name, ok: false, found, why, remedy },
        }
    }
}

/// A finding that differs from the required one.
struct Problem {
    found: String,
    remedy: String,
}

impl Problem {
    fn new(found: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem { found: found.into(), remedy: remedy.into() }
    }
}

/// Looks at everything.
pub fn diagnose() -> Diagnosis {
    let checks = checks();
    Diagnosis { format: FORMAT, ok: checks.iter().all(|check| check.ok), checks }
}

fn checks() -> Vec<Check> {
    let cache = Cache::of_user();
    vec![
        build::tools(),
        build::source(),
        build::space(&cache),
        build::kernel(&cache),
        ptrace::check(),
        tmpfs::check(),
        memory::check(),
        boot::check(&cache),
    ]
}
