//! A file that has its name only when it is whole.

use crate::trace::{Error, stale};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// File with a hidden name until it is whole. It vanishes when dropped before [`Hidden::finish`].
#[derive(Debug)]
pub struct Hidden {
    target: PathBuf,
    path: PathBuf,
    file: File,
    finished: bool,
}

impl Hidden {
    /// Begins `.NAME.PID.tmp` in the folder of `target`, and removes files of this name that killed programs have left
    /// there.
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
        let path = target.with_file_name(stale::hidden_name(&name));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        stale::sweep(parent.unwrap_or(Path::new(".")), Some(&name), stale::is_file);
        let file = File::create_new(&path).map_err(|e| {
            Error::new(target, format!("cannot be written: {e}"))
                .hint("name another file with --pcap")
        })?;
        // The lock shows others that this is no leftover. Without locks no file counts as one.
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

    /// Gives the file its name.
    ///
    /// # Errors
    /// The name was taken meanwhile: then the file has the next free one, which the error names. Or the file system
    /// refuses: then the error names the temporary file, which stays.
    pub fn finish(mut self) -> Result<(), Error> {
        let target = self.target.clone();
        match self.name(&target) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Ok(()) => return Ok(()),
            Err(e) => return Err(self.nameless(&e)),
        }

        for number in 2_u32.. {
            let next = variant_path(&target, &number.to_string());
            match self.name(&next) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Ok(()) => {
                    let hint = format!("this capture is {}", next.display());
                    return Err(
                        Error::new(&target, "was taken by another program meanwhile").hint(hint)
                    );
                }
                Err(e) => return Err(self.nameless(&e)),
            }
        }
        Err(taken(&target))
    }

    /// Keeps the temporary file of a whole capture when the file system refuses its name.
    fn nameless(&mut self, why: &io::Error) -> Error {
        self.finished = true;
        let hint = format!("the capture is {}: move it", self.path.display());
        Error::new(&self.target, format!("cannot be given its name: {why}")).hint(hint)
    }

    /// Gives the file a name that nothing has.
    fn name(&mut self, target: &Path) -> io::Result<()> {
        // A second name, unlike a renaming, never replaces a file.
        match fs::hard_link(&self.path, target) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => {}
            linked => return linked,
        }

        // This file system knows one name per file only.
        if target.symlink_metadata().is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        fs::rename(&self.path, target)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if !self.finished {
            // There is no caller to report to.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn taken(target: &Path) -> Error {
    Error::taken(target, "is there already").hint("captures are never overwritten: name a new file")
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
        assert!(stale::lock(hidden.path()).is_none());
    }

    #[test]
    fn a_name_that_was_taken_meanwhile_costs_no_capture() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = |name: &str| folder.path().join(name);
        let mut hidden = Hidden::create(&path("a.pcap")).expect("a file");
        hidden.write(b"mine").expect("room");
        for taken in ["a.pcap", "a-2.pcap"] {
            fs::write(path(taken), "theirs").expect("a file");
        }

        let error = hidden.finish().expect_err("it is taken").to_string();
        assert!(error.ends_with("a-3.pcap"), "{error}");
        assert_eq!(fs::read(path("a-3.pcap")).expect("the capture"), b"mine");
        assert_eq!(fs::read(path("a.pcap")).expect("the other one"), b"theirs");
        assert_eq!(fs::read_dir(folder.path()).expect("a directory").count(), 3);
    }

    #[test]
    fn a_runs_name_stands_before_the_extension() {
        let named = |path: &str| variant_path(Path::new(path), "reno");
        assert_eq!(named("out/a.pcapng"), Path::new("out/a-reno.pcapng"));
        assert_eq!(named("a"), Path::new("a-reno"));
        assert_eq!(named("a.b.pcap"), Path::new("a.b-reno.pcap"));
    }
}
