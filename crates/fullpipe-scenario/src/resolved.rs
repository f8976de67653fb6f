//! Meaning of a scenario, with every default written out. Its serialised form is a scenario again:
//! [`Resolved::to_toml`] parses to an equal `Resolved`.

use super::again::After;
pub use super::application::{App, DatagramReader, Reader};
pub use super::host::{Host, Remark};
use super::path::{Element, Path, Surroundings};
use super::programs::CREDITS;
pub use super::qdisc::{Netem, Qdisc};
pub use super::reporting::{Packets, Report};
use super::show;
pub use super::written::{
    Clock, DatagramKind, NfsExport, NfsOperation, NfsServerReads, NfsVersion, QdiscKind, Quickack,
    Until,
};
use fullpipe_base::units::{Rate, Time};
use fullpipe_sim::config::{Direction, System};
use fullpipe_sim::tcp::headers;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The names of the hosts that there always are: flows are between them where nothing else is said.
pub const ENDS: [&str; 2] = ["sender", "receiver"];

/// Length of a bin over time, where none is asked for.
const BIN: Time = Time::ms(250);
/// Bins of a run, where none are asked for.
const BINS: u64 = 4000;

/// A run, completely described.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// Title of the scenario.
    pub title: String,
    /// Seed of all random streams (0 to 2^63 - 1).
    pub seed: u64,
    /// When the run ends, in simulated time.
    #[serde(serialize_with = "show::shown")]
    pub duration: Time,
    /// Report, and resolution of the trace.
    pub report: Report,
    /// Elements between the hosts.
    pub path: Path,
    /// The hosts at the ends of the path.
    pub hosts: Hosts,
    /// Extra hosts, each at the end of one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<Neighbour>,
    /// The flows, one entry per connection. Connections of mounts are the last; they are not written, because they
    /// follow from `nfs`.
    #[serde(skip_serializing_if = "are_all_of_mounts", serialize_with = "without_mounts")]
    pub flow: Vec<Flow>,
    /// Packets that are no TCP segments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub datagrams: Vec<Datagrams>,
    /// Files on NFS mounts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nfs: Vec<Nfs>,
}

impl Resolved {
    /// Payload of a full segment, bytes (at least 1): timestamps are used if both hosts want them.
    pub fn mss(&self) -> u32 {
        let timestamps =
            self.hosts.sender.config.timestamps && self.hosts.receiver.config.timestamps;
        self.path.mtu.saturating_sub(headers(timestamps)).max(1)
    }

    /// Length of the bins of queues, rates and drops over time: at least a sample.
    pub fn bin(&self) -> Time {
        let times = self.duration.as_ns().div_ceil(BINS * BIN.as_ns()).max(1);
        let usual = Time(BIN.as_ns().saturating_mul(times)).max(self.report.sample);
        self.report.bin.unwrap_or(usual)
    }

