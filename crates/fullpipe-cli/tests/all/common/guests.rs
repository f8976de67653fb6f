//! Guests as processes, seen from outside.

use super::Desk;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Time limit of events that are to happen soon.
const SOON: Duration = Duration::from_secs(30);

/// Waits until `look` returns something.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < SOON, "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The first guest of a call in progress.
#[track_caller]
pub fn guest_of(call: &Child) -> u32 {
    wait_for("guest", || guests_of(call).first().copied())
}

/// All guests of a call: its child processes.
pub fn guests_of(call: &Child) -> Vec<u32> {
    processes().into_iter().filter(|id| parent(*id) == Some(call.id())).collect()
}

/// Numbers of all processes.
pub fn processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The parent of a process that lives.
pub fn parent(of: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{of}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

/// Sends a signal.
pub fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(status.expect("kill").success());
}

/// Waits until a guest lives no more.
#[track_caller]
pub fn gone(guest: u32) {
    let exe = format!("/proc/{guest}/exe");
    wait_for("end of the guest", || Path::new(&exe).read_link().is_err().then_some(()));
}

/// Whether this is root; prints what is skipped if not.
pub fn is_root(otherwise: &str) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let root = status.contains("Uid:\t0\t");
    if !root {
        println!("skipped: {otherwise} needs root");
    }
    root
}

/// The call run by `wrapper`, a program with arguments that runs the command after them.
pub fn behind(wrapper: &[&str], call: &Command, desk: &Desk) -> Command {
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(call.get_program()).args(call.get_args());
    command.current_dir(desk.path(""));
    command
}
