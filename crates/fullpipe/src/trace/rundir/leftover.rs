//! Hidden directories of programs that were killed.
//!
//! A writer holds a lock on its directory, which ends with the program however that ends. So a
//! directory of our naming is a leftover if its process is gone and its lock is free. Where the file
//! system knows no such locks nothing is removed.

use super::SUMMARY;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Name of the hidden directory of a result.
pub fn hidden_name(name: &str) -> String {
    format!(".{name}.{}.tmp", std::process::id())
}

/// Removes what killed programs left in `parent`: of results of this name, or of any.
pub fn sweep(parent: &Path, name: Option<&str>) {
    for directory in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = directory.path();
        let file = directory.file_name().to_string_lossy().into_owned();
        let Some((named, process)) = parts(&file) else { continue };
        let meant = name.is_none_or(|name| name == named);
        if meant && is_directory(&path) && is_gone(process) && is_left(&path) {
            // There is nobody to tell.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Name and process of a hidden directory: `.NAME.PID.tmp`, or with `-2` and so on behind it.
fn parts(file: &str) -> Option<(&str, u32)> {
    let (before, behind) = file.strip_prefix('.')?.rsplit_once(".tmp")?;
    let number = behind.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    let (name, process) = before.rsplit_once('.')?;
    let process = process.parse().ok()?;
    ((behind.is_empty() || number) && !name.is_empty()).then_some((name, process))
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_dir())
}

/// Whether there is no such process; where /proc does not tell, the lock alone decides.
fn is_gone(process: u32) -> bool {
    !PathBuf::from(format!("/proc/{process}")).exists()
}

/// Whether nobody works on it, and it is not a result that only lacks its name.
fn is_left(directory: &Path) -> bool {
    !directory.join(SUMMARY).exists() && lock(directory).is_some()
}

/// Takes the lock of a directory; none if another has it, or there are no locks here.
pub fn lock(directory: &Path) -> Option<File> {
    let file = File::open(directory).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ours_are_taken_apart() {
        assert_eq!(parts(".a.b.17.tmp"), Some(("a.b", 17)));
        assert_eq!(parts(&hidden_name("x")), Some(("x", std::process::id())));
        assert_eq!(parts(".x.17.tmp-2"), Some(("x", 17)));
        for other in ["x.17.tmp", ".x.tmp", ".x.y.tmp", ".17.tmp", ".x.17.tmp-", ".x.17.tmpx", "."]
        {
            assert_eq!(parts(other), None, "{other}");
        }
    }
}
