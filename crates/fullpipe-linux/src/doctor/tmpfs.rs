//! Whether there is a file system in memory from which code can run.

use super::{Check, Problem};
use crate::kernel::needs;
use crate::memory;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Least free space of it for the guest's memory, bytes: the need of a 10 Gb/s run.
const LEAST: u64 = 1_000_000_000;
const WHY: &str = "the guest's memory is a file that is mapped executable; a run takes 1 to 3 GB";

const REMEDY: &str = "export FULLPIPE_MEMORY_DIR=DIRECTORY, one of a tmpfs";

/// Maps a file there for real.
pub fn check() -> Check {
    let there = memory::check().map_err(|found| Problem::new(found, REMEDY));
    Check::new("executable tmpfs", WHY, there.and_then(|()| look(&memory::directory())))
}

fn look(place: &Path) -> Result<String, Problem> {
    let at = place.display();
    if !is_tmpfs(place) {
        let remedy = format!("sudo mount -t tmpfs -o size=4g,exec,mode=1777 tmpfs {at}");
        return Err(Problem::new(format!("{at} is no tmpfs"), remedy));
    }

    // User-mode Linux maps its memory executable, which a mount with noexec forbids.
    map_executable(place).map_err(|e| {
        let remedy = format!("sudo mount -o remount,exec {at}");
        Problem::new(format!("a file in {at} cannot be mapped executable: {e}"), remedy)
    })?;
    let free = needs::free_space(place).unwrap_or(0);
    let text = format!("{at}, {:.1} GB free", needs::gb(free));
    match free >= LEAST {
        true => Ok(text),
        false => {
            let remedy =
                format!("sudo mount -o remount,size=4g {at} (in a container: --shm-size=4g)");
            Err(Problem::new(text, remedy))
        }
    }
}

fn is_tmpfs(place: &Path) -> bool {
    let Ok(path) = CString::new(place.as_os_str().as_bytes()) else { return false };
    let mut about = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path ends with a zero; the structure is zero before and made of numbers only.
    let (done, about) =
        unsafe { (libc::statfs(path.as_ptr(), about.as_mut_ptr()), about.assume_init()) };
    done == 0 && about.f_type == libc::TMPFS_MAGIC
}

/// Maps a page of a nameless file in `place`, as user-mode Linux does with its memory.
fn map_executable(place: &Path) -> io::Result<()> {
    let mut options = File::options();
    let file = options.read(true).write(true).custom_flags(libc::O_TMPFILE).open(place)?;
    file.set_len(4096)?;
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    // SAFETY: a new mapping of a page of our own file, which no other code uses and which is unmapped at once.
    unsafe {
        let fd = file.as_raw_fd();
        let page = libc::mmap(std::ptr::null_mut(), 4096, protection, libc::MAP_SHARED, fd, 0);
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        libc::munmap(page, 4096);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_tmpfs_is_refused() {
        let problem = look(Path::new("/proc")).expect_err("not a tmpfs");
        assert!(problem.found.contains("/proc is no tmpfs") && problem.remedy.contains("mount"));
        assert!(map_executable(Path::new("/proc")).is_err());
    }
}
