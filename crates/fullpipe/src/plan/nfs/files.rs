//! A plan as the files and commands that put it in force, and as their undo.

use super::settings::Settings;
use super::{KERNEL, Plan, Question};
use crate::advice::files::{File, sysctl::buffers};
use crate::scenario::NfsVersion;

/// Files with the settings that differ from today's; the `mount` options apart.
pub fn files(q: &Question, plan: &Plan) -> Vec<File> {
    let (today, own) = (&plan.today, &plan.settings);
    let ends = [("client", &today.client, &own.client), ("server", &today.server, &own.server)];
    let mut files: Vec<File> = ends
        .into_iter()
        .filter_map(|(host, a, b)| buffers(host, SYSCTLS, KERNEL, *a, *b))
        .collect();
    files.extend(readahead(q, today, own));
    files.extend(threads(today, own));
    files
}

/// The `mount` command.
pub fn mount(q: &Question, own: &Settings) -> String {
    let version = version(q.version);
    let size = own.size;
    let connections = match own.nconnect {
        1 => String::new(),
        n => format!(",nconnect={n}"),
    };
    format!(
        "mount -t nfs -o vers={version},rsize={size},wsize={size}{connections} SERVER:/EXPORT /MNT"
    )
}

pub(super) fn version(version: NfsVersion) -> &'static str {
    match version {
        NfsVersion::V3 => "3",
        NfsVersion::V4_2 => "4.2",
    }
}

/// The file of TCP's settings.
const SYSCTLS: &str = "/etc/sysctl.d/90-fullpipe-nfs.conf";

/// nfs-utils sets the read-ahead of new mounts by a udev rule (`nfsrahead`, nfs.conf(5)).
fn readahead(q: &Question, today: &Settings, own: &Settings) -> Option<File> {
    // nfsrahead has a key for each version.
    let key = match q.version {
        NfsVersion::V3 => "nfs",
        NfsVersion::V4_2 => "nfs4",
    };
    let echo = |bytes: u64| {
        format!(
            "echo {} > /sys/class/bdi/$(mountpoint -d /MNT)/read_ahead_kb",
            bytes.div_ceil(1024)
        )
    };

    // Settings that stay as they are need no file.
    (own.readahead != today.readahead).then(|| File {
        host: "client".into(),
        path: "/etc/nfs.conf".into(),
        save: None,
        text: format!("[nfsrahead]\n{key}={}\n", own.readahead.div_ceil(1024)),
        apply: echo(own.readahead),
        undo: echo(today.readahead),
    })
}

fn threads(today: &Settings, own: &Settings) -> Option<File> {
    (own.threads != today.threads).then(|| File {
        host: "server".into(),
        path: "/etc/nfs.conf".into(),
        save: None,
        text: format!("[nfsd]\nthreads={}\n", own.threads),
        apply: format!("echo {} > /proc/fs/nfsd/threads", own.threads),
        undo: format!("echo {} > /proc/fs/nfsd/threads", today.threads),
    })
}
