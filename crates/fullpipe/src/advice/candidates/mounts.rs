//! Remedies for the limits of NFS mounts: connections, read-ahead, and calls.

use super::super::case::Case;
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use crate::analysis::words;
use crate::scenario::{LongerCalls, Nfs, NfsOperation, NfsVersion, TIMEO, tenths};
use crate::sizing::sizes;
use serde_json::Value as Json;

/// Name of the option, and of the key.
const NCONNECT: &str = "nconnect";
/// Name of the setting of a server's threads.
pub const THREADS: &str = "nfsd threads";
/// Most connections of a mount (`nconnect` of Linux).
pub const MOST_CONNECTIONS: u32 = 16;
/// Largest read-ahead of a scenario, bytes.
const MOST_READ_AHEAD: u64 = 1 << 30;

/// Factor on a read-ahead that suffices by arithmetic.
const MORE_READ_AHEAD: u64 = 4;

/// Factor on the threads of a server, and their largest number.
const MORE_THREADS: u32 = 4;
const MOST_THREADS: u32 = 1024;

/// The usual wait for an answer, of mounts that wait for less.
pub fn patience(case: &Case) -> Vec<Change> {
    case.today
        .nfs
        .iter()
        .filter_map(|mount| {
            let today = mount.timeo.filter(|timeo| *timeo < TIMEO)?;
            let how = How::Mount { words: format!("timeo={}", tenths(TIMEO)) };
            let change = Change::new("timeo", &mount.name, Scope::Application, how)
                .rank(Rank::Cosmetic)
                .values(tenths(today), tenths(TIMEO))
                .why("a call that is sent again before its answer comes is answered twice")
                .edits([of_mount(mount, "timeo", TIMEO.to_string())]);
            Some(change)
        })
        .collect()
}

/// `count` connections for each mount that has fewer.
pub fn more_connections(case: &Case, count: u32) -> Vec<Change> {
    let fewer = case.today.nfs.iter().filter(|own| u32::from(own.nconnect) < count);
    fewer.map(|own| nconnect(own, count)).collect()
}

/// Numbers of connections that are tried for mounts: Linux allows a mount more of them than advice tries for a program.
pub fn also_tried(case: &Case) -> &'static [u32] {
    if case.today.nfs.is_empty() { &[] } else { &[MOST_CONNECTIONS] }
}

/// Connections of a mount.
fn nconnect(mount: &Nfs, count: u32) -> Change {
    let count = count.min(MOST_CONNECTIONS);
    let how = How::Mount { words: format!("nconnect={count}") };
    Change::new(NCONNECT, &mount.name, Scope::Application, how)
        .rank(Rank::Method)
        .values(mount.nconnect, count)
        .why("requests go over several connections, each with a window of its own")
        .edits([of_mount(mount, NCONNECT, count)])
}

/// The mount with a connection of that name; none of other flows.
pub fn of_connection<'a>(case: &'a Case, flow: &str) -> Option<&'a Nfs> {
    let run = &case.today;
    let at = run.flow.iter().position(|own| own.name == flow)?;
    run.mounts().find(|(_, own)| own.contains(&at)).map(|(mount, _)| mount)
}

/// The congestion control of a mount's connections.
pub fn congestion(mount: &Nfs, name: &str) -> Edit {
    of_mount(mount, "congestion", name)
}

/// A larger read-ahead of each mount: one that fills the path, however long the server works on a call, with the connections that
/// the mount has or that `accepted` changes give it.
pub fn read_ahead(case: &Case, accepted: &[Change]) -> Vec<Change> {
    // The largest window of the mount's connections covers the path.
    let window = case.flows.iter().filter_map(|flow| flow.alone).map(|own| own.window).max();
    let change = |mount: &Nfs| {
        let needed = sizes::read_ahead(&sizes::Reading {
            window: window.unwrap_or(0),
            round_trip: case.round_trip,
            service: mount.service,
            call: mount.rsize,
            connections: connections(mount, accepted),
            bytes: mount.bytes(),
        });
        let today = mount.read_ahead(case.today.client(mount).host.config.kernel.as_str());
        // A run may show that what suffices by arithmetic holds the mount all the same.
        let needed = if needed > today { needed } else { today.saturating_mul(MORE_READ_AHEAD) };
        let value = needed.min(MOST_READ_AHEAD).min(mount.bytes().next_multiple_of(1 << 10));
        let file = "/sys/class/bdi/$(mountpoint -d DIRECTORY)/read_ahead_kb";
        let [from, to] = [today, value].map(|bytes| bytes >> 10);
        let words = format!(
            "read_ahead_kb of the mount to {to}, after each mount: echo {to} > {file} (undo: echo {from} > {file})"
        );
        let change =
            Change::new("read_ahead_kb", &mount.name, Scope::Application, How::Program { words })
                .rank(Rank::Size)
                .values(from, to)
                .why("the page cache asks for no more of a file at a time than this")
                .edits([of_mount(mount, "readahead", format!("{value}B"))]);

        // A read-ahead never shrinks: local disks may need it.
        (today < value).then_some(change)
    };
    case.today
        .nfs
        .iter()
        .filter(|own| own.operation == NfsOperation::Read)
        .filter_map(change)
        .collect()
}

