//! Files on NFS mounts: their keys, their checks, and the flows that are the mount's connections.
//!
//! Limits:
//! - docs/nfs.md lists what mounts cannot do.

use super::congestion;
use super::copies::copy_names;
use super::format::context::{Context, Place};
use super::format::keys::At;
use super::format::values::{InSize, Quantity, twice};
use super::neighbours;
use super::path::Element;
use super::profile::{self, Kernel};
use super::resolved::{
    App, Datagrams, ENDS, Flow, Host, Hosts, Neighbour, Nfs, NfsOperation, NfsServerReads,
    NfsVersion, Resolved, Station,
};
use super::written::{self, Quickack};
use fullpipe_base::units::Time;
use fullpipe_sim::config::Direction;
use fullpipe_sim::rpc::{Retry, server_buffer_2008, server_send_buffer_2008};
use std::collections::BTreeMap;
use std::ops::Range;

/// A page of memory, bytes: the client's sizes are multiples of it (6.12 `nfs_io_size`).
const PAGE: u64 = 4096;
/// Slots of a session at most (6.12 `NFS4_MAX_SLOT_TABLE`).
const MOST_SESSION_SLOTS: i64 = 1024;

/// Slots that a session asks for by default (6.12 `NFS4_DEF_SLOT_TABLE_SIZE`).
const SESSION_SLOTS: u16 = 64;
/// Slots of a connection of version 3 that a scenario can say; a kernel has one more (6.12 `RPC_MAX_SLOT_TABLE`).
const MOST_SLOTS: u16 = u16::MAX;
/// Payload of the longest READ and WRITE, bytes (6.12 `NFS_MAX_FILE_IO_SIZE`).
const LONGEST_CALL: u32 = 1 << 20;

/// A tenth of a second, ns: the unit of `timeo` (nfs(5)).
const TENTH: u64 = 100_000_000;
/// Wait for an answer over TCP where a mount says none (6.12 `NFS_DEF_TCP_TIMEO`).
pub const TIMEO: Time = Time::secs(60);
/// Longer waits after it where a mount says none (6.12 `NFS_DEF_TCP_RETRANS`).
const RETRANS: u32 = 2;

/// Read-ahead of a client where nothing is set (6.12 `VM_READAHEAD_PAGES`), bytes.
pub const READ_AHEAD: u64 = 128 << 10;
/// Read-ahead of the client of 2008 (`NFS_MAX_READAHEAD`), requests.
const READ_AHEAD_2008: u64 = 15;

/// A time as the mount option `timeo` counts it: tenths of a second.
pub fn tenths(time: Time) -> u64 {
    time.0 / TENTH
}

/// Payload of a mount's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongerCalls {
    /// The mount's option that bounds it: `rsize` or `wsize`.
    pub option: &'static str,
    /// Today's bound, bytes.
    pub today: u32,
    /// The largest bound, bytes.
    pub most: u32,
}

/// The kernel of 2008 with a modelled client and server.
pub const NFS_2008: &str = "2.6.25";

/// The mounts that `run` describes, at `hosts` and at extra hosts. None if any cannot be read.
pub(super) fn resolve(
    run: &written::Run,
    hosts: &Hosts,
    neighbours: &[Neighbour],
    flows: &[Flow],
    datagrams: &[Datagrams],
    cx: &mut Context,
) -> Option<Vec<Nfs>> {
    let Some(written) = &run.nfs else { return Some(Vec::new()) };
    let all = &written.value.0;
    let before = cx.reports();

    // Names and servers are checked over all mounts, then each mount alone.
    names(all, flows, datagrams, cx);
    if all.is_empty() && flows.is_empty() {
        cx.error("missing-key", written.place, "there is neither a flow nor a mount")
            .expected("a [[flow]] or an [[nfs]]");
    }
    one_server(all, cx);
    one_each(all, cx);

    // A mount's client is the sender, or an extra host beside it.
    let resolved = all.iter().map(|own| {
        neighbours::ends_fit([&own.from, &None], Direction::Forward, neighbours, cx);
        let [from, _] = neighbours::named([&own.from, &None]);
        let beside = |name| neighbours.iter().find(|host| Some(&host.name) == name);
        let host = beside(from.as_ref()).map_or(&hosts.sender, |beside| &beside.host);
        one(own, from, profile::kernel(&host.config.kernel)?, cx)
    });
    let resolved: Vec<_> = resolved.collect();

    // Errors of one mount drop all.
    resolved.into_iter().collect::<Option<_>>().filter(|_| cx.reports() == before)
}

