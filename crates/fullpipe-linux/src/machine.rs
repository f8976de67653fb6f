//! A guest kernel as a process: started, watched, ended.
//!
//! User-mode Linux with `time-travel=inf-cpu`: its clock stands still while it computes and jumps when it is
//! idle. It leads a process group, so that signals of the terminal do not reach it; it ends with the thread that
//! started it, however that ends.

use super::kernel::needs::free_space;
use super::memory;
use super::rootfs::{self, RootFs};
use fullpipe_guest::boot::{self, Parts};
use fullpipe_guest::record;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Name of the file with the kernel's output.
const CONSOLE: &str = "console";
/// Lines of it that an error shows.
const SHOWN_LINES: usize = 8;

/// Message of user-mode Linux where the host refuses the registers of a guest's process.
const REFUSED_REGISTERS: &str = "ptrace set fp regs failed";
/// CPUID leaf that describes the XSAVE area (Intel SDM, volume 1, 13.2).
#[cfg(target_arch = "x86_64")]
const XSAVE_LEAF: u32 = 0xd;

/// Limits after which a guest with a clock that stands still is given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// CPU time after which a guest kernel counts as busy for ever. It reports its time every 100 ms of its clock, for
    /// which a run of 100 Gb/s takes some 0.5 s. CPU time of the guest's programs is not counted here.
    pub(super) busy: Duration,
    /// Time after which a guest without any report counts as dead, busy or not.
    pub(super) silent: Duration,
}

/// The patience of runs.
pub(super) const PATIENCE: Patience =
    Patience { busy: Duration::from_secs(60), silent: Duration::from_secs(120) };

/// The process of a guest kernel, with its directory and its progress.
pub(super) struct Machine {
    child: Child,
    rootfs: RootFs,
    /// Where its memory lies.
    memory: PathBuf,
    /// Room that was left there when it was last looked at, bytes.
    room: Option<u64>,
    /// Virtual time when it was last seen to move, the CPU time and the moment of that.
    seen: (u64, Duration, Instant),
    patience: Patience,
}

/// State of a machine.
#[derive(Debug)]
pub(super) enum State {
    /// The machine runs.
    Running,
    /// The machine has ended by itself.
    Ended(ExitStatus),
    /// The machine will not end, for this reason.
    Hopeless(String),
}

impl Machine {
    /// Starts the machine; its output goes to files in `rootfs`.
    ///
    /// # Errors
    /// A file cannot be made, or the kernel cannot be started, in words.
    pub(super) fn start(
        parts: &Parts,
        rootfs: RootFs,
        patience: Patience,
    ) -> Result<Machine, String> {
        let command = boot::command(parts, rootfs.path());
        Machine::spawn(command, rootfs, parts.memory_directory.into(), patience)
    }

