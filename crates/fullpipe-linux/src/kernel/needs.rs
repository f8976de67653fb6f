//! Needs of a build: programs, the C library's headers, space.

use super::Error;
use std::ffi::{CString, OsStr};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Something that must be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// A program's name, or the name of something else that is needed.
    pub name: &'static str,
    /// Debian's package with the program.
    pub package: &'static str,
}

/// The programs of a build. The kernel's own perl scripts are not run.
pub const PROGRAMS: [Need; 8] = [
    Need { name: "gcc", package: "gcc" },
    Need { name: "ld", package: "binutils" },
    Need { name: "make", package: "make" },
    Need { name: "flex", package: "flex" },
    Need { name: "bison", package: "bison" },
    Need { name: "bc", package: "bc" },
    Need { name: "xz", package: "xz-utils" },
    Need { name: "tar", package: "tar" },
];

const HEADERS: Need = Need { name: "headers of the C library", package: "libc6-dev" };

/// Free space that a build needs in the cache, bytes: package, unpacked source, objects.
pub const SPACE: u64 = 1_000_000_000;

/// Needs that are missing: of [`PROGRAMS`] in the directories of `path` (as in PATH), and of the headers.
pub fn missing(path: &OsStr) -> Vec<Need> {
    let mut missing: Vec<Need> =
        PROGRAMS.into_iter().filter(|need| !is_in(path, need.name)).collect();
    if is_in(path, "gcc") && !compiles(path) {
        missing.push(HEADERS);
    }
    missing
}

/// Whether everything is there.
///
/// # Errors
/// It is not, or this is no x86-64; names all that is missing and how to get it.
pub fn check() -> Result<(), Error> {
    if std::env::consts::ARCH != "x86_64" {
        let arch = std::env::consts::ARCH;
        return Err(Error::new(format!("user-mode Linux exists for x86-64 only; this is {arch}")));
    }
    let missing = missing(&std::env::var_os("PATH").unwrap_or_default());
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::new(describe(&missing)).hint(install(&missing))),
    }
}

/// The missing needs as a clause.
pub fn describe(missing: &[Need]) -> String {
    let names: Vec<&str> = missing.iter().map(|need| need.name).collect();
    format!("a kernel cannot be built without {}", names.join(", "))
}

/// The command that installs the missing packages.
pub fn install(missing: &[Need]) -> String {
    let mut packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    packages.dedup();
    format!("sudo apt-get install {}", packages.join(" "))
}

/// Whether a program is in the directories of `path`.
pub fn is_in(path: &OsStr, program: &str) -> bool {
    std::env::split_paths(path).any(|directory| is_executable(&directory.join(program)))
}

/// Whether a path is a file that somebody may execute.
fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Whether a program with a header of the C library compiles.
fn compiles(path: &OsStr) -> bool {
    let mut command = Command::new("gcc");
    command.args(["-fsyntax-only", "-x", "c", "-"]).env("PATH", path);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(b"#include <sys/random.h>\n");
    }
    child.wait().is_ok_and(|status| status.success())
}

/// Free bytes of the file system at `path` for an ordinary user; none if it cannot be asked.
pub fn free_space(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut about = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path ends with a zero; the structure is zero before and made of numbers only.
    let (done, about) =
        unsafe { (libc::statvfs(path.as_ptr(), about.as_mut_ptr()), about.assume_init()) };
    (done == 0).then(|| about.f_bavail.saturating_mul(about.f_frsize))
}

/// Whether a build has room at `path`.
///
/// # Errors
/// It has not.
pub fn check_space(path: &Path) -> Result<(), Error> {
    match free_space(path) {
        Some(free) if free < SPACE => Err(Error::at(
            path,
            format!("a build needs {:.1} GB here, but only {:.1} GB are free", gb(SPACE), gb(free)),
        )
        .hint("make room, or name another directory in FULLPIPE_CACHE")),
        _ => Ok(()),
    }
}

/// In 10^9 bytes.
pub fn gb(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn all_that_is_missing_is_named_at_once() {
        let missing = missing(OsStr::new(""));
        assert_eq!(missing, PROGRAMS);
        assert!(describe(&missing).ends_with("gcc, ld, make, flex, bison, bc, xz, tar"));
        let line = "sudo apt-get install gcc binutils make flex bison bc xz-utils tar";
        assert_eq!(install(&missing), line);
    }

    #[test]
    fn a_compiler_without_headers_is_found_out() {
        let directory = tempfile::tempdir().expect("a directory");
        for program in PROGRAMS {
            let file = directory.path().join(program.name);
            fs::write(&file, "#!/bin/sh\nexit 1\n").expect("a file");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("permissions");
        }
        assert_eq!(missing(directory.path().as_os_str()), [HEADERS]);
        let bc = directory.path().join("bc");
        fs::set_permissions(&bc, fs::Permissions::from_mode(0o644)).expect("permissions");
        assert_eq!(
            install(&missing(directory.path().as_os_str())),
            "sudo apt-get install bc libc6-dev"
        );
    }

    #[test]
    fn space_is_that_of_the_file_system() {
        let free = free_space(Path::new("/")).expect("a root");
        assert!(free > 1 << 20 && free < 1 << 60, "{free}");
        assert_eq!(free_space(Path::new("/nonexistent")), None);
    }
}
