//! What the simulator is asked to run: a complete description without defaults left open.
//!
//! The scenario layer resolves a file into this; nothing here knows about files. A [`Config`] is
//! checked by its maker; [`Config::check`] (`check.rs`) states the bounds once. What a link element is
//! told stands beside its state machine, in `link/`.

mod check;
mod host;
mod system;

pub use crate::link::*;
pub use crate::rpc::Rpc;
use crate::stage::Samples;
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
    /// When the run stops.
    pub end: Time,
    /// Interval of the trace's samples (at least 1 us).
    pub sample: Time,
    /// Interval at which the hosts' counters are told, rounded up to samples, and at the end; none: they are not.
    pub counters: Option<Time>,
    /// Largest IP packet in bytes (68 to 65535). The MSS follows from it and from timestamps.
    pub mtu: u32,
    /// What a packet passes from the sender to the receiver, in order.
    pub forward: Vec<Element>,
    /// What a packet passes on its way back, in order.
    pub back: Vec<Element>,
    /// The host that forward flows go from.
    pub sender: Host,
    /// The other host.
    pub receiver: Host,
    /// Further hosts, each beside one of these: the path is a dumbbell.
    pub neighbours: Vec<Neighbour>,
    /// Flows (at least one).
    pub flows: Vec<Flow>,
    /// Packets that are no TCP segments: their number as a flow is behind those of the flows.
    pub datagrams: Vec<Datagrams>,
    /// Remote procedure calls over some of the flows.
    pub rpc: Rpc,
}

/// A host beside the sender or the receiver. What the hosts of a side send enters their way in order of time, at one
/// time in the order of [`Config::hosts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// Its name, unlike those of the others.
    pub name: String,
    /// Where the data goes that it sends: it stands beside the host from which flows go there.
    pub direction: Direction,
    /// What it is. TCP's timestamps, SACK and window scaling are as those of the host beside which it stands.
    pub host: Host,
}

/// A host with its name and the way that begins at it.
#[derive(Clone, Copy, Debug)]
pub struct Station<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where the data goes that it sends.
    pub direction: Direction,
    /// What it is.
    pub host: &'a Host,
}

/// A slow start that no kernel has.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowStart {
    /// Its name.
    pub name: String,
    /// Its parameters by name; those absent have their defaults.
    pub parameters: Vec<(String, i64)>,
}

/// Options of a sending socket, where they are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sockopt {
    /// SO_MAX_PACING_RATE, bytes per second; with it TCP paces, where fq does not.
    pub max_pacing_rate: Option<u64>,
    /// TCP_NOTSENT_LOWAT, bytes; 0 or none: net.ipv4.tcp_notsent_lowat.
    pub notsent_lowat: Option<u32>,
    /// TCP_NODELAY: a partial segment goes at once, where Nagle's rule would hold it back.
    pub nodelay: bool,
    /// TCP_CORK: a partial segment waits for what follows, a fifth of a second at most.
    pub cork: bool,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Name, unique within a run.
    pub name: String,
    /// Where its data goes.
    pub direction: Direction,
    /// The host that sends its data, by name; none: `sender`, or `receiver` if it goes backward.
    pub from: Option<String>,
    /// The host that receives it, by name; none: the other one of these.
    pub to: Option<String>,
    /// The index of the flow that this one answers: both are one connection, and the data of this one go back in it. After
    /// each message of that flow has been read this one writes one message. That flow's next message waits until fewer
    /// than [`App::Messages`] allows are without an answer. Such a flow starts with that one; where its `bytes` are known
    /// they are those of all answers. Where a client has the connection ([`Rpc`]) it and its server write instead.
    pub answers: Option<usize>,
    /// Congestion control: "reno", "bic", "cubic" ...
    pub congestion: String,
    /// Its parameters by name; those absent have the kernel profile's default.
    pub parameters: Vec<(String, i64)>,
    /// A slow start in the place of the kernel's: "limited", "hystart++", "search".
    pub slow_start: Option<SlowStart>,
    /// SO_SNDBUF as requested; none: tcp_wmem's default, not locked.
    pub sndbuf: Option<u64>,
    /// SO_RCVBUF as requested; none: tcp_rmem's default, not locked.
    pub rcvbuf: Option<u64>,
    /// Other options of the sending socket.
    pub sockopt: Sockopt,
    /// When the application calls connect().
    pub start: Time,
    /// The connection that has to be over before, in a loop of connections; none: it connects at `start`.
    pub after: Option<After>,
    /// What it sends.
    pub app: App,
    /// Stop writing after this many bytes.
    pub bytes: Option<u64>,
    /// Stop writing this long after `start`.
    pub duration: Option<Time>,
    /// Size of one write() in bytes.
    pub write: u32,
    /// How fast the receiving application reads; none: all there is, at once.
    pub reader: Option<Reader>,
}