    /// Starts a guest by that command; `memory` is the directory of its memory.
    ///
    /// # Errors
    /// As [`Machine::start`].
    pub(super) fn spawn(
        mut command: Command,
        rootfs: RootFs,
        memory: PathBuf,
        patience: Patience,
    ) -> Result<Machine, String> {
        // The kernel's output and errors go to one file, in their order.
        let console = || {
            let console = File::create(rootfs.file(CONSOLE))?;
            Ok((console.try_clone()?, console))
        };
        let (output, errors) = console().map_err(|e: io::Error| rootfs::cannot_write(&e))?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors).process_group(0);
        let program = command.get_program().to_owned();
        let child =
            command.spawn().map_err(|e| format!("cannot start {}: {e}", program.display()))?;
        let (room, seen) = (free_space(&memory), (0, Duration::ZERO, Instant::now()));
        Ok(Machine { child, rootfs, memory, room, seen, patience })
    }

    /// The file of the machine's records. The reader gives the room of records back that it has read.
    pub(super) fn records(&self) -> io::Result<File> {
        File::options().read(true).write(true).open(self.rootfs.file(record::FILE))
    }

    /// State of the machine now.
    pub(super) fn state(&mut self) -> io::Result<State> {
        if let Some(status) = self.ended()? {
            return Ok(State::Ended(status));
        }
        self.room = free_space(&self.memory);
        if let Some(why) = memory::full(&self.memory, self.room, false) {
            return Ok(State::Hopeless(why));
        }

        // A guest whose clock moves is alive; else its CPU time and the wall clock decide.
        let (time, cpu) = (self.virtual_time(), self.cpu());
        if time != self.seen.0 {
            self.seen = (time, cpu, Instant::now());
        }
        let (busy, silent) = (cpu.saturating_sub(self.seen.1), self.seen.2.elapsed());
        if busy < self.patience.busy && silent < self.patience.silent {
            return Ok(State::Running);
        }
        let at = Duration::from_nanos(time).as_secs_f64();
        let (busy, silent) = (busy.as_secs(), silent.as_secs());
        Ok(State::Hopeless(format!(
            "the guest's clock stands at {at} s for {silent} s, in which it used {busy} s of CPU"
        )))
    }

    /// Exit status, if the machine has ended by itself. Until it is fetched its number, and so its group's, is no
    /// other's.
    fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        let number = WaitId::Pid(Pid::from_child(&self.child));
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(number, look) {
            Ok(None) => return Ok(None),
            Ok(Some(_)) => self.kill_group(),
            // It has been waited for; its status is known.
            Err(_) => {}
        }
        self.child.wait().map(Some)
    }

    /// Kills all processes of the guest. The kernel's own processes end with it. But a process of one of its programs
    /// that has just begun waits, stopped, for a kernel that is gone.
    fn kill_group(&self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    /// ns since the run's start, as the guest last said.
    fn virtual_time(&self) -> u64 {
        let mut bytes = [0; 8];
        let file = File::open(self.rootfs.file(record::PROGRESS));
        match file.and_then(|mut file| file.read_exact(&mut bytes)) {
            Ok(()) => u64::from_ne_bytes(bytes),
            Err(_) => 0,
        }
    }

    fn cpu(&self) -> Duration {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", self.child.id()));
        let ns = text.ok().and_then(|text| text.split(' ').next()?.parse().ok());
        Duration::from_nanos(ns.unwrap_or(0))
    }

    /// In words: how it ended.
    pub(super) fn end(&self, status: ExitStatus) -> String {
        let how = how_it_ended(status);
        match memory::full(&self.memory, self.room, status.signal().is_some()) {
            Some(why) => format!("the guest ended {how}: {why}"),
            None => format!("the guest ended {how}"),
        }
    }

    /// A sentence about a failure that the kernel's output shows, ending in ": ".
    pub(super) fn cause(&self) -> Option<String> {
        let text = fs::read(self.rootfs.file(CONSOLE)).unwrap_or_default();
        cause(&String::from_utf8_lossy(&text), register_bytes())
    }

    /// The last lines that the kernel has printed, indented.
    pub(super) fn last_lines(&self) -> String {
        let text = fs::read(self.rootfs.file(CONSOLE)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        last.iter().map(|line| format!("\n    {}", line.trim_end())).collect()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if matches!(self.ended(), Ok(None)) {
            self.kill_group();
        }
        let _ = self.child.wait();
    }
}

/// Explains a refused register set, which the kernel reports on its `console`, by the size of this CPU's.
fn cause(console: &str, register_bytes: u32) -> Option<String> {
    let refused = console.contains(REFUSED_REGISTERS);
    refused.then(|| {
        format!(
            "this CPU has {register_bytes} bytes of registers (XSAVE), more than this kernel can set; \
             build it again with the newest fullpipe, or use a CPU without AMX: "
        )
    })
}

/// Size of the XSAVE area with all registers that the host's kernel uses, bytes (CPUID leaf 0xD, EBX); 0 where it is not known.
fn register_bytes() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        let highest = std::arch::x86_64::__cpuid(0).eax;
        if highest >= XSAVE_LEAF {
            return std::arch::x86_64::__cpuid_count(XSAVE_LEAF, 0).ebx;
        }
    }
    0
}

/// A status in words.
fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("with exit code {code}"),
        (None, Some(libc::SIGKILL)) => "killed (out of memory?)".into(),
        (None, Some(signal)) => format!("by signal {signal}"),
        (None, None) => "in an unknown way".into(),
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