    /// Facts of this run that the elements of the path need.
    pub fn surroundings(&self) -> Surroundings<'_> {
        let flows = self.flow.iter().map(|flow| (flow.name.as_str(), flow.reply_to.as_deref()));
        Surroundings { mtu: self.path.mtu, flows: flows.collect() }
    }

    /// All hosts, first the senders of forward data.
    pub fn stations(&self) -> Vec<Station<'_>> {
        let ends = [
            (Direction::Forward, "sender", &self.hosts.sender),
            (Direction::Backward, "receiver", &self.hosts.receiver),
        ];
        let mut stations = Vec::new();
        for (direction, name, host) in ends {
            stations.push(Station { name, direction, host });
            let beside = self.host.iter().filter(|beside| beside.direction == direction);
            stations.extend(beside.map(Neighbour::station));
        }
        stations
    }

    /// The round trip of a flow without queues: the delays of the path, its own ones and those of its hosts' qdiscs.
    pub fn round_trip(&self, flow: &Flow) -> Time {
        let delay = |element: &Element| match element {
            Element::FlowDelay(own) if own.flow == flow.name => own.delay,
            Element::FlowDelay(_) => Time::ZERO,
            other => other.delay(),
        };
        let path = self.path.forward.iter().chain(&self.path.back).map(delay);
        let netems = self.hosts_of(flow).map(|station| station.host.qdisc.netem);
        let netems = netems.map(|netem| netem.map_or(Time::ZERO, |own| own.delay));
        path.chain(netems).fold(Time::ZERO, |sum, delay| sum + delay)
    }

    /// The hosts of a flow: the one that sends its data, and the one that receives it.
    pub fn hosts_of<'a>(&'a self, flow: &'a Flow) -> [Station<'a>; 2] {
        let there = flow.direction;
        [(&flow.from, there), (&flow.to, there.turned())].map(|(name, direction)| {
            let named = self.host.iter().find(|beside| Some(&beside.name) == name.as_ref());
            let (name, host) = match (named, direction) {
                (Some(beside), _) => return beside.station(),
                (None, Direction::Forward) => ("sender", &self.hosts.sender),
                (None, Direction::Backward) => ("receiver", &self.hosts.receiver),
            };
            Station { name, direction, host }
        })
    }

    /// Index of the connection before `flow` in a loop, and the rule by which `flow` follows it.
    pub fn follows<'a>(&self, flow: &'a Flow) -> Option<(usize, &'a After)> {
        let after = flow.after.as_ref()?;
        Some((self.flow.iter().position(|other| other.name == after.flow)?, after))
    }

    /// Whether another connection of a loop waits for the end of this one.
    pub fn is_followed(&self, flow: &Flow) -> bool {
        self.flow.iter().any(|own| own.after.as_ref().is_some_and(|after| after.flow == flow.name))
    }

    /// Whether a program opens connections one after another.
    pub fn has_loops(&self) -> bool {
        self.flow.iter().any(|flow| flow.after.is_some())
    }

    /// Index of the flow that `flow` answers, if it does.
    pub fn answered_by(&self, flow: &Flow) -> Option<usize> {
        let name = flow.reply_to.as_ref()?;
        self.flow.iter().position(|other| other.name == *name)
    }

    /// The flow that answers `flow`, if one does.
    pub fn answer_to(&self, flow: &Flow) -> Option<&Flow> {
        self.flow.iter().find(|other| other.reply_to.as_ref() == Some(&flow.name))
    }

    /// The other flow of a connection with data both ways.
    pub fn reverse_flow(&self, flow: &Flow) -> Option<&Flow> {
        let asks = self.answered_by(flow).and_then(|index| self.flow.get(index));
        asks.or_else(|| self.answer_to(flow))
    }

    /// The flow of the program that asks, in a connection with data both ways.
    pub fn asks<'a>(&'a self, flow: &'a Flow) -> Option<&'a Flow> {
        let other = self.reverse_flow(flow)?;
        Some(if flow.reply_to.is_some() { other } else { flow })
    }

    /// Whether the program at the other end allows a flow's data by short messages: `app = { window }`.
    pub fn is_credited(&self, flow: &Flow) -> bool {
        // Copies have their number behind it.
        self.answer_to(flow).is_some_and(|own| own.name.split('-').any(|part| part == CREDITS))
    }

    /// The flow of the program that begins: the one that asks, or the only one of a connection.
    pub fn opens<'a>(&'a self, flow: &'a Flow) -> &'a Flow {
        self.asks(flow).unwrap_or(flow)
    }

    /// A flow, and the other flow of its connection, if there is one.
    pub fn both_ways<'a>(&'a self, flow: &'a Flow) -> impl Iterator<Item = &'a Flow> {
        std::iter::once(flow).chain(self.reverse_flow(flow))
    }

    /// Whether a flow's data has that direction.
    pub fn has(&self, direction: Direction) -> bool {
        self.flow.iter().any(|flow| flow.direction == direction)
    }

    /// True where the program that reads a flow may end the wait of its messages for ACKs by TCP_QUICKACK, which Linux has.
    pub fn gains_by_quick_acks(&self, flow: &Flow) -> bool {
        flow.waits_for_acks() && self.hosts_of(flow)[1].host.config.system == System::Linux
    }
}

/// The hosts at the ends of the path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hosts {
    /// The one from which flows go forward.
    pub sender: Host,
    /// The other one.
    pub receiver: Host,
}

/// An extra host at the sender's or the receiver's end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbour {
    /// Its name.
    pub name: String,
    /// Direction of the data that it sends: it stands at the end where this direction begins.
    #[serde(rename = "beside", serialize_with = "show::host_of")]
    pub direction: Direction,
    /// Keys with other values than that host has.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Json>,
    /// Settings of the host.
    #[serde(skip)]
    pub host: Host,
}

