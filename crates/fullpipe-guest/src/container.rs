//! The guest on this machine's kernel: it becomes the first process of namespaces of its own. The kernel removes these with
//! everything in them when that process ends, however it ends.

use std::fs;
use std::io;
use std::process::ExitCode;

use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

use crate::sys;

/// Runs the guest as the first process of a new container, with the working directory as its root.
pub fn enter() -> ExitCode {
    match contained() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("fullpipe-init: a container: {error}");
            ExitCode::FAILURE
        }
    }
}

fn contained() -> io::Result<ExitCode> {
    sys::spare_the_kernel();
    if !getuid().is_root() {
        become_root()?;
    }
    // The network namespace is new, too: only then may /sys be mounted in a user namespace.
    let flags = UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWNET;
    // SAFETY: no other thread runs, and descriptors stay shared.
    unsafe { rustix::thread::unshare_unsafe(flags) }?;

    // A new process namespace begins with the next child.
    match sys::fork()? {
        0 => {
            sys::end_with_parent()?;
            sys::keep_mounts_private()?;
            rustix::process::chroot(".")?;
            Ok(crate::as_first_process())
        }
        child => Ok(ExitCode::from(sys::wait_for_end(child)?)),
    }
}

/// Makes a user namespace in which this user is root.
fn become_root() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    // SAFETY: no other thread runs.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER) }?;

    // Without this an ordinary user may not map groups (user_namespaces(7)).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}
