//! Network namespaces of processes, and work inside them.

use crate::unable::Unable;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

/// A network namespace.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    path: PathBuf,
}

/// Device and inode of a namespace, which identify it.
type Identity = [u64; 2];

fn identity(path: &Path) -> io::Result<Identity> {
    path.metadata().map(|about| [about.dev(), about.ino()])
}

/// Network namespace of the calling thread.
const OWN: &str = "/proc/thread-self/ns/net";

impl Namespace {
    /// The namespace of this file: `/proc/PID/ns/net`, or one of `ip netns`.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn at(path: &Path) -> Result<Namespace, Unable> {
        let opened = File::open(path);
        let file = opened.map_err(|why| Unable::new(path.display(), why))?;
        Ok(Namespace { file, path: path.into() })
    }

    /// The namespaces of a process's threads, each once. The own one is none of them.
    ///
    /// # Errors
    /// There is no such process, or the caller may not look at it.
    pub fn of_process(pid: u32) -> Result<Vec<Namespace>, Unable> {
        let own = identity(Path::new(OWN)).ok();
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        let tasks = PathBuf::from(format!("/proc/{pid}/task"));
        let entries = fs::read_dir(&tasks).map_err(|why| no_process(pid, &why))?;
        for task in entries.flatten() {
            let path = task.path().join("ns/net");

            // A thread may end at any time.
            let Ok(it) = identity(&path) else { continue };
            if Some(it) != own && seen.insert(it) {
                found.push(Namespace::at(&path)?);
            }
        }
        Ok(found)
    }

    /// Does `work` on a thread inside the namespace.
    ///
    /// # Errors
    /// The caller may not enter it, or `work` fails.
    pub fn during<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, Unable> + Send,
    ) -> Result<T, Unable> {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                let kind = Some(LinkNameSpaceType::Network);
                move_into_link_name_space(self.file.as_fd(), kind)
                    .map_err(|why| cannot_enter(&self.path, why.into()))?;
                work()
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

fn no_process(pid: u32, why: &io::Error) -> Unable {
    match why.kind() {
        io::ErrorKind::NotFound => Unable::new(format!("process {pid}"), "there is none"),
        _ => Unable::new(format!("process {pid}"), why),
    }
}

fn cannot_enter(path: &Path, why: io::Error) -> Unable {
    let help = match why.kind() {
        io::ErrorKind::PermissionDenied => "; entering a network namespace needs root",
        _ => "",
    };
    Unable::new(format!("network namespace {}", path.display()), format!("{why}{help}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_namespace_is_none_of_a_process() {
        let own = Namespace::of_process(std::process::id()).expect("this process");
        assert_eq!(own.len(), 0);
        let none = Namespace::of_process(u32::MAX).expect_err("no such process");
        assert!(none.to_string().contains("there is none"), "{none}");
        assert!(Namespace::at(Path::new("/nowhere")).is_err());
    }
}
