//! Kernel counters of mounts and of nfsd, read apart from the samples: `mountstats` cannot be read in their chain
//! (io_uring would give it to another thread).

use std::fs::File;
use std::os::unix::fs::FileExt;

use fullpipe_guest::plan::Plan;

use super::client;
use crate::counters::{Format, Said};
use crate::error::{Context, Result};
use crate::namespaces::{self, Namespace};
use crate::uring::LONGEST;
use crate::{run, sys};

/// Numbers of the sources, far behind those of other counters: three of each host, and the kernel's.
const SERVER: usize = 10_000;
const FIRST_CLIENT: usize = 10_001;
/// Text of all mounts: the place of each, and counters of those of NFS.
const MOUNTS: &str = "/proc/self/mountstats";
const NFSD: &str = "/proc/thread-self/net/rpc/nfsd";
/// Delay of a sample after its time, ns; these counters have the same.
const AFTER: u64 = 1;

/// Starts the thread that reads them, at the times at which counters are read, and once at the run's end.
pub fn start(plan: &Plan, server: &Namespace) -> Result<()> {
    server.enter()?;
    let nfsd = File::open(NFSD).at(|| NFSD)?;
    let mut clients: Vec<Said> = plan
        .nfs
        .iter()
        .map(|nfs| Said::new(plan.host_of(nfs).into(), "mountstats", Format::Mount))
        .collect();
    let mut server_said = Said::new("receiver".into(), "nfsd", Format::Nfsd);
    let (each, end) = (plan.counters_ns.max(1).next_multiple_of(plan.sample_ns), plan.end_ns);
    namespaces::spawn("counters of the mount".into(), &server.fd, move || {
        for time_ns in (1..=end / each).map(|number| number * each) {
            sys::sleep_until(run::start() + time_ns + AFTER);
            record(time_ns, &nfsd, &mut clients, &mut server_said)?;
        }
        Ok(())
    })
    .map(drop)
}

fn record(time_ns: u64, nfsd: &File, clients: &mut [Said], server: &mut Said) -> Result<()> {
    let mounts = std::fs::read_to_string(MOUNTS).at(|| MOUNTS)?;
    let mut text = [0; LONGEST];
    let length = nfsd.read_at(&mut text, 0).at(|| NFSD)?;
    let mut out = run::out()?;
    for (number, client) in clients.iter_mut().enumerate() {
        // Before it is mounted there is nothing to report.
        if let Some(mount) = of_mount(&mounts, &client::directory(number)) {
            client.record(FIRST_CLIENT + number, time_ns, mount.as_bytes(), &mut out)?;
        }
    }
    server.record(SERVER, time_ns, &text[..length], &mut out)
}

/// The part that is about the mount at that directory.
fn of_mount<'a>(text: &'a str, directory: &str) -> Option<&'a str> {
    const NEXT: &str = "\ndevice ";
    let start = text.find(&format!(" mounted on {directory} with "))?;
    let part = &text[start..];
    Some(part.find(NEXT).map_or(part, |end| &part[..end]))
}
