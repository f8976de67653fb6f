//! Files that a user names, which must not exist before.

use crate::failure::Failure;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes `text` to a new file. A file that could not be written whole is removed.
///
/// # Errors
/// The file exists, or it cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    if file.as_ref().is_err_and(|why| why.kind() == ErrorKind::AlreadyExists) {
        return Err(taken(path));
    }

    let failed = |why| Failure::environment(format!("cannot write {}", path.display()), why);
    let mut file = file.map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(|why| {
        let _ = fs::remove_file(path);
        failed(why)
    })
}

/// The refusal to overwrite a file.
pub fn taken(path: &Path) -> Failure {
    let why = format!("{} is there already, and nothing is overwritten", path.display());
    Failure::Input(format!("{why}; name a new file"))
}
