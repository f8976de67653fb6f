//! Settings below /proc/sys.

use std::path::Path;

use fullpipe_guest::refusal::{Asked, Whose};

use crate::error::{Error, Result, granted};

/// Sets one, in the caller's network namespace if it has them for each.
pub fn set(of: Whose, name: &str, value: &str) -> Result<()> {
    let asked = || Asked::Sysctl { of, name: name.into(), value: value.into() };
    let inside = name.split('/').all(|part| !part.is_empty() && part != "..");
    if !inside {
        return Err(Error::new(asked(), "not a path below /proc/sys"));
    }
    granted(std::fs::write(Path::new("/proc/sys").join(name), value), asked)
}

/// Sets all of these sysctls.
pub fn set_all(of: Whose, settings: &[(String, String)]) -> Result<()> {
    settings.iter().try_for_each(|(name, value)| set(of, name, value))
}
