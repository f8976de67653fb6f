//! Files that follow from others and are rewritten: a reader always finds a whole file.

use super::Error;
use super::stale::hidden_name;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes a file under another name, then gives it its own.
///
/// # Errors
/// It cannot be written; or the error of `write`.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), Error>,
) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hidden = path.with_file_name(hidden_name(&name));
    // The rename is one step, so a reader finds the old file or the whole new one.
    let written = File::create(&hidden).map_err(|e| unwritten(path, e)).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush().and_then(|()| fs::rename(&hidden, path)).map_err(|e| unwritten(path, e))
    });
    if written.is_err() {
        // Removes an unfinished file; most often there is none, and no caller to report to.
        let _ = fs::remove_file(&hidden);
    }
    written
}

/// That a file cannot be written.
pub fn unwritten(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::new(path, format!("cannot be written: {why}"))
        .hint("make room, or have the directory writable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_stays_until_the_new_one_is_whole() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("table.csv");
        let write = |text: &str, then: Result<(), Error>| {
            replace(&path, |out| {
                out.write_all(text.as_bytes()).map_err(|e| unwritten(&path, e))?;
                then
            })
        };
        write("one", Ok(())).expect("a file");
        let failed = write("half of tw", Err(Error::new(&path, "records are damaged")));
        assert_eq!(failed, Err(Error::new(&path, "records are damaged")));
        assert_eq!(fs::read_to_string(&path).expect("a file"), "one");
        write("three", Ok(())).expect("a file");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "three");
        let names = fs::read_dir(directory.path()).expect("a directory").count();
        assert_eq!(names, 1, "something is left over");
        let nowhere = directory.path().join("none/table.csv");
        let error = replace(&nowhere, |_| Ok(())).expect_err("no directory").to_string();
        assert!(error.contains("none/table.csv: cannot be written: No such file"), "{error}");
    }
}
