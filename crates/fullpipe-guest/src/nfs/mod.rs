//! The kernel's own NFS server and client, without the programs that a distribution puts around them.
//!
//! | file | concern |
//! |---|---|
//! | `rpc.rs` | answers of a small RPC server over TCP (RFC 5531) |
//! | `services.rs` | what the kernel asks programs for: rpcbind (RFC 1833) and MOUNT (RFC 1813, appendix I) |
//! | `server.rs` | nfsd: what it exports to whom, its versions, threads and listener |
//! | `client.rs` | the mount |
//! | `program.rs` | the program that writes or reads files |
//! | `stats.rs` | what the kernel counts of the mount |

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
use crate::namespaces::Namespace;

/// Sets up what the plan mounts. The client mounts it when it is time, and its program goes on from there.
pub fn start(plan: &Plan, namespaces: &mut [Namespace]) -> Result<()> {
    let Some(nfs) = &plan.nfs else { return Ok(()) };
    let last = namespaces.len() - 1;
    server::start(nfs, &mut namespaces[last])?;
    stats::start(plan, &namespaces[last])?;
    client::prepare(nfs, plan, &namespaces[0])?;
    program::start(nfs, plan, &namespaces[0])
}

/// Writes a line by one call, as files of /proc want it.
fn tell(file: impl AsRef<Path>, line: &str) -> Result<()> {
    let (file, line) = (file.as_ref(), format!("{line}\n"));
    let what = || format!("{} to {}", line.trim_end(), file.display());
    let mut open = File::options().write(true).open(file).at(what)?;
    open.write_all(line.as_bytes()).at(what)
}
