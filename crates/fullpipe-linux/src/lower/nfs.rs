//! Plan of a mount for the guest, and keys that it cannot do.

use super::{Answers, refused};
use crate::kernel::Family;
use fullpipe_base::units::Time;
use fullpipe_guest::plan;
use fullpipe_scenario::memory;
use fullpipe_scenario::{
    Nfs, NfsExport, NfsOperation, NfsServerReads, NfsVersion, Resolved, tenths,
};

/// Congestion controls that a namespace may have by sysctl (6.12 `tcp_set_default_congestion_control`: the unrestricted
/// ones).
const ALLOWED: [&str; 2] = ["reno", "cubic"];
/// Memory of a kernel without files, MiB.
const KERNEL_MIB: u64 = 256;
/// Most memory for files, MiB.
const MOST_MIB: u64 = 6 << 10;

/// The keys of mounts that are not done.
pub(super) fn answers(run: &Resolved, family: Family, answers: &mut Answers) {
    answers.extend(run.lists_of_mounts().map(|(key, why)| refused(&key, why)));
    alike(run, answers);
    for own in &run.nfs {
        if family != Family::V6_12 {
            let why =
                format!("a kernel with NFS is made of Linux 6.12 alone, and this is {family}");
            answers.push(refused("nfs", &why));
        }
        for (key, set) in [
            ("server_buffer", own.server_buffer.is_some()),
            ("server_reads", own.server_reads == Some(NfsServerReads::WholeRecords)),
        ] {
            if set {
                let why = "a server of 2008 runs on the simulator alone (--engine sim)";
                answers.push(refused(&format!("nfs.{}.{key}", own.name), why));
            }
        }
        if own.service > Time::ZERO {
            let why = "files of a genuine server are in memory, which takes no time; run it with --engine sim";
            answers.push(refused(&format!("nfs.{}.service", own.name), why));
        }
        if !ALLOWED.contains(&own.congestion.name.as_str()) {
            let why =
                "the hosts of a mount are namespaces, which Linux allows reno and cubic alone";
            answers.push(refused(&format!("nfs.{}.congestion", own.name), why));
        }
    }
    memory(run, answers);
}

/// Checks the kernel's memory for files; all hosts share it.
fn memory(run: &Resolved, answers: &mut Answers) {
    // Each file is in memory at its client and at the server.
    let files = run.nfs.iter().map(|own| (own.bytes() >> 20).saturating_add(1));
    let least = files.fold(0, u64::saturating_add).saturating_mul(memory::COPIES) + KERNEL_MIB;
    let Some(own) = run.nfs.first() else { return };
    if own.memory.is_some_and(|bytes| bytes >> 20 < least) {
        let why =
            format!("a client and the server have a copy of each file, which takes {least} MiB");
        answers.push(refused(&format!("nfs.{}.memory", own.name), &why));
    }
    if run.nfs.iter().map(memory::of_files_mib).fold(0, u64::saturating_add) > MOST_MIB {
        let bytes = run.nfs.iter().map(Nfs::bytes).fold(0, u64::saturating_add);
        let most = MOST_MIB / (memory::COPIES * memory::ROOM);
        let why = format!("files of {bytes} bytes; a guest has memory for {most} MiB of them");
        answers.push(refused(&format!("nfs.{}.file", own.name), &why));
    }
}

/// Checks settings that all mounts of one kernel share: the congestion control, and slots by version, because versions
/// have different knobs.
fn alike(run: &Resolved, answers: &mut Answers) {
    let mut differs = |own: &Nfs, key: &str, other: &Nfs| {
        let why = format!("the clients of all mounts are of one kernel: as with `{}`", other.name);
        answers.push(refused(&format!("nfs.{}.{key}", own.name), &why));
    };
    for (at, own) in run.nfs.iter().enumerate() {
        let before = &run.nfs[..at];

        // Each mount is compared with those before it, so that the message can name one.
        let of_version = before.iter().find(|other| other.version == own.version);
        if let Some(other) = of_version.filter(|other| other.slots != own.slots) {
            differs(own, "slots", other);
        }
        if let Some(other) = before.first().filter(|other| other.congestion != own.congestion) {
            differs(own, "congestion", other);
        }
    }
}

/// The plan of the guest for a mount.
pub(super) fn mount(own: &Nfs, run: &Resolved) -> plan::Nfs {
    plan::Nfs {
        beside: run.host.iter().position(|host| Some(&host.name) == own.from.as_ref()),
        version: match own.version {
            NfsVersion::V3 => plan::NfsVersion::V3,
            NfsVersion::V4_2 => plan::NfsVersion::V4_2,
        },
        reads: own.operation == NfsOperation::Read,
        files: own.files,
        file: own.file,
        record: own.record,
        rsize: own.rsize,
        wsize: own.wsize,
        slots: own.slots,
        threads: own.threads,
        connections: own.nconnect,
        sync: own.export == NfsExport::Sync,
        timeo: own.timeo.map(|time| tenths(time) as u32),
        retrans: own.retrans,
        readahead_kib: own.readahead.map(|bytes| (bytes >> 10) as u32),
        start_ns: own.start.0,
        congestion: own.congestion.name.clone(),
    }
}

/// sysctls of all hosts, alike: the kernel's own sockets take them from their namespace.
pub(super) fn sysctl(run: &Resolved) -> impl Iterator<Item = (String, String)> {
    run.nfs
        .first()
        .map(|own| ("net/ipv4/tcp_congestion_control".into(), own.congestion.name.clone()))
        .into_iter()
}
