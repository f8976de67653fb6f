//! Names for results that are there: the one that was asked for, and others where it cannot be given.

use super::place::{Place, free};
use crate::trace::Error;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// End of the name of a directory without its document, which could not be written.
const INCOMPLETE: &str = ".incomplete";
/// Separates the number from the plain name of a directory, where that name is taken.
const NEXT: &str = "-run-";

/// Gives whole results the name `target`, or the next free name if another run has taken `target`. Returns the name.
///
/// # Errors
/// `place` asks for exactly `target`, which was taken meanwhile, or no name can be given. The error says where the
/// results are.
pub fn give_name(directory: &Path, place: &Place, target: &Path) -> Result<PathBuf, Error> {
    let unnamed = |e: &io::Error| {
        Error::new(directory, format!("cannot be given its final name: {e}"))
            .hint("the results are in it: move it yourself")
    };

    // A named place may be an empty directory, which renaming replaces.
    if let Place::Exactly(_) = place {
        match fs::rename(directory, target) {
            Ok(()) => return Ok(target.to_path_buf()),
            // A taken name has another way out below; other errors do not.
            Err(e) if !is_taken(&e) && e.kind() != ErrorKind::NotADirectory => {
                return Err(unnamed(&e));
            }
            Err(_) => {}
        }
    }

    // The next free name keeps the results in any case.
    let moved =
        free(target, NEXT, |path| rename_to_free(directory, path)).map_err(|e| unnamed(&e))?;
    match place {
        Place::Under { .. } => Ok(moved),
        Place::Exactly(path) => {
            let hint = format!("these results are in {}", moved.display());
            Err(Error::new(path, "was taken by another program meanwhile").hint(hint))
        }
    }
}

/// Gives a directory without a document a name that the next run does not clean away. The name that it has then.
pub fn incomplete(directory: &Path, target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_os_string();
    name.push(INCOMPLETE);
    let moved = free(Path::new(&name), "-", |path| rename_to_free(directory, path));
    moved.unwrap_or_else(|_| directory.to_path_buf())
}

/// Renames to a path that does not exist.
fn rename_to_free(directory: &Path, path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(directory, path).map_err(|e| match is_taken(&e) {
            true => ErrorKind::AlreadyExists.into(),
            false => e,
        }),
    }
}

/// Whether a name could not be given because a non-empty directory has it.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty)
}
