//! Hidden directories and files of programs that were killed.
//!
//! The writer of a hidden file holds a lock on it, which ends with the program however that ends. So a file with a name
//! of ours is a leftover if its process is gone and its lock is free. On file systems without such locks nothing is
//! removed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Hidden name of a file that will be called `name`.
pub fn hidden_name(name: &str) -> String {
    format!(".{name}.{}.tmp", std::process::id())
}

/// Removes leftovers of killed programs in `parent` under this name, or under any name, where they are `of_ours`.
pub fn sweep(parent: &Path, name: Option<&str>, of_ours: impl Fn(&Path) -> bool) {
    remove(parent, |named, process, path| {
        name.is_none_or(|name| name == named) && of_ours(path) && is_gone(process)
    });
}

/// Removes directories of this name that bear this process's own number.
///
/// A killed program may have had the same number: containers reuse them. Directories that this process holds are
/// locked. One that it has made and not locked yet would be lost.
pub fn sweep_own(parent: &Path, name: &str) {
    remove(parent, |named, process, path| {
        named == name && process == std::process::id() && is_directory(path)
    });
}

/// Removes files with a name of ours that are not locked, and `meant` by name, process and path.
fn remove(parent: &Path, meant: impl Fn(&str, u32, &Path) -> bool) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some((named, process)) = parts(&file) else { continue };
        // A lock that is free shows that its program has ended.
        if meant(named, process, &path) && lock(&path).is_some() {
            // There is no caller to report to.
            let _ = match is_directory(&path) {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
        }
    }
}

/// Name and process of a hidden file: `.NAME.PID.tmp`, or with `-2` and so on behind it.
fn parts(file: &str) -> Option<(&str, u32)> {
    let (before, behind) = file.strip_prefix('.')?.rsplit_once(".tmp")?;
    let number = behind.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    let (name, process) = before.rsplit_once('.')?;
    let process = process.parse().ok()?;
    ((behind.is_empty() || number) && !name.is_empty()).then_some((name, process))
}

/// Whether it is a directory itself, not a link to one.
pub fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_dir())
}

/// Whether it is a file itself, not a link to one.
pub fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_file())
}

/// Whether there is no such process; where /proc does not say, the lock alone decides.
fn is_gone(process: u32) -> bool {
    !PathBuf::from(format!("/proc/{process}")).exists()
}

/// Takes the lock of a directory or file; none if another has it, or there are no locks here.
pub fn lock(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
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
