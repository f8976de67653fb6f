//! Whether a child can be traced as user-mode Linux traces the guest's processes.
//!
//! Limits:
//! - The check does not find which of several sandboxes forbids ptrace.

use super::{Check, Problem};
use std::fs;
use std::io;

const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";
const WHY: &str = "user-mode Linux runs the guest's programs as traced children";

/// Traces a child for a moment.
pub fn check() -> Check {
    let found = match trace() {
        Ok(()) => Ok("a child can be traced, its system calls held".into()),
        Err(failed) => Err(Problem::new(failed.to_string(), remedy(&yama(), &status()))),
    };
    Check::new("ptrace", WHY, found)
}

fn yama() -> String {
    fs::read_to_string(YAMA).unwrap_or_default()
}

fn status() -> String {
    fs::read_to_string("/proc/self/status").unwrap_or_default()
}

/// Remedy for a refused ptrace, by Yama's setting and this process's /proc/self/status. Yama refuses a child that asks
/// to be traced from scope 2 on (Documentation/admin-guide/LSM/Yama.rst).
fn remedy(yama: &str, status: &str) -> String {
    // Mode 2 of /proc/PID/status is a filter of system calls (proc(5)).
    let filtered = status
        .lines()
        .any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"));
    match yama.trim() {
        "2" => "sudo sysctl kernel.yama.ptrace_scope=1 (it is 2: only root may trace)".into(),
        "3" => "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and reboot (it is 3: nobody may \
            trace, until the next boot)"
            .into(),
        _ if filtered => "a seccomp filter is on: start the container with \
            --cap-add=SYS_PTRACE or --security-opt seccomp=unconfined"
            .into(),
        _ => "allow ptrace: neither Yama nor a seccomp filter of this process forbids it, so ask \
            who runs this machine (SELinux's deny_ptrace, a sandbox)"
            .into(),
    }
}

/// Forks a child that has itself traced, and holds its first system call.
fn trace() -> io::Result<()> {
    // SAFETY: the child only makes system calls that may be made after a fork, and ends by _exit.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => traced(),
        child => {
            let result = hold(child);
            // SAFETY: the child is ours and not waited for yet; both calls read numbers only.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, std::ptr::null_mut(), 0);
            }
            result
        }
    }
}

/// The child: stops itself when traced; 1 says that it was not allowed.
fn traced() -> ! {
    // SAFETY: system calls without memory.
    unsafe {
        if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
            libc::_exit(1);
        }
        libc::raise(libc::SIGSTOP);
        libc::getppid();
        libc::_exit(2);
    }
}

fn hold(child: libc::pid_t) -> io::Result<()> {
    // The child has asked to be traced and stops itself.
    match wait(child)? {
        status if libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGSTOP => {}
        _ => return Err(io::Error::other("a child may not be traced")),
    }
    // SAFETY: the child is stopped and traced by this thread; no memory is passed.
    if unsafe { libc::ptrace(libc::PTRACE_SYSEMU, child, 0, 0) } != 0 {
        return Err(io::Error::other("a traced child's system calls cannot be held"));
    }
    // With PTRACE_SYSEMU the child stops at its next system call, which is not done.
    match wait(child)? {
        status if libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGTRAP => Ok(()),
        _ => Err(io::Error::other("a traced child's system calls are not held")),
    }
}

fn wait(child: libc::pid_t) -> io::Result<libc::c_int> {
    let mut status = 0;
    // SAFETY: waitpid fills one number.
    match unsafe { libc::waitpid(child, &raw mut status, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_is_named() {
        let filter = "Name:\tx\nSeccomp:\t2\n";
        assert!(remedy("2\n", filter).starts_with("sudo sysctl kernel.yama.ptrace_scope=1"));
        assert!(remedy("3\n", filter).contains("reboot"));
        assert!(remedy("1\n", filter).contains("seccomp=unconfined"));
        assert!(remedy("", "Seccomp:\t0\n").contains("neither"));
    }

    #[test]
    fn a_child_that_is_not_traced_is_reported() {
        // SAFETY: as in `trace`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends the child.
            unsafe { libc::_exit(1) };
        }
        assert!(hold(child).expect_err("not traced").to_string().contains("may not be traced"));
    }
}
