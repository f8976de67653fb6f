//! Order of threads that wake in the same nanosecond: the one in which they were started.
//!
//! EEVDF keeps it (Linux 6.6 and later). CFS runs the thread with the least `vruntime` first. A new thread gets less of it
//! the more threads are runnable, and keeps it, because programs take no time (6.1 `place_entity`, `sched_vslice`). So
//! under CFS each new thread leaves the queue of CFS until all of them are started. Then all have the same `vruntime`,
//! which exceeds that of ksoftirqd.
//!
//! Limits:
//! - Threads that start during the run have their own `vruntime`: readers of answers, and programs of mounts.

use std::os::fd::OwnedFd;

use crate::error::{Context, Result};
use crate::{namespaces, sys};

/// First Linux with EEVDF.
const EEVDF: [u32; 2] = [6, 6];

/// Whether threads need help to run in turn: the scheduler of the guest's kernel is CFS.
fn needs_help() -> bool {
    !sys::is_machines_own() && version(&sys::release()).is_some_and(|version| version < EEVDF)
}

/// Version of a release such as "6.1.192".
fn version(release: &str) -> Option<[u32; 2]> {
    let mut numbers = release.split(['.', '-']).map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?])
}

/// Gives the calling thread priority over those that it starts by [`spawn`]: none of them runs until the caller waits.
pub fn begin() -> Result<()> {
    if needs_help() { sys::go_first_alone().at(|| "priority of the set-up") } else { Ok(()) }
}

/// Starts a thread like [`namespaces::spawn`]. Under CFS the thread gets a real-time priority before the next one is
/// started, and drops it when it first runs.
pub fn spawn(
    what: String,
    namespace: &OwnedFd,
    body: impl FnOnce() -> Result<()> + Send + 'static,
) -> Result<()> {
    if !needs_help() {
        return namespaces::spawn(what, namespace, body).map(drop);
    }
    let name = what.clone();
    let thread = namespaces::spawn(what, namespace, move || {
        sys::go_with_others().at(|| "priority")?;
        body()
    })?;
    sys::let_go_first(&thread).at(|| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cfs_ends_with_linux_6_5() {
        let is_cfs = |release: &str| version(release).is_some_and(|version| version < EEVDF);
        assert!(["6.1.192", "6.5.0-44-generic", "5.15.0", "6.1-rc3"].iter().all(|of| is_cfs(of)));
        assert!(!["6.6.1", "6.12.117", "7.0.0", "6.10-rc1", "none"].iter().any(|of| is_cfs(of)));
    }
}
