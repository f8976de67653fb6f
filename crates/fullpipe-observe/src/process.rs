//! Processes: the sockets that they have, their names, and the CPU time of their threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Number.
    pub pid: u32,
    /// Name of its program.
    pub name: String,
}

/// Inodes of a process's sockets.
///
/// # Errors
/// There is no such process, or the caller may not look at it.
pub fn sockets(pid: u32) -> io::Result<BTreeSet<u32>> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))?;
    Ok(entries.flatten().filter_map(|entry| inode(&entry.path())).collect())
}

/// Inode of the socket at a link such as `/proc/7/fd/3`; none where that is no socket.
fn inode(link: &Path) -> Option<u32> {
    let target = fs::read_link(link).ok()?;
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The processes that have these sockets, by inode. Those that the caller may not look at are missing.
pub fn owners(inodes: &BTreeSet<u32>) -> BTreeMap<u32, Process> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|text| text.parse().ok()) else { continue };
        let Ok(own) = sockets(pid) else { continue };
        for inode in own.intersection(inodes) {
            // After a fork several processes share a socket: the first one stands for them.
            found.entry(*inode).or_insert_with(|| Process { pid, name: name_of(pid) });
        }
        if found.len() == inodes.len() {
            break;
        }
    }
    found
}

/// Name of a process's program.
pub fn name_of(pid: u32) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    text.trim().into()
}

/// CPU time of the busiest thread of a process, from the first look on.
///
/// Work of interrupts (softirq) in other threads is not part of it.
#[derive(Debug)]
pub struct Threads {
    pid: u32,
    /// CPU time of each thread at its first look, ns.
    first: BTreeMap<u32, u64>,
    most: u64,
}

impl Threads {
    /// The threads of a process.
    pub fn new(pid: u32) -> Threads {
        Threads { pid, first: BTreeMap::new(), most: 0 }
    }

    /// Most CPU time of a thread since the first look, ns; none where the kernel does not show it.
    pub fn busiest(&mut self) -> Option<u64> {
        for task in fs::read_dir(format!("/proc/{}/task", self.pid)).ok()?.flatten() {
            let name = task.file_name();
            let Some(thread) = name.to_str().and_then(|text| text.parse().ok()) else { continue };

            // The first number is the time on a CPU.
            let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            let Some(time) = text.split(' ').next().and_then(|text| text.parse::<u64>().ok())
            else {
                continue;
            };
            let first = *self.first.entry(thread).or_insert(time);
            self.most = self.most.max(time.saturating_sub(first));
        }
        (!self.first.is_empty()).then_some(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn sockets_belong_to_their_process() {
        let before = sockets(std::process::id()).expect("own sockets");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let now = sockets(std::process::id()).expect("own sockets");
        let new: BTreeSet<u32> = now.difference(&before).copied().collect();
        assert!(!new.is_empty(), "{now:?}");
        let owner = owners(&new);
        assert!(owner.values().any(|own| own.pid == std::process::id()), "{owner:?}");
        drop(listener);
    }

    #[test]
    fn a_busy_thread_takes_time() {
        let mut threads = Threads::new(std::process::id());
        let Some(before) = threads.busiest() else { return eprintln!("skipped: no schedstat") };
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 50 {}
        let after = threads.busiest().expect("a time");
        assert!(after > before, "{before} {after}");
        assert_eq!(Threads::new(u32::MAX).busiest(), None);
    }
}