impl Flow {
    /// Bytes of a message of a program that asks or answers: one write, unless it has messages.
    pub fn message(&self) -> u64 {
        match self.app {
            App::Messages { size, .. } => size,
            _ => self.write.into(),
        }
    }

    /// Messages that may be without an answer at a time.
    pub fn in_flight(&self) -> u32 {
        match self.app {
            App::Messages { in_flight, .. } => in_flight,
            _ => 1,
        }
    }

    /// Whether its program corks the socket while it writes a message.
    pub fn corks(&self) -> bool {
        matches!(self.app, App::Messages { corks: true, .. })
    }

    /// When its program stops writing, where that is a matter of time.
    pub fn stops(&self) -> Option<Time> {
        self.duration.map(|duration| self.start + duration)
    }

    /// When the program begins a message at the earliest, where it has written so many.
    pub fn due(&self, messages: u64) -> Option<Time> {
        match self.app {
            App::Messages { period, .. } => period
                .map(|period| Time(self.start.0.saturating_add(period.0.saturating_mul(messages)))),
            _ => None,
        }
    }

    /// Bytes that one read on `host` takes at most. A reader without a rate takes all there is by one call; where
    /// copying takes time it does so by pieces of a write's size, for it has the socket while it copies.
    pub fn read_size(&self, host: &Host) -> u64 {
        match self.reader {
            Some(reader) => reader.read.into(),
            None if host.cpu.copy_ps_per_byte > 0 => self.write.into(),
            None => u64::MAX,
        }
    }
}

/// A connection's place in a loop: the program closes one connection, and opens the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Index of the flow before this one: below its own, from the same host, without an answer to another flow.
    pub flow: usize,
    /// Time from the moment at which the other host has acknowledged the end of that flow to this one's connect().
    pub pause: Time,
    /// The loop ends at this moment: no connection begins then or later. None: the last flow ends it.
    pub until: Option<Time>,
}

impl After {
    /// When the next connection begins if the one before it is over at `over`; none where the loop has ended.
    pub fn begins(&self, over: Time) -> Option<Time> {
        let at = Time(over.0.saturating_add(self.pause.0));
        self.until.is_none_or(|until| at < until).then_some(at)
    }
}

/// Datagrams that a program sends at a pace, whatever becomes of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagrams {
    /// Name, unlike those of others and of flows.
    pub name: String,
    /// Where they go.
    pub direction: Direction,
    /// The host that sends them, as [`Flow::from`].
    pub from: Option<String>,
    /// The host that they go to, as [`Flow::to`].
    pub to: Option<String>,
    /// What they are.
    pub kind: DatagramKind,
    /// Payload of each, bytes; with 28 bytes of headers it fits into the MTU.
    pub size: u32,
    /// When the first one is written.
    pub start: Time,
    /// How many there are at most.
    pub count: Option<u64>,
    /// None is written so long after `start`.
    pub duration: Option<Time>,
}

/// What datagrams are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// UDP datagrams.
    Udp {
        /// Payload: datagram n is written when n of them have taken their time at this rate, or as soon as the program gets to it.
        rate: Rate,
        /// SO_RCVBUF of the socket that receives them, as requested; none: [`RMEM_DEFAULT`].
        rcvbuf: Option<u64>,
        /// How the program there reads; none: as fast as its CPU allows.
        reader: Option<DatagramReader>,
    },
    /// ICMP echo requests, which the other kernel answers.
    Echo {
        /// Time from one to the next.
        interval: Time,
    },
}

/// A program that reads datagrams at its own pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramReader {
    /// Payload: after each datagram it works on it for so long, above 0; none: no time.
    pub rate: Option<Rate>,
    /// When it does not read; none: it always may.
    pub pauses: Option<Pauses>,
}