impl Neighbour {
    pub(super) fn station(&self) -> Station<'_> {
        Station { name: &self.name, direction: self.direction, host: &self.host }
    }
}

/// A host with its name and the way that begins at it.
#[derive(Clone, Copy, Debug)]
pub struct Station<'a> {
    /// Its name.
    pub name: &'a str,
    /// Direction of the data that it sends.
    pub direction: Direction,
    /// Settings of the host.
    pub host: &'a Host,
}

impl Station<'_> {
    /// Key of the scenario that describes it.
    pub fn key(&self) -> String {
        match self.name {
            name if ENDS.contains(&name) => format!("hosts.{name}"),
            name => format!("host.{name}.set"),
        }
    }
}

/// The socket option that keeps partial segments for what follows.
pub const CORK: &str = "TCP_CORK";
/// The socket option that asks for a rate that is not exceeded, bytes per second.
pub const MAX_PACING_RATE: &str = "SO_MAX_PACING_RATE";
/// Socket option that sends a partial segment at once.
pub const NODELAY: &str = "TCP_NODELAY";
/// Socket option that sends a delayed ACK, and ends pingpong mode.
pub const QUICKACK: &str = "TCP_QUICKACK";

/// A flow: one connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Name, unique within a run.
    pub name: String,
    /// Direction of its data.
    #[serde(skip_serializing_if = "is_forward", serialize_with = "show::direction")]
    pub direction: Direction,
    /// The host that sends its data; none: `sender`, or `receiver` for backward data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The host that receives it; none: the other end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Name of the flow that this one answers, in the same connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Congestion control and all its parameters.
    pub congestion: Congestion,
    /// A slow start that no kernel has; none: the parameters of the congestion control decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<SlowStart>,
    /// SO_SNDBUF as requested, bytes; none: not set.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::size")]
    pub sndbuf: Option<u64>,
    /// SO_RCVBUF as requested, bytes; none: not set.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::size")]
    pub rcvbuf: Option<u64>,
    /// Other options of the sending socket, by the kernel's names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sockopt: BTreeMap<&'static str, i64>,
    /// Other options of the receiving socket, by the kernel's names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub receiver_sockopt: BTreeMap<&'static str, i64>,
    /// When the receiving program sets TCP_QUICKACK, if `receiver_sockopt` has it.
    #[serde(skip_serializing_if = "Quickack::is_once", serialize_with = "show::choice")]
    pub quickack: Quickack,
    /// When it connects.
    #[serde(serialize_with = "show::shown")]
    pub start: Time,
    /// The connection before it in a loop; none: it connects at `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<After>,
    /// Time for which it writes.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub duration: Option<Time>,
    /// Bytes that it writes.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::size")]
    pub bytes: Option<u64>,
    /// Load of the application.
    pub app: App,
    /// Size of one write, bytes.
    #[serde(serialize_with = "show::write_size")]
    pub write: u32,
    /// Pace of the receiving application; none: all data, at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
}

impl Flow {
    /// Bytes of a message of a program that asks or answers: one write, unless it says another size.
    pub fn message(&self) -> u64 {
        match self.app {
            App::Messages { size, .. } => size,
            _ => self.write.into(),
        }
    }

    /// True if parts of its messages may wait for ACKs: the sender has Nagle's rule, and the receiver does not set TCP_QUICKACK after
    /// each read.
    pub fn waits_for_acks(&self) -> bool {
        let is_quick = !self.quickack.is_once()
            && self.receiver_sockopt.get(QUICKACK).is_some_and(|on| *on != 0);
        u64::from(self.write) < self.message() && !self.has_option(NODELAY) && !is_quick
    }

    /// Whether the sending socket sets an option that is on or off.
    pub fn has_option(&self, name: &str) -> bool {
        self.sockopt.get(name).is_some_and(|on| *on != 0)
    }

    /// Time between the beginnings of messages that the program sends by the clock; none for other programs.
    pub fn period(&self) -> Option<Time> {
        match self.app {
            App::Messages { period, .. } => period,
            _ => None,
        }
    }