/// The connections of all mounts, which elements of a path may name, and the directions of their data.
pub(super) fn connections_of(run: &written::Run) -> Vec<(String, Direction)> {
    let all = run.nfs.iter().flat_map(|at| &at.value.0);
    all.flat_map(|own| {
        let count = own.nconnect.as_ref().map_or(1, |count| count.value.0 as usize);
        let names = own.name.as_ref().map(|name| copy_names(&name.value.0, count));
        let operation = own.operation.as_ref().map_or(NfsOperation::Write, |at| at.value);
        names.into_iter().flatten().map(move |name| (name, operation.direction()))
    })
    .collect()
}

/// Reports server keys in which a mount differs from the first one.
fn one_server(all: &[written::Nfs], cx: &mut Context) {
    // Keys of the server, as text, so that unlike types compare.
    let said = |own: &written::Nfs| {
        let bytes = own.server_buffer.as_ref().map(|at| at.value.0);
        let reads = own.server_reads.as_ref().map(|at| format!("{:?}", at.value));
        [
            ("threads", own.threads.as_ref().map(|at| at.value.0.to_string())),
            ("service", own.service.as_ref().map(|at| at.value.0.to_string())),
            ("server_buffer", bytes.map(|bytes| bytes.to_string())),
            ("server_reads", reads),
            ("export", own.export.as_ref().map(|at| format!("{:?}", at.value))),
            ("memory", own.memory.as_ref().map(|at| at.value.0.to_string())),
        ]
    };
    let Some((first, others)) = all.split_first() else { return };
    for own in others {
        let both = said(own).into_iter().zip(said(first));
        for ((key, _), _) in both.filter(|((_, own), (_, first))| own != first) {
            let message =
                format!("`{key}` differs from that of the first mount; both are of one server");
            cx.error("conflict", own.place, message).expected("the same in all [[nfs]]");
        }
    }
}

/// Reports hosts with two mounts: the kernel's client has the same connections for both.
fn one_each(all: &[written::Nfs], cx: &mut Context) {
    let host = |own: &written::Nfs| {
        let [from, _] = neighbours::named([&own.from, &None]);
        from.unwrap_or_else(|| ENDS[0].into())
    };
    for (at, own) in all.iter().enumerate() {
        if all[..at].iter().any(|other| host(other) == host(own)) {
            let message = format!("host `{}` has another mount", host(own));
            cx.error("conflict", own.place, message).expected(
                "a host of its own: `from` a [[host]] beside the sender; `nconnect` and `files` have several connections and files",
            );
        }
    }
}

/// Reports names that something else has.
fn names(all: &[written::Nfs], flows: &[Flow], datagrams: &[Datagrams], cx: &mut Context) {
    let named = all.iter().filter_map(|own| own.name.as_ref());
    let named: Vec<_> = named.map(|name| (name.value.0.as_str(), name.place)).collect();
    twice(&named, "mounts", cx);
    let taken = flows.iter().map(|flow| &flow.name).chain(datagrams.iter().map(|own| &own.name));
    let taken: Vec<&String> = taken.collect();

    // A mount's connections are flows with numbered names.
    for own in all {
        let (Some(name), Some(count)) = (&own.name, &own.nconnect) else { continue };
        let connections = copy_names(&name.value.0, count.value.0 as usize);
        let mut both = std::iter::once(&name.value.0).chain(&connections);
        if let Some(name) = both.find(|name| taken.contains(name)) {
            let message = format!("a flow or datagrams are named `{name}`, too");
            cx.error("duplicate-name", own.place, message).expected("another name");
        }
    }
}

