//! The settings: those of today's kernel, and those for a path.

use super::Question;
use crate::numbers;
pub use crate::plan::Reason;
use crate::response;
use crate::scenario::{NfsVersion, READ_AHEAD};
pub use crate::sizing::sizes::Buffers;
use crate::sizing::window::{self, Window};
use fullpipe_sim::rpc::nfs4;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest READ and WRITE, bytes (6.12 `NFSSVC_MAXBLKSIZE`).
pub const LARGEST_REQUEST: u64 = 1 << 20;
/// Most connections of a mount (6.12 `NFS_MAX_CONNECTIONS`).
pub const MOST_CONNECTIONS: u64 = 16;
/// Slots that a client asks of a session where nothing is set (6.12 `NFS4_DEF_SLOT_TABLE_SIZE`).
const SESSION_SLOTS: u64 = 64;
/// Slots that a server grants a session at most.
pub const MOST_SESSION_SLOTS: u64 = nfs4::SESSION_SLOTS as u64;
/// Slots of a connection of version 3 where nothing is set (6.12 `RPC_MAX_SLOT_TABLE`).
const CONNECTION_SLOTS: u64 = 65536;
/// Threads of nfsd where nothing is set (6.12 `nfsd_nrthreads`; nfs-utils had 8 up to 2.6, 16 since).
const THREADS: u64 = 8;
/// Largest buffers of a socket where nothing is set, bytes: of receiving and of sending (6.12 `tcp_init`, 4 GiB or more).
const BUFFERS: Buffers = Buffers { receive: 6 << 20, send: 4 << 20 };

/// All that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// `rsize` and `wsize` of the mount, bytes.
    pub size: u64,
    /// `nconnect` of the mount.
    pub nconnect: u64,
    /// Slots that are asked for: of a connection (version 3) or of the session (4.2).
    pub slots: u64,
    /// How far the client reads ahead, bytes.
    pub readahead: u64,
    /// Threads of the server.
    pub threads: u64,
    /// Buffers of the client.
    pub client: Buffers,
    /// Buffers of the server.
    pub server: Buffers,
}

/// Settings of the kernel by default.
pub fn today(q: &Question) -> Settings {
    Settings {
        size: largest_request(q.server_memory),
        nconnect: 1,
        slots: default_slots(q.version),
        readahead: READ_AHEAD,
        threads: THREADS,
        client: BUFFERS,
        server: BUFFERS,
    }
}

/// Largest request that a server with `memory` bytes takes by default: a 4096th of it, a power of two (6.12
/// `nfsd_get_default_max_blksize`).
fn largest_request(memory: u64) -> u64 {
    let mut size = LARGEST_REQUEST;
    while size > memory >> 12 && size >= 16 << 10 {
        size /= 2;
    }
    size
}

pub(super) fn default_slots(version: NfsVersion) -> u64 {
    match version {
        NfsVersion::V3 => CONNECTION_SLOTS,
        NfsVersion::V4_2 => SESSION_SLOTS,
    }
}

/// Settings that fill the path, their reasons, and the limits that they cannot mend.
pub fn planned(q: &Question, window: &Window) -> (Settings, Vec<Reason>, Vec<String>) {
    let today = today(q);
    let size = today.size;
    let needed = under_way(q, window, size);
    let kept = kept(q, window);
    // Windows that losses cut vary: twice the mean, and as many connections as hold twice the path's bytes.
    let lossy = q.loss > 0.0;

    // Shifting by one doubles the need on lossy paths.
    let nconnect = (needed << u32::from(lossy)).div_ceil(kept).min(MOST_CONNECTIONS);
    let most = if lossy { (2 * kept).min(needed) } else { 0 };

    // Each connection carries its part, or a cut window's peak.
    let own = window::buffers(&q.path, needed.div_ceil(nconnect).max(most).min(window.bytes));
    let buffers = Buffers {
        receive: own.receive_bytes.max(BUFFERS.receive),
        send: own.send_bytes.max(BUFFERS.send),
    };

    // One more request than the path holds, so that one is always on its way.
    let requests = needed.div_ceil(size) + 1;
    let settings = Settings {
        size,
        nconnect,
        slots: today.slots,
        readahead: readahead(requests, size, lossy),
        threads: threads(q, size),
        client: buffers,
        server: buffers,
    };
    let bounds = bounds(q, window, &settings, needed);
    (settings, reasons(q, window, needed, [&today, &settings]), bounds)
}

/// Read-ahead: what is in flight, and a request. It is twice that where one connection may lag behind others, as a
/// program reads in order.
fn readahead(requests: u64, size: u64, lossy: bool) -> u64 {
    ((requests * size) << u32::from(lossy)).max(READ_AHEAD)
}

/// Bytes that one connection keeps in flight: its largest window, or the mean window that losses leave to CUBIC.
fn kept(q: &Question, window: &Window) -> u64 {
    if q.loss == 0.0 {
        return window.bytes;
    }
    let packets = response::cubic_window(q.loss, q.path.rtt.as_secs_f64());
    ((packets * f64::from(q.path.mss())) as u64).clamp(1, window.bytes)
}

