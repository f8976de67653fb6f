//! The kernel does not outlive fullpipe. One test, alone in its process: it forks and goes on in the child.

use fullpipe_guest::boot::{self, Parts};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The process that was to watch over the kernel has died between fork and exec: the parent is another one.
#[test]
fn a_kernel_does_not_start_without_the_process_that_wanted_it() {
    let parts = Parts {
        kernel: Path::new("/bin/true"),
        memory_mib: 1,
        memory_directory: Path::new("/dev/shm"),
        seed: 1,
        words: &[],
    };
    let mut kernel = boot::command(&parts, Path::new("/"));
    assert!(kernel.status().expect("it starts below this process").success());
    let below_another = move || match kernel.status() {
        Err(e) if e.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        _ => Err(io::Error::from_raw_os_error(libc::EEXIST)),
    };
    let mut other = Command::new("/bin/true");
    // SAFETY: this process has no other thread that could hold a lock across the fork but the test's own harness,
    // which waits.
    unsafe { other.pre_exec(below_another) };
    assert!(other.status().expect("the kernel does not start").success());
}
