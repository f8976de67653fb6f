//! The kernel's own NFS server and client, without the programs that a distribution puts around them.
//!
//! | file | concern |
//! |---|---|
//! | `rpc.rs` | answers of a small RPC server over TCP (RFC 5531) |
//! | `services.rs` | services that the kernel asks programs for: rpcbind (RFC 1833) and MOUNT (RFC 1813, appendix I) |
//! | `server.rs` | nfsd: its exports and clients, its versions, threads and listener |
//! | `client.rs` | the mount |
//! | `program.rs` | the program that writes or reads files |
//! | `stats.rs` | the kernel's counters of the mount |

mod client;
mod program;
mod rpc;
mod server;
mod services;
mod stats;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use fullpipe_guest::plan::Plan;

use crate::error::{Context, Result};
use crate::layout;
use crate::namespaces::Namespace;

/// Sets up the mounts of the plan. The clients mount at their times, and their programs follow.
pub fn start(plan: &Plan, namespaces: &mut [Namespace]) -> Result<()> {
    if plan.nfs.is_empty() {
        return Ok(());
    }
    let server = plan.receiver_at();
    server::start(plan, &mut namespaces[server])?;
    client::make_directories(plan)?;
    stats::start(plan, &namespaces[server])?;
    for (number, (nfs, connections)) in plan.mounts().enumerate() {
        let client = layout::client_at(plan, nfs);
        let ports = layout::mount_ports(plan, &connections);
        client::prepare(number, nfs, ports, &namespaces[client])?;
        program::start(number, nfs, connections, plan, &namespaces[client])?;
    }
    Ok(())
}

/// Writes a line by one call, as files of /proc want it.
fn write_line(file: impl AsRef<Path>, line: &str) -> Result<()> {
    let (file, line) = (file.as_ref(), format!("{line}\n"));
    let what = || format!("{} to {}", line.trim_end(), file.display());
    let mut open = File::options().write(true).open(file).at(what)?;
    open.write_all(line.as_bytes()).at(what)
}
