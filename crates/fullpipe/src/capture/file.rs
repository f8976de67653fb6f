//! A file that has its name only when it is whole.

use crate::trace::{Error, leftover};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// See the module's description. It vanishes when dropped before [`Hidden::finish`].
#[derive(Debug)]
pub struct Hidden {
    target: PathBuf,
    path: PathBuf,
    file: File,
    finished: bool,
}

impl Hidden {
    /// Begins `.NAME.PID.tmp` beside `target`, and removes those of this name that killed programs
    /// have left there.
    ///
    /// # Errors
    /// `target` exists, or the file cannot be made.
    pub fn create(target: &Path) -> Result<Hidden, Error> {
        let name =
            target.file_name().ok_or_else(|| Error::new(target, "is not the name of a file"))?;
        if target.symlink_metadata().is_ok() {
            return Err(taken(target));
        }
        let name = name.to_string_lossy();
        let path = target.with_file_name(leftover::hidden_name(&name));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        leftover::sweep(parent.unwrap_or(Path::new(".")), Some(&name), leftover::is_file);
        let file = File::create_new(&path).map_err(|e| {
            Error::new(target, format!("cannot be written: {e}"))
                .hint("name another file with --pcap")
        })?;
        // It tells others that this is no leftover. Without locks none is taken for one.
        let _ = file.try_lock();
        Ok(Hidden { target: target.to_path_buf(), path, file, finished: false })
    }

    /// Where it is now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `bytes` at its end.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(bytes);
        written.map_err(|e| Error::new(&self.target, format!("cannot be written: {e}")))
    }

    /// Gives the file its name, which must still be free.
    ///
    /// # Errors
    /// It was taken meanwhile, or the file system refuses.
    pub fn finish(mut self) -> Result<(), Error> {
        // A second name, unlike a renaming, never replaces a file.
        match fs::hard_link(&self.path, &self.target) {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => return Err(taken(&self.target)),
            Err(_) => {}
        }
        // This file system knows one name per file only.
        if self.target.symlink_metadata().is_ok() {
            return Err(taken(&self.target));
        }
        let renamed = fs::rename(&self.path, &self.target);
        self.finished = renamed.is_ok();
        renamed.map_err(|e| Error::new(&self.target, format!("cannot be given its name: {e}")))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if !self.finished {
            // There is nobody to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn taken(target: &Path) -> Error {
    Error::new(target, "is there already").hint("captures are never overwritten: name a new file")
}

/// `path` with a run's name before its extension: `a.pcapng` becomes `a-reno.pcapng`.
pub fn variant_path(path: &Path, name: &str) -> PathBuf {
    let mut file = path.file_stem().unwrap_or_default().to_os_string();
    file.push("-");
    file.push(name);
    if let Some(extension) = path.extension() {
        file.push(".");
        file.push(extension);
    }
    path.with_file_name(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_it_for_a_leftover_while_it_grows() {
        let folder = tempfile::tempdir().expect("a directory");
        let hidden = Hidden::create(&folder.path().join("a.pcap")).expect("a file");
        assert!(leftover::lock(hidden.path()).is_none());
    }

    #[test]
    fn a_runs_name_stands_before_the_extension() {
        let named = |path: &str| variant_path(Path::new(path), "reno");
        assert_eq!(named("out/a.pcapng"), Path::new("out/a-reno.pcapng"));
        assert_eq!(named("a"), Path::new("a-reno"));
        assert_eq!(named("a.b.pcap"), Path::new("a.b-reno.pcap"));
    }
}
