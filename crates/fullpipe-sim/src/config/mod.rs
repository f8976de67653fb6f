//! Configuration of a run: a complete description without defaults left open.
//!
//! The scenario layer resolves a file into a [`Config`]; no file appears here. The maker of a configuration checks it.
//! [`Config::check`] (`check.rs`) states the bounds once. The configuration of a link element is in its file in
//! `link/`.

mod check;
mod host;
mod system;

pub use crate::link::*;
pub use crate::rpc::Rpc;
use crate::stage::Samples;
use crate::trace::Turns;
use crate::units::{Rate, Time};
use alloc::string::String;
use alloc::vec::Vec;
pub use fullpipe_base::path::Direction;
pub use host::{Cpu, Driver, Host, Qdisc, ReceivePath, Sysctl};
pub use system::{Autotuning, DataWindow, System};

/// One run: a path, the hosts at its ends, and the flows between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Seed of every random stream; each element derives its own from (seed, name).
    pub seed: u64,
    /// End of the run.
    pub end: Time,
    /// Interval of the trace's samples (at least 1 us).
    pub sample: Time,
    /// Interval of the hosts' counters in the trace, rounded up to samples; there is one set at the end, too. None: no
    /// counters.
    pub counters: Option<Time>,
    /// Largest IP packet in bytes (68 to 65535). The MSS follows from it and from timestamps.
    pub mtu: u32,
    /// Elements of the path from the sender to the receiver, in order.
    pub forward: Vec<Element>,
    /// Elements of the path back, in order.
    pub back: Vec<Element>,
    /// The first host; forward flows start here.
    pub sender: Host,
    /// The other host.
    pub receiver: Host,
    /// Further hosts, each on the side of the sender or of the receiver: the path is a dumbbell.
    pub neighbours: Vec<Neighbour>,
    /// Flows (at least one).
    pub flows: Vec<Flow>,
    /// Packets that are no TCP segments. Their numbers as flows follow those of the flows.
    pub datagrams: Vec<Datagrams>,
    /// Remote procedure calls over some of the flows.
    pub rpc: Rpc,
}

/// A host on the side of the sender or of the receiver. Packets of the hosts of a side enter their direction in order
/// of time, at equal times in the order of [`Config::hosts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// Name, unique among hosts.
    pub name: String,
    /// Direction of the data that it sends, and thus its side.
    pub direction: Direction,
    /// The host itself. TCP timestamps, SACK and window scaling are as on the first host of its side.
    pub host: Host,
}

/// A host with its name and the direction that begins at it.
#[derive(Clone, Copy, Debug)]
pub struct Station<'a> {
    /// Name.
    pub name: &'a str,
    /// Direction of the data that it sends.
    pub direction: Direction,
    /// The host itself.
    pub host: &'a Host,
}

/// A slow start that no kernel has.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowStart {
    /// Name.
    pub name: String,
    /// Parameters by name; absent ones have their defaults.
    pub parameters: Vec<(String, i64)>,
}

/// Socket options of a sending socket, where the program sets them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sockopt {
    /// SO_MAX_PACING_RATE, bytes per second; with it TCP paces, where fq does not.
    pub max_pacing_rate: Option<u64>,
    /// TCP_NOTSENT_LOWAT, bytes; 0 or none: net.ipv4.tcp_notsent_lowat.
    pub notsent_lowat: Option<u32>,
    /// TCP_NODELAY: a partial segment leaves at once, where Nagle's rule would hold it.
    pub nodelay: bool,
    /// TCP_CORK: a partial segment waits for more data, a fifth of a second at most.
    pub cork: bool,
}

