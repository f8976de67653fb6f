//! nfsd in the receiver's namespace, set up through its own file system below /proc (fs/nfsd/nfsctl.c), and its caches
//! of exports and clients (fs/nfsd/export.c, net/sunrpc/svcauth_unix.c). The caches' entries never expire, so the
//! kernel asks no program.

use std::fs::File;
use std::io::{Read, Write};

use fullpipe_guest::plan::{Nfs, NfsVersion, Plan};

use super::{services, write_line};
use crate::error::{Context, Error, Result};
use crate::layout;
use crate::namespaces::Namespace;
use crate::sys;

/// Where the exported file system is, in the guest's root.
pub const EXPORT: &str = "/tmp";
const NFSD: &str = "/proc/fs/nfsd";
/// Caches of the caller's namespace.
const CACHES: &str = "/proc/thread-self/net/rpc";
/// Name of all clients.
const DOMAIN: &str = "fullpipe";
/// Expiry of the caches' entries, s since 1970: not during a run.
const NEVER: u32 = i32::MAX as u32;
/// User and group that the server gives to unknown callers: nobody and nogroup.
const NOBODY: u32 = 65_534;
/// Most bytes of a READ or WRITE (6.12 `NFSSVC_MAXBLKSIZE`); with less than 4 GiB of memory nfsd would take fewer.
const LARGEST: u32 = 1 << 20;
/// Time for which nfsd waits for clients of an earlier life to reclaim open files, s: the least that it takes.
const GRACE_S: &str = "10";
/// Bytes of one write of a file that the server has before.
const FILL: usize = 1 << 20;

/// Flags of an export (include/uapi/linux/nfsd/export.h): any port of a client, data later than the answer, two writes
/// gathered, no look at the directories above a file, a number instead of a device.
mod flag {
    pub const INSECURE_PORT: u32 = 0x2;
    pub const ASYNC: u32 = 0x10;
    pub const GATHERED_WRITES: u32 = 0x20;
    pub const NOSUBTREECHECK: u32 = 0x400;
    pub const FSID: u32 = 0x2000;
}

/// Starts the server of the plan's mounts, which all say the same of it.
pub fn start(plan: &Plan, namespace: &mut Namespace) -> Result<()> {
    let Some(nfs) = plan.nfs.first() else { return Ok(()) };
    namespace.enter()?;
    let options = "size=100%,mode=777";
    sys::mount_with("tmpfs", "tmpfs", EXPORT, options).at(|| "the exported file system")?;
    for (client, nfs) in plan.nfs.iter().enumerate().filter(|(_, nfs)| nfs.reads) {
        (0..nfs.files).try_for_each(|number| fill(&name(client, number), nfs.file))?;
    }
    services::start_rpcbind(namespace)?;
    let missing = "mounting the file system of nfsd; this kernel may be one without NFS";
    sys::mount("nfsd", NFSD).at(|| missing)?;
    export(nfs, plan)?;
    if plan.nfs.iter().any(|nfs| nfs.version == NfsVersion::V3) {
        services::start_mount(root()?, namespace)?;
    }

    // nfsd takes these settings only while it has no threads, so the threads come last.
    control("max_block_size", &LARGEST.to_string())?;
    control("versions", "+3 +4 +4.1 +4.2")?;
    control("nfsv4gracetime", GRACE_S)?;
    control("portlist", &format!("tcp {}", layout::NFS_PORT))?;
    control("threads", &nfs.threads.to_string())
}

/// Name of the file of that number of a client.
pub fn name(client: usize, number: u32) -> String {
    format!("file-{client}-{number}")
}

fn control(file: &str, line: &str) -> Result<()> {
    write_line(format!("{NFSD}/{file}"), line)
}

/// A file of zeros.
fn fill(name: &str, bytes: u64) -> Result<()> {
    let name = format!("{EXPORT}/{name}");
    let mut file = File::create(&name).at(|| name.clone())?;
    let (zeros, mut left) = (vec![0; FILL], bytes);
    while left > 0 {
        let write = left.min(FILL as u64);
        file.write_all(&zeros[..write as usize]).at(|| name.clone())?;
        left -= write;
    }
    Ok(())
}

/// Writes into the caches that every client of this path is one domain, and the permissions of that domain on the
/// export.
fn export(nfs: &Nfs, plan: &Plan) -> Result<()> {
    let later = if nfs.sync { flag::GATHERED_WRITES } else { flag::ASYNC };
    let flags = flag::INSECURE_PORT | flag::NOSUBTREECHECK | flag::FSID | later;
    let client = |nfs| format!("nfsd {} {NEVER} {DOMAIN}", layout::client(plan, nfs));
    let clients = plan.nfs.iter().map(|nfs| ("auth.unix.ip", client(nfs)));
    let lines = [
        ("nfsd.export", format!("{DOMAIN} {EXPORT} {NEVER} {flags} {NOBODY} {NOBODY} 0")),
        // The export of number 0 (FSID_NUM, type 1) is the root that version 4 shows.
        ("nfsd.fh", format!("{DOMAIN} 1 \\x00000000 {NEVER} {EXPORT}")),
    ];
    let mut lines = clients.chain(lines);
    lines.try_for_each(|(cache, line)| write_line(format!("{CACHES}/{cache}/channel"), &line))
}

/// The handle of the export's root.
fn root() -> Result<Vec<u8>> {
    const FILE: &str = "/proc/fs/nfsd/filehandle";
    /// Longest handle of version 3, bytes.
    const LONGEST: usize = 64;
    let mut file = File::options().read(true).write(true).open(FILE).at(|| FILE)?;
    file.write_all(format!("{DOMAIN} {EXPORT} {LONGEST}\n").as_bytes()).at(|| FILE)?;
    let mut text = String::new();
    file.read_to_string(&mut text).at(|| FILE)?;
    from_hex(&text).ok_or_else(|| Error::new(FILE, format!("says {text:?}")))
}

/// Bytes of a word as caches write them: `\x` and hexadecimal digits.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end().strip_prefix("\\x")?.as_bytes();
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    digits.chunks(2).map(|two| Some(digit(two[0])? << 4 | digit(*two.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_hexadecimal() {
        assert_eq!(from_hex("\\x0100fa\n"), Some(vec![1, 0, 0xfa]));
        for wrong in ["0100", "\\x010", "\\xzz"] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }
}
