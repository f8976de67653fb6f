//! Child processes that end reliably: each has a process group of its own, which is ended whole. Each gets SIGTERM when
//! fullpipe dies, however that happens.

use super::Error;
use super::watch::Watch;
use fullpipe_guest::boot;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two looks at children.
const TICK: Duration = Duration::from_millis(50);
/// Time that children have to end by themselves.
const GRACE: Duration = Duration::from_secs(3);

/// Children that work together; they are ended when this is dropped.
pub struct Children {
    children: Vec<(String, Child)>,
    log: File,
}

impl Children {
    /// No children yet; their output is written to `log`.
    pub fn new(log: &File) -> Result<Children, Error> {
        let log = log.try_clone().map_err(|e| Error::new(format!("the build's log: {e}")))?;
        Ok(Children { children: Vec::new(), log })
    }

    /// Starts a program with its output in the log.
    pub fn start(&mut self, command: &mut Command) -> Result<(), Error> {
        let log = self.log()?;
        self.spawn(command.stdin(Stdio::null()).stdout(log))?;
        Ok(())
    }

    /// Starts a pipeline: each program reads the output of the one before it. The last one's output is written to the
    /// log.
    pub fn start_row(&mut self, row: &mut [Command]) -> Result<(), Error> {
        let last = row.len().saturating_sub(1);
        let mut input = Stdio::null();
        for (at, command) in row.iter_mut().enumerate() {
            let output = if at == last { self.log()? } else { Stdio::piped() };
            let output = self.spawn(command.stdin(input).stdout(output))?;
            input = output.map_or_else(Stdio::null, Stdio::from);
        }
        Ok(())
    }

    fn spawn(&mut self, command: &mut Command) -> Result<Option<ChildStdout>, Error> {
        let name = command.get_program().to_string_lossy().into_owned();
        let log = self.log()?;
        tie(command.stderr(log).process_group(0));
        let child = command.spawn();
        // The command keeps its end of a pipe open.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = child.map_err(|e| Error::new(format!("cannot start {name}: {e}")))?;
        let output = child.stdout.take();
        self.children.push((name, child));
        Ok(output)
    }

    fn log(&self) -> Result<Stdio, Error> {
        let log = self.log.try_clone();
        log.map(Stdio::from).map_err(|e| Error::new(format!("the build's log: {e}")))
    }

    /// Waits until all have ended, and calls `tick` several times a second meanwhile.
    ///
    /// # Errors
    /// One of them failed, or `watch` stopped the build.
    pub fn finish<W: Watch + ?Sized>(
        mut self,
        watch: &mut W,
        mut tick: impl FnMut(&mut W),
    ) -> Result<(), Error> {
        while !self.children.is_empty() {
            if watch.stopped() {
                return Err(Error::Stopped);
            }

            // Children that have ended leave the list; one that failed ends all of them (drop).
            let mut at = 0;
            while let Some((name, child)) = self.children.get_mut(at) {
                match child.try_wait().map_err(|e| Error::new(format!("{name}: {e}")))? {
                    None => at += 1,
                    Some(status) => {
                        let (name, _) = self.children.remove(at);
                        judge(&name, status)?;
                    }
                }
            }
            tick(watch);
            if !self.children.is_empty() {
                sleep(TICK);
            }
        }
        Ok(())
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        let asked = Instant::now();
        self.children.iter().for_each(|(_, child)| end(child, libc::SIGTERM));
        // The period of grace is for all children together.
        for (_, child) in &mut self.children {
            while child.try_wait().is_ok_and(|status| status.is_none()) && asked.elapsed() < GRACE {
                sleep(TICK);
            }
            // Ends the rest of the leader's group, too.
            end(child, libc::SIGKILL);
            let _ = child.wait();
        }
    }
}

fn judge(name: &str, status: ExitStatus) -> Result<(), Error> {
    match status.success() {
        true => Ok(()),
        false => Err(Error::new(format!("{name} failed ({status})"))),
    }
}

/// Sends a signal to the group of `child`.
fn end(child: &Child, signal: libc::c_int) {
    let Ok(group) = libc::pid_t::try_from(child.id()) else { return };
    // SAFETY: kill reads two numbers. The group is the child's own, which is not waited for yet or has
    // members left; else the call fails.
    unsafe { libc::kill(-group, signal) };
}

/// Has a child end with this process.
fn tie(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(move || boot::tie(parent, libc::SIGTERM)) };
}

/// Output of a short-lived program, if it succeeds.
pub fn ask(program: &str, arguments: &[&OsStr]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// CPU time of all children that have ended and were waited for.
pub fn cpu_of_children() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the structure, which is zero before and made of numbers only.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |t: libc::timeval| {
        let (s, us) = (u64::try_from(t.tv_sec), u64::try_from(t.tv_usec));
        Duration::from_secs(s.unwrap_or(0)) + Duration::from_micros(us.unwrap_or(0))
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}