/// TCP_QUICKACK, as a receiving program sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quickack {
    /// Value: true ends pingpong mode and sends a delayed ACK, false begins pingpong mode.
    pub on: bool,
    /// The program sets the option again after each read.
    pub each_read: bool,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Name, unique within a run.
    pub name: String,
    /// Direction of its data.
    pub direction: Direction,
    /// Host that sends its data, by name; none: `sender`, or `receiver` for a backward flow.
    pub from: Option<String>,
    /// Host that receives its data, by name; none: the other one of these two.
    pub to: Option<String>,
    /// Index of the flow of requests that this flow answers. Both are one connection, and both start together.
    ///
    /// The program writes one answer after it has read a request. A request waits while as many others are unanswered
    /// as [`App::Messages`] allows. `bytes`, if known, are the bytes of all answers. Where a client has the connection
    /// ([`Rpc`]), the client and its server write instead.
    pub answers: Option<usize>,
    /// Congestion control: "reno", "bic", "cubic" ...
    pub congestion: String,
    /// Parameters of the congestion control by name; absent ones have the kernel profile's default.
    pub parameters: Vec<(String, i64)>,
    /// Slow start instead of the kernel's: "limited", "hystart++", "search".
    pub slow_start: Option<SlowStart>,
    /// SO_SNDBUF as requested; none: tcp_wmem's default, not locked.
    pub sndbuf: Option<u64>,
    /// SO_RCVBUF as requested; none: tcp_rmem's default, not locked.
    pub rcvbuf: Option<u64>,
    /// Other options of the sending socket.
    pub sockopt: Sockopt,
    /// TCP_QUICKACK of the receiving socket; none: not set.
    pub quickack: Option<Quickack>,
    /// Time at which the application calls connect().
    pub start: Time,
    /// Connection that must end first, in a loop of connections; none: the flow connects at `start`.
    pub after: Option<After>,
    /// Data that the application offers.
    pub app: App,
    /// Bytes after which the application stops writing.
    pub bytes: Option<u64>,
    /// Time after `start` at which the application stops writing.
    pub duration: Option<Time>,
    /// Size of one write() in bytes.
    pub write: u32,
    /// Pace of the receiving application; none: it reads all data at once.
    pub reader: Option<Reader>,
}

impl Flow {
    /// Bytes of a message of a program that asks or answers: one write, unless the application has messages.
    pub fn message(&self) -> u64 {
        match self.app {
            App::Messages { size, .. } => size,
            _ => self.write.into(),
        }
    }

    /// Most messages without an answer at a time.
    pub fn in_flight(&self) -> u32 {
        match self.app {
            App::Messages { in_flight, .. } => in_flight,
            _ => 1,
        }
    }

    /// Whether the program corks the socket while it writes a message.
    pub fn corks(&self) -> bool {
        matches!(self.app, App::Messages { corks: true, .. })
    }

    /// Time at which the program stops writing, where time decides that.
    pub fn stops(&self) -> Option<Time> {
        self.duration.map(|duration| self.start + duration)
    }

    /// Earliest start of a message after `messages` earlier ones.
    pub fn due(&self, messages: u64) -> Option<Time> {
        match self.app {
            App::Messages { period, .. } => period
                .map(|period| Time(self.start.0.saturating_add(period.0.saturating_mul(messages)))),
            _ => None,
        }
    }

    /// Most bytes of one read on `host`. A reader without a rate takes all data by one call. Where copying takes time,
    /// it reads pieces of a write's size, because it owns the socket while it copies.
    pub fn read_size(&self, host: &Host) -> u64 {
        match self.reader {
            Some(reader) => reader.read.into(),
            None if host.cpu.copy_ps_per_byte > 0 => self.write.into(),
            None => u64::MAX,
        }
    }
}

/// Place of a connection in a loop: the program closes one connection, and opens the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Index of the flow before this one: below its own, from the same host, without an answer to another flow.
    pub flow: usize,
    /// Time between the other host's ACK of the end of that flow and this flow's connect().
    pub pause: Time,
    /// End of the loop: no connection begins at this moment or later. None: the last flow ends it.
    pub until: Option<Time>,
}

impl After {
    /// Start of the next connection if the one before it ends at `over`; none after the end of the loop.
    pub fn begins(&self, over: Time) -> Option<Time> {
        let at = Time(over.0.saturating_add(self.pause.0));
        self.until.is_none_or(|until| at < until).then_some(at)
    }
}

/// Datagrams that a program sends at a pace, whether they arrive or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagrams {
    /// Name, unique among datagrams and flows.
    pub name: String,
    /// Direction of the datagrams.
    pub direction: Direction,
    /// The host that sends them, as [`Flow::from`].
    pub from: Option<String>,
    /// The host that they go to, as [`Flow::to`].
    pub to: Option<String>,
    /// Kind of the datagrams.
    pub kind: DatagramKind,
    /// Payload of each, bytes; with 28 bytes of headers it fits into the MTU.
    pub size: u32,
    /// Time at which the first datagram is written.
    pub start: Time,
    /// Most datagrams.
    pub count: Option<u64>,
    /// Time after `start` from which on none is written.
    pub duration: Option<Time>,
}