fn one(own: &written::Nfs, from: Option<String>, kernel: &Kernel, cx: &mut Context) -> Option<Nfs> {
    let version = own.version.as_ref()?.value;
    for (key, size) in [("rsize", &own.rsize), ("wsize", &own.wsize)] {
        pages(key, size.as_ref()?, cx);
    }
    let slots = own.slots.as_ref();

    // The session's slot table bounds version 4.2.
    if let Some(at) =
        slots.filter(|at| version == NfsVersion::V4_2 && number(at) > MOST_SESSION_SLOTS)
    {
        let message = format!("a session of version 4.2 with {} slots", number(at));
        cx.error("out-of-range", at.place, message)
            .expected(format!("at most {MOST_SESSION_SLOTS}"));
    }
    if let Some(at) = &own.readahead {
        whole_kib(at.value.0, at.place, cx);
    }
    let timeo = own.timeo.as_ref();

    // Version 4.2 runs over a reliable session: only version 3 sends again.
    for (key, place) in timeouts(own).filter(|_| version == NfsVersion::V4_2) {
        let message = format!("`{key}` of a mount of version 4.2, which sends no request again");
        cx.error("conflict", place, message).expected("version = \"3\"");
    }

    // `timeo` counts tenths of a second.
    if let Some(at) = timeo.filter(|at| !at.value.0.is_multiple_of(TENTH)) {
        let message = format!("`timeo` of {}", Time::ns(at.value.0));
        cx.error("out-of-range", at.place, message).expected("a multiple of 0.1 s");
    }
    let congestion = own.congestion.as_ref().map(|at| &at.value);
    Some(Nfs {
        timeo: timeo.map(|at| Time::ns(at.value.0)),
        retrans: own.retrans.as_ref().map(|at| at.value.0 as u32),
        name: own.name.as_ref()?.value.0.clone(),
        version,
        from,
        operation: own.operation.as_ref()?.value,
        file: own.file.as_ref()?.value.0,
        files: own.files.as_ref()?.value.0 as u32,
        record: own.record.as_ref()?.value.0 as u32,
        rsize: own.rsize.as_ref()?.value.0 as u32,
        wsize: own.wsize.as_ref()?.value.0 as u32,
        slots: slots.map(|at| number(at) as u16),
        nconnect: own.nconnect.as_ref()?.value.0 as u16,
        threads: own.threads.as_ref()?.value.0 as u32,
        service: Time::ns(own.service.as_ref()?.value.0),
        server_buffer: own.server_buffer.as_ref().map(|at| at.value.0).filter(|bytes| *bytes > 0),
        server_reads: own.server_reads.as_ref().map(|at| at.value),
        export: own.export.as_ref()?.value,
        readahead: own.readahead.as_ref().map(|at| at.value.0),
        memory: own.memory.as_ref().map(|at| at.value.0),
        congestion: congestion::resolve(congestion, kernel, cx)?,
        start: Time::ns(own.start.as_ref()?.value.0),
    })
}

/// The keys of timeouts that are written.
fn timeouts(own: &written::Nfs) -> impl Iterator<Item = (&'static str, Place)> {
    let timeo = own.timeo.as_ref().map(|at| ("timeo", at.place));
    let retrans = own.retrans.as_ref().map(|at| ("retrans", at.place));
    timeo.into_iter().chain(retrans)
}

fn number<const MIN: i64, const MAX: i64>(at: &At<super::format::values::Int<MIN, MAX>>) -> i64 {
    at.value.0
}

/// Reports a size that the client would round.
fn pages<const MIN: u64, const MAX: u64>(
    key: &str,
    at: &At<Quantity<InSize, MIN, MAX>>,
    cx: &mut Context,
) {
    if !at.value.0.is_multiple_of(PAGE) {
        cx.error("out-of-range", at.place, format!("`{key}` of {} bytes", at.value.0))
            .expected("a multiple of 4 KiB");
    }
}

fn whole_kib(bytes: u64, place: Place, cx: &mut Context) {
    if !bytes.is_multiple_of(1024) {
        cx.error("out-of-range", place, format!("`readahead` of {bytes} bytes"))
            .expected("a multiple of 1 KiB");
    }
}

impl NfsOperation {
    /// Direction of the data.
    pub fn direction(self) -> Direction {
        match self {
            NfsOperation::Write => Direction::Forward,
            NfsOperation::Read => Direction::Backward,
        }
    }
}

impl Resolved {
    /// The mounts, each with the indices of its connections: the last flows, in order.
    pub fn mounts(&self) -> impl Iterator<Item = (&Nfs, Range<usize>)> {
        let mut next = self.flow.iter().filter(|flow| flow.app != App::Nfs).count();
        self.nfs.iter().map(move |own| {
            let first = next;
            next += usize::from(own.nconnect);
            (own, first..next)
        })
    }

    /// Elements with lists of packets of a mount's connections. The first packets of a connection differ between
    /// engines.
    pub fn lists_of_mounts(&self) -> impl Iterator<Item = (String, &'static str)> {
        let of_mount =
            |name: &str| self.flow.iter().any(|flow| flow.app == App::Nfs && flow.name == name);
        let elements = self.path.forward.iter().chain(&self.path.back);
        let listed = elements.filter(move |element| match element {
            Element::Drop(own) => of_mount(&own.flow),
            Element::Mark(own) => of_mount(&own.flow),
            _ => false,
        });
        let why = "it is a connection of a mount, whose packets no engine loses by number; lose them by chance (kind = \"loss\")";
        listed.map(move |element| (format!("path, element {}, flow", element.name()), why))
    }

