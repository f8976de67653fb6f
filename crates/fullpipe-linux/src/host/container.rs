//! The guest as a process on this kernel. It makes its namespaces itself, and ends with the thread that started it.

use fullpipe_guest::boot;
use fullpipe_guest::plan::{REAL_TIME, SOCKET};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The guest with the directory `root` as its root, and the end of its socket that stays here.
pub(super) fn command(root: &Path) -> io::Result<(Command, UnixStream)> {
    let (here, there) = UnixStream::pair()?;
    let mut command = Command::new(root.join(boot::INIT));
    command.arg(REAL_TIME).current_dir(root).env_clear();
    let parent = std::process::id();
    // SAFETY: system calls that may be made between fork and exec.
    unsafe {
        command.pre_exec(move || {
            boot::tie(parent, libc::SIGKILL)?;
            boot::leave(there.as_raw_fd(), SOCKET)
        });
    }
    Ok((command, here))
}