/// Kinds of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// UDP datagrams.
    Udp {
        /// Rate of payload. Datagram n is written when n datagrams have taken their time at this rate, or as soon as
        /// the program is ready.
        rate: Rate,
        /// SO_RCVBUF of the socket that receives, as requested; none: [`RMEM_DEFAULT`].
        rcvbuf: Option<u64>,
        /// Pace of the receiving program; none: as fast as its CPU allows.
        reader: Option<DatagramReader>,
    },
    /// ICMP echo requests, which the other kernel answers.
    Echo {
        /// Time between two requests.
        interval: Time,
    },
}

/// A program that reads datagrams at its own pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramReader {
    /// Rate of payload: the program works on each datagram for its size over this rate, above 0; none: no time.
    pub rate: Option<Rate>,
    /// Times without reading; none: it may always read.
    pub pauses: Option<Pauses>,
}

/// Times in which a program reads and times in which it pauses, in turn from the datagrams' start on (each above 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pauses {
    /// Time of reading. The program finishes a read that it has begun.
    pub on: Time,
    /// Time of a pause.
    pub off: Time,
}

impl Pauses {
    /// Rest of the pause at `since_start`; none: there is no pause then.
    #[must_use]
    pub fn left(&self, since_start: Time) -> Option<Time> {
        let at = since_start.0 % (self.on + self.off).0.max(1);
        (at >= self.on.0).then(|| self.on + self.off - Time(at))
    }
}

/// net.core.rmem_default of 64-bit kernels, bytes.
pub const RMEM_DEFAULT: u64 = 212_992;

impl Datagrams {
    /// Whether the program's time is over; a late program leaves the rest unsent.
    pub fn is_over(&self, now: Time) -> bool {
        self.duration.is_some_and(|duration| now >= self.start + duration)
    }

    /// Time at which datagram `number` is due; none: it is not sent.
    pub fn due(&self, number: u64) -> Option<Time> {
        let after = match self.kind {
            DatagramKind::Udp { rate, .. } => {
                let bits = u128::from(number) * u128::from(self.size) * 8;
                (bits * 1_000_000_000 / u128::from(rate.0)) as u64
            }
            DatagramKind::Echo { interval } => number.saturating_mul(interval.0),
        };
        let counts = self.count.is_none_or(|count| number < count);
        let lasts = self.duration.is_none_or(|duration| after < duration.0);
        (counts && lasts).then(|| Time(self.start.0.saturating_add(after)))
    }
}

/// Least MSS to which one of these elements clamps, bytes without options.
pub(crate) fn least_clamp<'a>(elements: impl Iterator<Item = &'a Element>) -> Option<u32> {
    let clamp = |element: &Element| match element {
        Element::Mtu(own) => own.mss_clamp,
        _ => None,
    };
    elements.filter_map(clamp).min()
}

impl Config {
    /// Least MSS to which a router of the path clamps, bytes without options. SYNs and SYN-ACKs pass the routers of both ways.
    pub fn mss_clamp(&self) -> Option<u32> {
        least_clamp(self.forward.iter().chain(&self.back))
    }

    /// Reverse flow of each flow's connection, where data goes both ways.
    pub fn reverse_flows(&self) -> Vec<Option<usize>> {
        let mut reverse_of = alloc::vec![None; self.flows.len()];
        for (answer, flow) in self.flows.iter().enumerate() {
            if let Some(asks) = flow.answers {
                (reverse_of[answer], reverse_of[asks]) = (Some(asks), Some(answer));
            }
        }
        reverse_of
    }

    /// Connection that follows each flow in a loop.
    pub(crate) fn followers(&self) -> Vec<Option<(usize, After)>> {
        let mut followers = alloc::vec![None; self.flows.len()];
        for (at, flow) in self.flows.iter().enumerate() {
            if let Some(after) = flow.after {
                followers[after.flow] = Some((at, after));
            }
        }
        followers
    }

