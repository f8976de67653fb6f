//! Mounts, each in the namespace of its client, by the kernel's own.

use std::path::Path;

use fullpipe_guest::plan::{Nfs, NfsVersion, Plan};
use fullpipe_guest::refusal::{Role, Whose};

use super::{server, services, write_line};
use crate::error::{Context, Result};
use crate::namespaces::Namespace;
use crate::{layout, sys, sysctl};

/// Where the clients have the file system, in the guest's root.
const MOUNTS: &str = "/run";

/// Mount point of the client of that number.
pub fn directory(number: usize) -> String {
    format!("{MOUNTS}/{number}")
}

/// Makes these directories.
pub fn make_directories(plan: &Plan) -> Result<()> {
    sys::mount("tmpfs", MOUNTS).at(|| MOUNTS)?;
    (0..plan.nfs.len())
        .try_for_each(|number| std::fs::create_dir(directory(number)).at(|| directory(number)))
}

/// Sets the client up before it mounts by connections from the first to the last of these ports.
pub fn prepare(number: usize, nfs: &Nfs, from: [u16; 2], namespace: &Namespace) -> Result<()> {
    namespace.enter()?;
    if number > 0 {
        identify(number)?;
    }
    ports(nfs, from)?;
    slots(nfs)
}

/// Gives the client of this namespace its own identity: a server of version 4 takes two clients of one name for one
/// that has restarted.
fn identify(number: usize) -> Result<()> {
    // The entries belong to the namespace in which it is mounted.
    sys::mount("sysfs", "/sys").at(|| "mounting /sys of a client")?;
    write_line("/sys/fs/nfs/net/nfs_client/identifier", &format!("client-{number}"))
}

/// Arguments of mount(2), and the client's read-ahead after it, KiB.
pub struct Mount {
    kind: &'static str,
    source: String,
    directory: String,
    options: String,
    readahead_kib: Option<u32>,
}

impl Mount {
    /// The mount of the export by the client of that number.
    pub fn new(number: usize, nfs: &Nfs, plan: &Plan) -> Mount {
        let (kind, source) = match nfs.version {
            NfsVersion::V3 => ("nfs", format!("{}:{}", layout::server(plan), server::EXPORT)),
            NfsVersion::V4_2 => ("nfs4", format!("{}:/", layout::server(plan))),
        };
        let (directory, options) = (directory(number), options(nfs, plan));
        Mount { kind, source, directory, options, readahead_kib: nfs.readahead_kib }
    }

    /// Mounts it, from the namespace of the calling thread.
    pub fn mount(&self) -> Result<()> {
        let Mount { kind, source, directory, options, readahead_kib } = self;
        sys::mount_with(kind, source, directory, options)
            .at(|| format!("mounting {source} by {kind} with {options}"))?;
        readahead_kib.map_or(Ok(()), |kib| read_ahead(directory, kib))
    }
}

/// Gives the connections of the mount known ports.
///
/// An odd number of several ports would leave one of them unused (6.12 `__inet_hash_connect` looks at even numbers of
/// ports), so one more is reserved.
fn ports(nfs: &Nfs, [first, last]: [u16; 2]) -> Result<()> {
    let even = first == last || (last - first) % 2 == 1;
    let of = nfs.beside.map_or(Whose::Host(Role::Sender), Whose::Beside);
    if !even {
        sysctl::set(of, "net/ipv4/ip_local_reserved_ports", &(last + 1).to_string())?;
    }
    let last = if even { last } else { last + 1 };
    sysctl::set(of, "net/ipv4/ip_local_port_range", &format!("{first} {last}"))
}

/// Bounds the requests of a connection (v3), or of the session (v4.2).
fn slots(nfs: &Nfs) -> Result<()> {
    let Some(slots) = nfs.slots else { return Ok(()) };
    match nfs.version {
        NfsVersion::V3 => {
            // The first is no more than the second at any time.
            let names = ["tcp_max_slot_table_entries", "tcp_slot_table_entries"];
            names.into_iter().try_for_each(|name| {
                sysctl::set(Whose::Kernel, &format!("sunrpc/{name}"), &slots.to_string())
            })
        }
        NfsVersion::V4_2 => {
            write_line("/sys/module/nfs/parameters/max_session_slots", &slots.to_string())
        }
    }
}

/// Options of mount(2), as in nfs(5).
fn options(nfs: &Nfs, plan: &Plan) -> String {
    let (server, port) = (layout::server(plan), layout::NFS_PORT);
    let version = match nfs.version {
        NfsVersion::V3 => {
            let mount_port = services::MOUNT_PORT;
            format!("vers=3,nolock,mountproto=tcp,mountport={mount_port},mountaddr={server}")
        }
        NfsVersion::V4_2 => format!("vers=4.2,clientaddr={}", layout::client(plan, nfs)),
    };
    let Nfs { rsize, wsize, connections, .. } = nfs;
    let timeouts = [("timeo", nfs.timeo), ("retrans", nfs.retrans)];
    let timeouts = timeouts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let timeouts: String = timeouts.map(|(name, value)| format!(",{name}={value}")).collect();
    format!(
        "{version},addr={server},proto=tcp,port={port},hard,noresvport,sec=sys,rsize={rsize},\
         wsize={wsize},nconnect={connections}{timeouts}"
    )
}

/// Sets the read-ahead of the mount's device.
fn read_ahead(directory: &str, kib: u32) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let device = Path::new(directory).metadata().at(|| directory)?.dev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    write_line(format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb"), &kib.to_string())
}
