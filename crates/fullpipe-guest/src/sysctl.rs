//! Settings below /proc/sys.

use std::path::Path;

use crate::error::{Context, Error, Result};

/// Sets one, in the caller's network namespace if it has them for each.
pub fn set(name: &str, value: &str) -> Result<()> {
    let what = || format!("sysctl {name} = {value}");
    let inside = name.split('/').all(|part| !part.is_empty() && part != "..");
    if !inside {
        return Err(Error::new(what(), "not a path below /proc/sys"));
    }
    std::fs::write(Path::new("/proc/sys").join(name), value).at(what)
}

/// Sets all.
pub fn set_all(settings: &[(String, String)]) -> Result<()> {
    settings.iter().try_for_each(|(name, value)| set(name, value))
}