    /// Turns of flows that follow one another.
    pub(crate) fn turns(&self) -> Turns {
        let answers: Vec<_> = self.flows.iter().map(|flow| flow.answers).collect();
        let after: Vec<_> = self.flows.iter().map(|flow| Some(flow.after?.flow)).collect();
        Turns::new(&answers, &after)
    }

    /// Times at which the trace has samples.
    pub(crate) fn samples(&self) -> Samples {
        Samples::every(self.sample, self.end)
    }

    /// Place of the client that uses this flow for calls or replies, and place of the connection within the client.
    pub(crate) fn rpc_connection_of(&self, flow: usize) -> Option<(usize, usize)> {
        let calls = self.flows[flow].answers.unwrap_or(flow);
        let mut places = self.rpc.clients.iter().enumerate();
        places.find_map(|(client, own)| {
            let connection = own.connections.iter().position(|&own| own == calls)?;
            Some((client, connection))
        })
    }

    /// All hosts: first those at which the forward direction begins.
    pub fn hosts(&self) -> Vec<Station<'_>> {
        let mut hosts = Vec::new();
        for (direction, name, host) in [
            (Direction::Forward, "sender", &self.sender),
            (Direction::Backward, "receiver", &self.receiver),
        ] {
            hosts.push(Station { name, direction, host });
            let beside = self.neighbours.iter().filter(|beside| beside.direction == direction);
            hosts.extend(beside.map(|Neighbour { name, direction, host }| Station {
                name,
                direction: *direction,
                host,
            }));
        }
        hosts
    }

    /// The place among [`Config::hosts`] of the host with this name.
    pub(crate) fn place(&self, name: &str) -> usize {
        self.hosts().iter().position(|host| host.name == name).unwrap_or_default()
    }

    /// The host that sends a flow's data, and the host that receives it. A host without a known name is that of the
    /// flow's direction.
    pub fn hosts_of<'a>(&'a self, flow: &'a Flow) -> [Station<'a>; 2] {
        self.ends(flow.direction, &flow.from, &flow.to)
    }

    /// The host that sends datagrams, and the host that receives them.
    pub fn hosts_of_datagrams<'a>(&'a self, own: &'a Datagrams) -> [Station<'a>; 2] {
        self.ends(own.direction, &own.from, &own.to)
    }

    fn ends<'a>(
        &'a self,
        there: Direction,
        from: &'a Option<String>,
        to: &'a Option<String>,
    ) -> [Station<'a>; 2] {
        [(from, there), (to, there.turned())].map(|(name, direction)| {
            let named = self.neighbours.iter().find(|beside| Some(&beside.name) == name.as_ref());
            let (name, host) = match (named, direction) {
                (Some(beside), _) => (&beside.name[..], &beside.host),
                (None, Direction::Forward) => ("sender", &self.sender),
                (None, Direction::Backward) => ("receiver", &self.receiver),
            };
            Station { name, direction, host }
        })
    }
}

/// Data that an application offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum App {
    /// Writes as many bytes as the send buffer accepts.
    Bulk,
    /// Writes at most this rate of payload, one write at a time.
    Rate(Rate),
    /// Writes as many bytes as the send buffer accepts for the time `on`, then none for the time `off`, in turn from
    /// the flow's start on (each above 0). The application finishes a write that it has begun.
    OnOff {
        /// Time of writing.
        on: Time,
        /// Time of a pause.
        off: Time,
    },
    /// Messages of this size, each in one or several writes. The program asks, answers, or sends messages without
    /// answers.
    Messages {
        /// Bytes of a message, 1 or more.
        size: u64,
        /// Most messages without an answer at a time, 1 or more. It holds for the program that asks.
        in_flight: u32,
        /// Least time between the beginnings of two messages, above 0; none: each as soon as possible. It holds for the
        /// program that asks.
        period: Option<Time>,
        /// Whether the program corks the socket before a message, and uncorks it behind the last write (TCP_CORK).
        corks: bool,
    },
}

impl App {
    /// Rest of the pause, so long after the flow's start; none: there is no pause then.
    #[must_use]
    pub fn pauses(&self, since_start: Time) -> Option<Time> {
        let App::OnOff { on, off } = *self else { return None };
        Pauses { on, off }.left(since_start)
    }
}

/// A receiving application that reads at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Rate of payload: the application works on each read for its size over this rate.
    pub rate: Rate,
    /// Most bytes of one read (at least 1).
    pub read: u32,
}