/// Connections of a mount, with the changes.
fn connections(mount: &Nfs, changes: &[Change]) -> u32 {
    let own = changes.iter().find(|own| own.setting == NCONNECT && own.whose == mount.name);
    own.and_then(|own| own.advised.parse().ok()).unwrap_or(u32::from(mount.nconnect))
}

/// Lists to try where all calls of a mount are outstanding: longer calls, more calls, and both.
pub fn calls(case: &Case) -> Vec<Vec<Change>> {
    let longer: Vec<Change> = case.today.nfs.iter().filter_map(longer_calls).collect();
    let more: Vec<Change> = case.today.nfs.iter().filter_map(more_calls).collect();
    let both = [longer.clone(), more.clone()].concat();

    let mut all = vec![longer, more];
    if all.iter().all(|list| !list.is_empty()) {
        all.push(both);
    }
    all
}

/// More threads of a server where all are busy: as many as answer calls at the path's rate, four times as many at least.
pub fn threads(case: &Case) -> Vec<Change> {
    // Mounts have one server, so its threads change in all of them.
    let Some(mount) = case.today.nfs.first() else { return Vec::new() };
    let from = mount.threads;
    // Each thread answers one call in the server's time for it.
    let calls_per_s =
        case.allowed_mbit().map_or(0.0, |mbit| mbit * 1e6 / 8.0 / f64::from(call_bytes(mount)));
    let busy = (calls_per_s * mount.service.as_secs_f64()).ceil() as u32;
    let to = from.saturating_mul(MORE_THREADS).max(busy).min(MOST_THREADS);
    if from >= to {
        return Vec::new();
    }
    let words = format!("nfsd threads = {to}: rpc.nfsd {to} (undo: rpc.nfsd {from})");
    let scope = match mount.operation {
        NfsOperation::Read => Scope::Sender,
        NfsOperation::Write => Scope::Receiver,
    };
    let change = Change::new(THREADS, "receiver", scope, How::Program { words })
        .rank(Rank::Size)
        .values(from, to)
        .why("calls wait for a thread of the server")
        .edits(case.today.nfs.iter().map(|own| of_mount(own, "threads", to)));
    vec![change]
}

/// Data of a full call of a mount, bytes, at least 1.
fn call_bytes(mount: &Nfs) -> u32 {
    let size = match mount.operation {
        NfsOperation::Read => mount.rsize,
        NfsOperation::Write => mount.wsize,
    };
    size.max(1)
}

/// Calls of a mount that are as long as Linux allows.
fn longer_calls(mount: &Nfs) -> Option<Change> {
    let LongerCalls { option, today, most } = mount.longer_calls()?;
    let how = How::Mount { words: format!("{option}={most}") };
    let [from, to] = [today, most].map(|bytes| words::bytes(bytes.into()));
    let why = "a slot holds one call, and a longer call carries more in a round trip; a server may allow less";
    Some(
        Change::new(option, &mount.name, Scope::Application, how)
            .rank(Rank::Size)
            .values(from, to)
            .why(why)
            .edits([of_mount(mount, option, format!("{most}B"))]),
    )
}

/// As many concurrent calls of a mount as Linux has by default.
fn more_calls(mount: &Nfs) -> Option<Change> {
    let most = mount.more_slots()?;
    let today = mount.slots.unwrap_or(most);
    let setting = match mount.version {
        NfsVersion::V3 => "sunrpc.tcp_max_slot_table_entries",
        NfsVersion::V4_2 => "nfs.max_session_slots",
    };
    let (module, parameter) = setting.split_once('.').unwrap_or_default();

    // Module parameters need a new mount, so the undo needs one, too.
    let words = format!(
        "{setting} = {most}: echo \"options {module} {parameter}={most}\" > /etc/modprobe.d/fullpipe-{module}.conf; \
         echo {most} > /sys/module/{module}/parameters/{parameter}; umount and mount anew \
         (undo: rm that file, echo {today}, mount anew)"
    );

    // The client receives what it reads, and sends what it writes.
    let scope = match mount.operation {
        NfsOperation::Read => Scope::Receiver,
        NfsOperation::Write => Scope::Sender,
    };
    let why =
        "all calls that the client allows are under way; a server of version 4.2 may grant fewer";
    Some(
        Change::new(setting, mount.host(), scope, How::Program { words })
            .rank(Rank::Size)
            .values(today, most)
            .why(why)
            .edits([of_mount(mount, "slots", most)]),
    )
}

/// A key of a mount gets a value.
fn of_mount(mount: &Nfs, key: &str, value: impl Into<Json>) -> Edit {
    let key = ["nfs", &mount.name, key].map(str::to_string).to_vec();
    Edit::Set { key, value: Some(value.into()) }
}