/// Bytes of requests that can be in flight: as much as the path holds, or as the slots allow.
fn under_way(q: &Question, window: &Window, size: u64) -> u64 {
    match q.version {
        NfsVersion::V3 => window.needed_bytes,
        NfsVersion::V4_2 => window.needed_bytes.min(MOST_SESSION_SLOTS * size),
    }
}

/// Threads of the server: one for each request that arrives while the server works on one. Requests of far and near
/// clients count; the line of the near clients may be as fast.
fn threads(q: &Question, size: u64) -> u64 {
    let lines = 1 + u32::from(q.near > 0);
    let per_second = q.path.rate.0 as f64 / 8.0 / size as f64 * f64::from(lines);
    let busy = (per_second * q.service.as_secs_f64()).ceil() as u64;
    (busy + u64::from(lines)).max(THREADS)
}

fn bounds(q: &Question, window: &Window, settings: &Settings, under_way: u64) -> Vec<String> {
    let mut bounds = Vec::new();
    let carried = settings.nconnect * kept(q, window);

    // Too few connections, or too few slots: neither can be raised further.
    if carried < under_way {
        let most = numbers::fixed(mbit(q, carried), 0);
        let window =
            if q.loss > 0.0 { "CUBIC's mean window at these losses" } else { "the largest window" };
        bounds.push(format!("{MOST_CONNECTIONS} connections of {window} carry {most} Mb/s"));
    }
    if under_way < window.needed_bytes {
        let most = numbers::fixed(mbit(q, under_way), 0);
        bounds.push(format!(
            "nfsd grants a session {MOST_SESSION_SLOTS} slots at most, which carry {most} Mb/s; version 3 has as many as it needs"
        ));
    }
    bounds
}

fn reasons(
    q: &Question,
    window: &Window,
    needed: u64,
    [today, planned]: [&Settings; 2],
) -> Vec<Reason> {
    let (under_way, requests) = (bytes(needed), needed.div_ceil(planned.size));
    let of = |setting: &str, read: fn(&Settings) -> u64, why: String| Reason {
        setting: setting.into(),
        today: read(today).to_string(),
        planned: read(planned).to_string(),
        why,
    };
    let buffer = |end: &str, name: &str, what: &str, read: fn(&Settings) -> u64| {
        let why = format!("{what}: {under_way} under way, and the kernel's own share of a buffer");
        of(&format!("{end} net.ipv4.{name}"), read, why)
    };
    let slots = match q.version {
        NfsVersion::V3 => "client sunrpc.tcp_max_slot_table_entries",
        NfsVersion::V4_2 => "client nfs.max_session_slots",
    };
    vec![
        of("rsize, wsize", |s| s.size, size_reason(planned.size)),
        of("nconnect", |s| s.nconnect, connections_reason(q, planned.nconnect, window)),
        of(slots, |s| s.slots, slots_reason(q.version, requests)),
        of(
            "client read_ahead_kb, bytes",
            |s| s.readahead,
            format!(
                "reads: so much has to be asked for before it is read, {under_way} and a request"
            ),
        ),
        of("server threads", |s| s.threads, threads_reason(q)),
        buffer("client", "tcp_wmem", "writes", |s| s.client.send),
        buffer("server", "tcp_rmem", "writes", |s| s.server.receive),
        buffer("server", "tcp_wmem", "reads", |s| s.server.send),
        buffer("client", "tcp_rmem", "reads", |s| s.client.receive),
    ]
}

fn slots_reason(version: NfsVersion, requests: u64) -> String {
    match version {
        NfsVersion::V3 => format!("{requests} requests are under way, and one that is answered"),
        NfsVersion::V4_2 => {
            format!("{requests} requests are under way; nfsd grants {MOST_SESSION_SLOTS} at most")
        }
    }
}

fn size_reason(size: u64) -> String {
    match size == LARGEST_REQUEST {
        true => "the largest that there is: fewer requests fill the path".into(),
        false => {
            "a 4096th of the server's memory (/proc/fs/nfsd/max_block_size makes it larger)".into()
        }
    }
}

fn connections_reason(q: &Question, nconnect: u64, window: &Window) -> String {
    if q.loss > 0.0 {
        let most = numbers::fixed(mbit(q, kept(q, window)), 1);
        let loss = numbers::short(q.loss * 100.0);
        return format!(
            "with {loss} % of packets lost a connection of CUBIC carries {most} Mb/s (RFC 9438, section 5)"
        );
    }
    match &window.bound {
        None => "one connection can have the whole window".into(),
        Some(bound) => format!("{nconnect} windows; of one: {}", bound.reason),
    }
}

fn threads_reason(q: &Question) -> String {
    let ms = q.service.as_secs_f64() * 1e3;
    format!(
        "those that are at work on a request for {} ms, and one that reads",
        numbers::fixed(ms, 1)
    )
}

/// The rate of `bytes` bytes in each round trip, Mb/s.
fn mbit(q: &Question, bytes: u64) -> f64 {
    bytes as f64 * 8.0 / q.path.rtt.as_secs_f64() / 1e6
}

fn bytes(n: u64) -> String {
    format!("{} bytes", numbers::count(n))
}
