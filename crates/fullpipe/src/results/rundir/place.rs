//! Where results go, and whether they can.

use super::writer::Writer;
use super::{LATEST, SUMMARY};
use crate::trace::Error;
use crate::trace::folders::folder;
use crate::trace::stale::{self, is_directory};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `root/name`, or where that exists the next of `root/name-run-2`, `root/name-run-3` ... (`root/name-2` would look like
    /// another experiment);
    /// `root/latest` points to the newest.
    Under {
        /// The results' common directory; it is made where it does not exist.
        root: PathBuf,
        /// Name of the experiment; characters that do not suit a file name become "-".
        name: String,
    },
    /// Exactly this directory; it must not exist yet, or be empty.
    Exactly(PathBuf),
}

impl Place {
    /// Checks that results can be written here: makes a hidden directory and removes it again.
    ///
    /// # Errors
    /// Results cannot be written: no permission, no such file system, a file in the way, results in the way.
    pub fn check(&self) -> Result<(), Error> {
        self.create().map(drop)
    }

    /// Makes the hidden directory in which results are collected, and removes leftovers of killed programs: all below a
    /// `root`, else those of this name.
    ///
    /// # Errors
    /// As [`Place::check`].
    pub fn create(&self) -> Result<Writer, Error> {
        // Results are never overwritten: that is checked before anything is made.
        match self {
            Place::Exactly(path) => refuse_results(path)?,
            Place::Under { root, .. } => refuse_latest(root)?,
        }
        let (parent, name) = self.parts()?;
        let made = Made::parents(&parent)?;
        let named = matches!(self, Place::Exactly(_)).then_some(name.as_str());
        // One with a summary is a result that only lacks its name.
        stale::sweep(&parent, named, |path| is_directory(path) && !path.join(SUMMARY).exists());

        // The name is hidden until all is written.
        let hidden = parent.join(stale::hidden_name(&name));
        let directory = free(&hidden, "-", |path| fs::create_dir(path)).map_err(|e| {
            Error::new(&parent, format!("cannot make a directory in it: {e}"))
                .hint("choose another directory with --out, or change its permissions")
        })?;
        let target = match self {
            // Without "./" before it and "/" behind it.
            Place::Exactly(path) => path.components().collect(),
            Place::Under { .. } => parent.join(name),
        };
        Ok(Writer::new(self.clone(), target, directory, made))
    }

    fn parts(&self) -> Result<(PathBuf, String), Error> {
        match self {
            Place::Under { root, name } => Ok((root.clone(), folder(name))),
            Place::Exactly(path) => {
                let name = path.file_name().ok_or_else(|| {
                    Error::new(path, "has no name of its own").hint("name a new directory")
                })?;
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let parent = parent.unwrap_or(Path::new(".")).to_path_buf();
                Ok((parent, name.to_string_lossy().into_owned()))
            }
        }
    }
}

/// An existing path may only be an empty directory that can be replaced.
fn refuse_results(path: &Path) -> Result<(), Error> {
    let busy = |what: &str| {
        Err(Error::taken(path, what).hint("results are never overwritten: name a new directory"))
    };
    let about = match path.symlink_metadata() {
        Ok(about) => about,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => {
            return Err(Error::new(path, format!("cannot be looked at: {e}"))
                .hint("choose another directory with --out"));
        }
    };
    if !about.is_dir() {
        return busy("is there already and not a directory");
    }

    // A mount point cannot be replaced by renaming.
    if path.join("..").metadata().is_ok_and(|parent| parent.dev() != about.dev()) {
        return busy("is where a file system is mounted");
    }

    // An empty directory is as good as none.
    match fs::read_dir(path).map(|mut entries| entries.next()) {
        Ok(None) => Ok(()),
        Ok(_) => busy("is there already and not empty"),
        Err(e) => Err(Error::new(path, format!("cannot be looked into: {e}"))),
    }
}

/// `root/latest` may only be a link.
fn refuse_latest(root: &Path) -> Result<(), Error> {
    let link = root.join(LATEST);
    match link.symlink_metadata() {
        Ok(about) if !about.is_symlink() => {
            Err(Error::new(&link, "is in the way of the link to the newest results")
                .hint("rename it, or name a directory with --out"))
        }
        _ => Ok(()),
    }
}

/// Parent directories that were made for a directory, outermost first.
#[derive(Debug, Default)]
pub struct Made(Vec<PathBuf>);

impl Made {
    /// Makes `path` and its missing parents.
    fn parents(path: &Path) -> Result<Made, Error> {
        // The outermost missing directory is made first.
        let missing = path.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists());
        let mut made = Made::default();
        for directory in missing.collect::<Vec<_>>().into_iter().rev() {
            match fs::create_dir(directory) {
                Ok(()) => made.0.push(directory.to_path_buf()),
                // Another program made it meanwhile.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => {
                    made.remove();
                    return Err(Error::new(directory, format!("cannot be made: {e}"))
                        .hint("choose another directory with --out"));
                }
            }
        }
        Ok(made)
    }

    /// Removes those of the made directories that are empty.
    pub fn remove(&self) {
        for directory in self.0.iter().rev() {
            // Another program may have put something there meanwhile: then it stays.
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Does `make` with `path` or, where that exists, with the next free of `path`, `between` and 2, 3 ...
pub fn free(
    path: &Path,
    between: &str,
    mut make: impl FnMut(&Path) -> std::io::Result<()>,
) -> std::io::Result<PathBuf> {
    for number in 1_u32.. {
        let mut candidate = path.as_os_str().to_os_string();
        if number > 1 {
            candidate.push(format!("{between}{number}"));
        }
        let candidate = PathBuf::from(candidate);
        match make(&candidate) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            result => return result.map(|()| candidate),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}