    /// Messages that may be without an answer at a time.
    pub fn in_flight(&self) -> u32 {
        match self.app {
            App::Messages { in_flight, .. } => in_flight,
            _ => 1,
        }
    }
}

/// Datagrams that a program sends at a pace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Datagrams {
    /// Name, unique within a run.
    pub name: String,
    /// Kind of the datagrams.
    #[serde(serialize_with = "show::choice")]
    pub kind: DatagramKind,
    /// Where they go.
    #[serde(skip_serializing_if = "is_forward", serialize_with = "show::direction")]
    pub direction: Direction,
    /// The host that sends them; none: `sender`, or `receiver` if they go backward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Host that receives them; none: the other end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Payload of each, bytes.
    #[serde(serialize_with = "show::write_size")]
    pub size: u32,
    /// Rate of payload; none but with UDP.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::rate")]
    pub rate: Option<Rate>,
    /// Time from one to the next; none but with ping.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub interval: Option<Time>,
    /// SO_RCVBUF as requested, bytes; none: not set.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::size")]
    pub rcvbuf: Option<u64>,
    /// Pace of the program that receives them; none: each as soon as its CPU allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<DatagramReader>,
    /// When the first one is written.
    #[serde(serialize_with = "show::shown")]
    pub start: Time,
    /// Time for which they are written.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub duration: Option<Time>,
    /// Number of datagrams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// A program that writes or reads files on an NFS mount.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nfs {
    /// Name, unique within a run.
    pub name: String,
    /// Version of the protocol.
    #[serde(serialize_with = "show::choice")]
    pub version: NfsVersion,
    /// The extra host that mounts it; none: the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Operation of the program.
    #[serde(serialize_with = "show::choice")]
    pub operation: NfsOperation,
    /// Size of a file, bytes.
    #[serde(serialize_with = "show::whole_size")]
    pub file: u64,
    /// Files at a time.
    pub files: u32,
    /// Size of one call, bytes.
    #[serde(serialize_with = "show::write_size")]
    pub record: u32,
    /// Most bytes of a READ.
    #[serde(serialize_with = "show::write_size")]
    pub rsize: u32,
    /// Most bytes of a WRITE.
    #[serde(serialize_with = "show::write_size")]
    pub wsize: u32,
    /// Concurrent requests; none: the kernel's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u16>,
    /// Connections.
    pub nconnect: u16,
    /// Threads of the server.
    pub threads: u32,
    /// Time that a thread works on a request.
    #[serde(skip_serializing_if = "show::is_no_time", serialize_with = "show::shown")]
    pub service: Time,
    /// Buffer that the server requests for each of its sockets; none: its kernel's default.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::size")]
    pub server_buffer: Option<u64>,
    /// Way in which the server takes requests; none: its kernel's.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::choice_if_any")]
    pub server_reads: Option<NfsServerReads>,
    /// When the server answers.
    #[serde(serialize_with = "show::choice")]
    pub export: NfsExport,
    /// Read-ahead of the client, bytes; none: the kernel's default.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::size")]
    pub readahead: Option<u64>,
    /// The mount's `timeo`; none: the kernel's default.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub timeo: Option<Time>,
    /// The mount's `retrans`; none: the kernel's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrans: Option<u32>,
    /// Memory of both hosts, bytes; none: the need of files and buffers.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::size")]
    pub memory: Option<u64>,
    /// Congestion control of both hosts' sockets.
    pub congestion: Congestion,
    /// When it is mounted, and the program opens its files.
    #[serde(serialize_with = "show::shown")]
    pub start: Time,
}

/// Whether no flow was written.
fn are_all_of_mounts(flows: &[Flow]) -> bool {
    flows.iter().all(|flow| flow.app == App::Nfs)
}

/// The flows that were written.
fn without_mounts<S: Serializer>(flows: &[Flow], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(flows.iter().filter(|flow| flow.app != App::Nfs))
}

fn is_forward(direction: &Direction) -> bool {
    *direction == Direction::Forward
}

/// Congestion control with its parameters by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Congestion {
    /// Name, for instance "cubic".
    pub name: String,
    /// All its parameters.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, i64>,
}

/// A slow start with its parameters by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlowStart {
    /// Name, for instance "search".
    pub name: String,
    /// All its parameters.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, i64>,
}