/// Times in which a program reads, and those in which it does not, in turn from the datagrams' start on (each above 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pauses {
    /// How long it reads. A read that is begun is finished.
    pub on: Time,
    /// How long it pauses.
    pub off: Time,
}

impl Pauses {
    /// How long the pause at `since_start` still lasts; none: there is no pause then.
    #[must_use]
    pub fn left(&self, since_start: Time) -> Option<Time> {
        let at = since_start.0 % (self.on + self.off).0.max(1);
        (at >= self.on.0).then(|| self.on + self.off - Time(at))
    }
}

/// net.core.rmem_default of 64-bit kernels, bytes.
pub const RMEM_DEFAULT: u64 = 212_992;

impl Datagrams {
    /// Whether the program's time is over: one that is late leaves the rest.
    pub fn is_over(&self, now: Time) -> bool {
        self.duration.is_some_and(|duration| now >= self.start + duration)
    }

    /// When datagram `number` is due; none: it is not sent.
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

    /// Of each flow the other one of its connection, where data goes both ways.
    pub fn halves(&self) -> Vec<Option<usize>> {
        let mut halves = alloc::vec![None; self.flows.len()];
        for (answer, flow) in self.flows.iter().enumerate() {
            if let Some(asks) = flow.answers {
                (halves[answer], halves[asks]) = (Some(asks), Some(answer));
            }
        }
        halves
    }

    /// By flow, the connection that follows it in a loop.
    pub(crate) fn followers(&self) -> Vec<Option<(usize, After)>> {
        let mut followers = alloc::vec![None; self.flows.len()];
        for (at, flow) in self.flows.iter().enumerate() {
            if let Some(after) = flow.after {
                followers[after.flow] = Some((at, after));
            }
        }
        followers
    }

    /// Times at which the trace has samples.
    pub(crate) fn samples(&self) -> Samples {
        Samples::every(self.sample, self.end)
    }

    /// Client, by its place, and place of its connection, to whose calls or replies that flow belongs.
    pub(crate) fn rpc_connection_of(&self, flow: usize) -> Option<(usize, usize)> {
        let calls = self.flows[flow].answers.unwrap_or(flow);
        let mut places = self.rpc.clients.iter().enumerate();
        places.find_map(|(client, own)| {
            let connection = own.connections.iter().position(|&own| own == calls)?;
            Some((client, connection))
        })
    }

    /// All hosts, those first from which flows go forward.
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

    /// The hosts of a flow: the one that sends its data, and the one that receives it. One without a known name is
    /// that of the flow's direction.
    pub fn hosts_of<'a>(&'a self, flow: &'a Flow) -> [Station<'a>; 2] {
        self.ends(flow.direction, &flow.from, &flow.to)
    }

    /// The same of datagrams.
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

/// What the application offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum App {
    /// As much as the send buffer takes.
    Bulk,
    /// At most this rate of payload, one write at a time.
    Rate(Rate),
    /// As much as the send buffer takes for the time `on`, then nothing for the time `off`, again and again from the flow's
    /// start on (each above 0). A write that is begun is finished.
    OnOff {
        /// How long it writes.
        on: Time,
        /// How long it pauses.
        off: Time,
    },
    /// Messages of this size, each in one or several writes: of a program that asks, that answers, or whose messages
    /// have no answer.
    Messages {
        /// Bytes of a message, 1 or more.
        size: u64,
        /// Messages that may be without an answer at a time, 1 or more. It counts for the program that asks.
        in_flight: u32,
        /// Time from the beginning of a message to that of the next one, at least, above 0; none: each as soon as it may. It
        /// counts for the program that asks.
        period: Option<Time>,
        /// The program corks the socket before a message, and uncorks it behind its last write (TCP_CORK).
        corks: bool,
    },
}

impl App {
    /// Where it pauses at `now`, so long after the flow's start: how long the pause still lasts.
    #[must_use]
    pub fn pauses(&self, since_start: Time) -> Option<Time> {
        let App::OnOff { on, off } = *self else { return None };
        Pauses { on, off }.left(since_start)
    }
}

/// A receiving application that reads at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Payload: after each read it works on what it got for so long.
    pub rate: Rate,
    /// Most that one read takes, bytes (at least 1).
    pub read: u32,
}
