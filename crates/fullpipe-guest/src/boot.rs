//! Start of a kernel with the guest in it: the files around it, its command line, its process.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Directories of the guest's root, for mounts and new files.
pub const DIRECTORIES: [&str; 5] = ["proc", "sys", "dev", "tmp", "run"];
/// Name of the first process in the guest's root.
pub const INIT: &str = "init";
/// Start of the guest's clock: 2023-11-14, 22:13:20 UTC.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;
const WORDS: [&str; 13] = [
    "uml_dir=uml",
    "umid=run",
    "time-travel=inf-cpu",
    "hostfs=/proc/self/cwd",
    "rootfstype=hostfs",
    "rootflags=/",
    // 6.1 mounts no root without it.
    "root=none",
    "rw",
    "init=/init",
    "con=null",
    "con0=null,fd:1",
    "ssl=null",
    "quiet",
];

/// Files and settings with which a guest is started.
pub struct Parts<'a> {
    /// The kernel's program.
    pub kernel: &'a Path,
    /// Memory, MiB.
    pub memory_mib: u64,
    /// Where that memory is a file without a name; it wants to be executable and in memory.
    pub memory_directory: &'a Path,
    /// Seed of the kernel's random numbers.
    pub seed: u64,
    /// Parameters of modules, and other words of the kernel's command line.
    pub words: &'a [String],
}

/// The kernel as a process with the directory `root` as its root. It dies with the thread that starts it.
pub fn command(parts: &Parts, root: &Path) -> Command {
    let mut command = Command::new(parts.kernel);
    command.args(words(parts)).current_dir(root).env_clear();
    command.env("FULLPIPE_SEED", parts.seed.to_string());
    command.env("HOME", "/nonexistent").env("TMPDIR", parts.memory_directory);
    let parent = std::process::id();
    // SAFETY: only system calls that may be made between fork and exec.
    unsafe { command.pre_exec(move || before_exec(parent)) };
    command
}

/// The kernel's command line. It is mixed into the kernel's random numbers, so it is the same wherever and
/// whenever a run is made: no paths, nothing of the machine.
fn words(parts: &Parts) -> Vec<String> {
    let mut words: Vec<String> = WORDS.iter().map(ToString::to_string).collect();
    words.push(format!("time-travel-start={EPOCH_NS}"));
    words.push(format!("mem={}M", parts.memory_mib));
    words.extend_from_slice(parts.words);
    words
}

/// Ties the guest to the thread that started it, gives it the same addresses each time (they change how much memory it
/// finds), and turns core dumps off.
fn before_exec(parent: u32) -> io::Result<()> {
    tie(parent, libc::SIGKILL)?;
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain system calls; the only pointer is to a value on this stack.
    let done = unsafe {
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) != -1
            && libc::setrlimit(libc::RLIMIT_CORE, &none) == 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Leaves the descriptor `from` to the program that is executed next, as descriptor `to`.
///
/// # Errors
/// Errors of dup2(2).
pub fn leave(from: i32, to: i32) -> io::Result<()> {
    // SAFETY: both calls may be made between fork and exec, and touch no memory.
    let done = unsafe {
        match from == to {
            // dup2 of a descriptor to itself would keep its flag that closes it.
            true => libc::fcntl(from, libc::F_SETFD, 0),
            false => libc::dup2(from, to),
        }
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Has this process, between fork and exec, get `signal` when the thread that forked it dies.
///
/// # Errors
/// ESRCH: the process `parent` is dead already, so no signal would arrive.
pub fn tie(parent: u32, signal: libc::c_int) -> io::Result<()> {
    // SAFETY: both calls may be made between fork and exec, and touch no memory.
    let (set, now) = unsafe { (libc::prctl(libc::PR_SET_PDEATHSIG, signal), libc::getppid()) };
    match set {
        0 if u32::try_from(now) == Ok(parent) => Ok(()),
        0 => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        _ => Err(io::Error::last_os_error()),
    }
}
