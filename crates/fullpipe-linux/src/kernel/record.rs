//! `kernel.json`: description of a cached kernel and of its build.

use super::Error;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// Name of the file.
pub const FILE: &str = "kernel.json";
/// Version of the document.
pub const FORMAT: u32 = 1;

/// Contents of `kernel.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this document.
    pub format: u32,
    /// Full version of the source, for instance "6.12.117".
    pub source_version: String,
    /// Version of the source package; absent where the source has none.
    pub package_version: Option<String>,
    /// Timer interrupts per second.
    pub hz: u32,
    /// Hash of the configuration and changes.
    pub configuration: String,
    /// When it was finished, UTC, RFC 3339.
    pub built: String,
    /// First line of `gcc --version`.
    pub compiler: String,
    /// Size of the kernel.
    pub bytes: u64,
    /// CPU seconds from unpacking to the end.
    pub cpu_s: f64,
    /// Seconds from unpacking to the end.
    pub wall_s: f64,
    /// Lines that `make` printed while it compiled.
    pub lines: u64,
    /// Version of the program that built it.
    pub fullpipe: String,
}

impl Record {
    /// Writes `kernel.json` into a directory.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), Error> {
        let path = directory.join(FILE);
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::at(&path, e))?;
        fs::write(&path, text + "\n")
            .map_err(|e| Error::at(&path, format!("cannot be written: {e}")))
    }

    /// Reads `kernel.json` of a directory.
    ///
    /// # Errors
    /// There is none, or it is not one.
    pub fn read(directory: &Path) -> Result<Record, Error> {
        let path = directory.join(FILE);
        let text = fs::read_to_string(&path)
            .map_err(|e| Error::at(&path, format!("cannot be read: {e}")))?;
        let record: Record = serde_json::from_str(&text)
            .map_err(|e| Error::at(&path, format!("is no description of a kernel: {e}")))?;
        match record.format {
            FORMAT => Ok(record),
            other => Err(Error::at(&path, format!("has format {other} instead of {FORMAT}"))),
        }
    }
}