    /// The host that has a mount.
    pub fn client(&self, own: &Nfs) -> Station<'_> {
        let beside = self.host.iter().find(|host| Some(&host.name) == own.from.as_ref());
        let sender =
            Station { name: ENDS[0], direction: Direction::Forward, host: &self.hosts.sender };
        beside.map_or(sender, Neighbour::station)
    }
}

impl Nfs {
    /// When a request is sent again that was not answered; none: never.
    pub fn retry(&self) -> Option<Retry> {
        let (timeo, retrans) = (self.timeo.unwrap_or(TIMEO), self.retrans.unwrap_or(RETRANS));
        (self.version == NfsVersion::V3).then_some(Retry { timeo, retrans })
    }

    /// Bytes of a file that the page cache of its client reads ahead, by the profile of the client's kernel.
    pub fn read_ahead(&self, kernel: &str) -> u64 {
        // The old kernel bounds its read-ahead in requests, later ones in bytes.
        self.readahead.unwrap_or(match kernel {
            NFS_2008 => READ_AHEAD_2008 * u64::from(self.rsize),
            _ => READ_AHEAD,
        })
    }

    /// The mount's connections. Their data is forward where the file is written, and backward where it is read.
    pub(super) fn connections(&self) -> impl Iterator<Item = Flow> {
        let names = copy_names(&self.name, self.nconnect.into());
        names.into_iter().map(move |name| self.connection(name))
    }

    /// A connection of the mount, as a flow of this name.
    fn connection(&self, name: String) -> Flow {
        Flow {
            name,
            // A write's data goes from the client, a read's comes to it.
            direction: self.operation.direction(),
            from: self.from.clone().filter(|_| self.operation == NfsOperation::Write),
            to: self.from.clone().filter(|_| self.operation == NfsOperation::Read),
            reply_to: None,
            congestion: self.congestion.clone(),
            slow_start: None,
            sndbuf: None,
            rcvbuf: None,
            sockopt: BTreeMap::new(),
            receiver_sockopt: BTreeMap::new(),
            quickack: Quickack::Once,
            start: self.start,
            after: None,
            duration: None,
            bytes: None,
            app: App::Nfs,
            write: self.record,
            reader: None,
        }
    }

    /// Buffers that the server requests for a socket to send and to receive, bytes before the kernel doubles them;
    /// none: the kernel tunes them. The rule is that of the setting that was proposed in 2008: no more than sysctls
    /// allow, no less than the threads need.
    pub fn server_buffers(&self, server: &Host) -> [Option<u64>; 2] {
        let payload = self.rsize.max(self.wsize).into();
        let needed = [server_send_buffer_2008(payload, self.threads), server_buffer_2008(payload)];
        let sysctl = &server.config.sysctl;
        let most = [sysctl.wmem_max, sysctl.rmem_max];
        let old = server.config.kernel == NFS_2008;
        [0, 1].map(|end| match self.server_buffer {
            Some(bytes) => Some(bytes.min(most[end]).max(needed[end])),
            None => Some(needed[end]).filter(|_| old),
        })
    }

    /// Way in which that server takes requests.
    pub fn reads_of(&self, server: &Host) -> NfsServerReads {
        self.server_reads.unwrap_or(match server.config.kernel.as_str() {
            NFS_2008 => NfsServerReads::WholeRecords,
            _ => NfsServerReads::AsTheyCome,
        })
    }

    /// Payload of the mount's calls; none where they have the most already.
    pub fn longer_calls(&self) -> Option<LongerCalls> {
        let (option, today) = match self.operation {
            NfsOperation::Read => ("rsize", self.rsize),
            NfsOperation::Write => ("wsize", self.wsize),
        };
        (today < LONGEST_CALL).then_some(LongerCalls { option, today, most: LONGEST_CALL })
    }

    /// Slots of a kernel where nothing is set; none where the mount has as many.
    pub fn more_slots(&self) -> Option<u16> {
        let usual = match self.version {
            NfsVersion::V3 => MOST_SLOTS,
            NfsVersion::V4_2 => SESSION_SLOTS,
        };
        self.slots.is_some_and(|slots| slots < usual).then_some(usual)
    }

    /// Name of the host that mounts it.
    pub fn host(&self) -> &str {
        self.from.as_deref().unwrap_or(ENDS[0])
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.file.saturating_mul(self.files.into())
    }
}
