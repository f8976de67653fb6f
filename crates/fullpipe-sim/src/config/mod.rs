//! What the simulator is asked to run: a complete description without defaults left open.
//!
//! The scenario layer resolves a file into this; nothing here knows about files. A [`Config`] is
//! checked by its maker; [`Config::check`] (`check.rs`) states the bounds once. What a link element is
//! told stands beside its state machine, in `link/`.

mod check;

pub use crate::link::*;
pub use crate::rpc::Rpc;
use crate::stage::Samples;
use crate::units::{Rate, Time};
use alloc::string::String;
use alloc::vec::Vec;
pub use fullpipe_base::path::Direction;

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

/// A host: its kernel's behaviour, its buffers, its network card and its CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Name of a kernel profile, for instance "2.6.20" (see `tcp::profile`).
    pub kernel: String,
    /// Single behaviours that differ from the profile: name and choice (see `tcp::behaviour`).
    pub behaviour: Vec<(String, String)>,
    /// Timer ticks per second (100, 250, 300 or 1000 on real kernels).
    pub hz: u32,
    /// TCP timestamps (RFC 7323); used if both hosts have them.
    pub timestamps: bool,
    /// TCP segmentation offload of the card.
    pub tso: bool,
    /// First cwnd by the route (`ip route ... initcwnd`), packets (1 to 65,535); none: the kernel's. cwnd goes back to it after
    /// a pause, too (`tcp_init_cwnd`).
    pub initcwnd: Option<u32>,
    /// The sysctls that the model reads.
    pub sysctl: Sysctl,
    /// The queue between TCP and the driver; decides per skb.
    pub qdisc: Qdisc,
    /// `pfifo_fast` length in packets (txqueuelen).
    pub qdisc_limit: u32,
    /// Transmit ring in descriptors (one per segment here).
    pub tx_ring: u32,
    /// Transmit interrupt moderation: how long after a segment was sent the driver hears of it, and of those sent meanwhile
    /// (0: of each at once).
    pub tx_coalesce: Time,
    /// A driver that stops its queue does so when fewer descriptors are free (1 to `tx_wake`).
    pub tx_stop: u32,
    /// It wakes the queue when so many are free (to `tx_ring`).
    pub tx_wake: u32,
    /// Whether the driver has byte queue limits (BQL).
    pub bql: bool,
    /// What the driver does when that is full.
    pub driver: Driver,
    /// Receive ring in descriptors.
    pub rx_ring: u32,
    /// Line rate of the card, counted as on an Ethernet wire.
    pub nic_rate: Rate,
    /// Receive interrupt moderation: how long after the first packet that came the interrupt comes (0: at once).
    pub rx_coalesce: Time,
    /// Packets after which the interrupt comes though that time is not over (0: however many come).
    pub rx_frames: u32,
    /// The same: least time between two interrupts (0: none).
    pub interrupt_gap: Time,
    /// Whether segments that one poll of the card takes are joined (GRO), where the kernel does so.
    pub gro: bool,
    /// How long they wait for those that follow (0: not beyond the poll).
    pub gro_flush_timeout: Time,
    /// Which receive path the driver uses.
    pub receive_path: ReceivePath,
    /// What the CPU spends.
    pub cpu: Cpu,
}

impl Host {
    /// A host of this kernel with sysctls of Linux 2.6.20, HZ 1000, a card of 10 Gb/s with 256 descriptors each way, and a CPU that
    /// takes no time. TCP uses neither timestamps nor TSO.
    pub fn plain(kernel: &str) -> Host {
        Host {
            kernel: kernel.into(),
            behaviour: Vec::new(),
            hz: 1000,
            timestamps: false,
            tso: false,
            initcwnd: None,
            sysctl: Sysctl::LINUX_2_6_20,
            qdisc: Qdisc::PfifoFast,
            qdisc_limit: 1000,
            tx_ring: 256,
            tx_coalesce: Time::ZERO,
            tx_stop: 1,
            tx_wake: 1,
            bql: false,
            driver: Driver::Stops,
            rx_ring: 256,
            nic_rate: Rate::gbit(10),
            rx_coalesce: Time::ZERO,
            rx_frames: 0,
            interrupt_gap: Time::ZERO,
            gro: true,
            gro_flush_timeout: Time::ZERO,
            receive_path: ReceivePath::Napi,
            cpu: Cpu::default(),
        }
    }
}

/// The queue between TCP and the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Qdisc {
    /// `pfifo_fast`: all packets are of one priority, so of its three bands one.
    #[default]
    PfifoFast,
    /// A discipline and its capacity.
    Of(Discipline, QueueLimit),
}

impl Qdisc {
    /// The parameters of `fq`, where that is the discipline.
    pub(crate) fn fq(&self) -> Option<&Fq> {
        match self {
            Qdisc::Of(Discipline::Fq(fq), _) => Some(fq),
            _ => None,
        }
    }
}

/// What a driver does when an skb does not fit into its transmit ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// It has stopped the queue before: nothing is offered to it until there is room (`netif_stop_queue`).
    #[default]
    Stops,
    /// It refuses the skb (NETDEV_TX_BUSY), which goes back to the head of the qdisc and is offered again when a descriptor is
    /// free (`dev_requeue_skb`): each skb that waits is refused once, when it is the first one. Behind `pfifo_fast`, without
    /// TSO and byte queue limits.
    Requeues,
}

/// The driver's receive path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivePath {
    /// Polled: packets wait in the ring until the softirq takes them; no backlog.
    Napi,
    /// Each interrupt moves the ring into the backlog (net.core.netdev_max_backlog).
    NetifRx,
}

/// sysctls that the model reads, in bytes unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sysctl {
    /// net.core.rmem_max
    pub rmem_max: u64,
    /// net.core.wmem_max
    pub wmem_max: u64,
    /// net.ipv4.tcp_rmem: minimum, default, maximum
    pub tcp_rmem: [u64; 3],
    /// net.ipv4.tcp_wmem: minimum, default, maximum
    pub tcp_wmem: [u64; 3],
    /// net.ipv4.tcp_adv_win_scale (-31 to 31): share of the buffer kept from the window
    pub tcp_adv_win_scale: i32,
    /// net.core.netdev_max_backlog, packets
    pub netdev_max_backlog: u32,
    /// net.core.netdev_budget (from 1), packets that a softirq takes before it lets others go on; none: the kernel's default, 300
    pub netdev_budget: Option<u32>,
    /// net.core.netdev_budget_usecs (since Linux 4.12): for how long it does, microseconds; none, or less than two jiffies: two
    /// jiffies
    pub netdev_budget_usecs: Option<u32>,
    /// net.ipv4.tcp_slow_start_after_idle
    pub tcp_slow_start_after_idle: bool,
    /// net.ipv4.tcp_window_scaling; used if both hosts have it
    pub tcp_window_scaling: bool,
    /// net.ipv4.tcp_sack; used if both hosts have it
    pub tcp_sack: bool,
    /// net.ipv4.tcp_fack: losses by forward acknowledgement, until reordering is seen
    pub tcp_fack: bool,
    /// net.ipv4.tcp_dsack: the receiver reports what came twice
    pub tcp_dsack: bool,
    /// net.ipv4.tcp_frto (0 to 2): spurious timeouts are looked for; 2: with SACK, before Linux 3.10
    pub tcp_frto: u32,
    /// net.ipv4.tcp_reordering, packets (1 to 127)
    pub tcp_reordering: u32,
    /// net.ipv4.tcp_early_retrans (0 to 4): 1 to 3 early retransmit, 3 and 4 tail loss probes; 0
    /// before Linux 3.5
    pub tcp_early_retrans: u32,
    /// net.ipv4.tcp_ecn (0 to 2): 0 no ECN, 1 ask for it, 2 agree to it; none: the kernel's default, 2 since
    /// Linux 2.6.31 and 0 before
    pub tcp_ecn: Option<u32>,
    /// net.ipv4.tcp_notsent_lowat: bytes not sent from which on an application waits; none: the kernel's default, no bound
    pub tcp_notsent_lowat: Option<u32>,
    /// net.ipv4.tcp_pacing_ss_ratio: pacing rate in the first half of slow start, percent of cwnd per RTT; none: 200
    pub tcp_pacing_ss_ratio: Option<u32>,
    /// net.ipv4.tcp_pacing_ca_ratio: the same afterwards; none: 120
    pub tcp_pacing_ca_ratio: Option<u32>,
    /// net.ipv4.tcp_limit_output_bytes: memory of a flow that may wait in the host; none: the kernel's default
    pub tcp_limit_output_bytes: Option<u32>,
    /// net.ipv4.tcp_no_metrics_save: a connection leaves nothing for the next one
    pub tcp_no_metrics_save: bool,
}

impl Sysctl {
    /// Defaults of Linux 2.6.20.
    pub const LINUX_2_6_20: Sysctl = Sysctl {
        // sk_init() in net/core/sock.c, for hosts with 512 MiB of memory or more.
        rmem_max: 131_071,
        wmem_max: 131_071,
        // tcp_init() in net/ipv4/tcp.c: the maximum is 1/128 of the memory at which TCP feels
        // pressure, 4 MiB at most; 4 MiB is reached by a host with some GiB of memory.
        tcp_rmem: [4096, 87_380, 4_194_304],
        tcp_wmem: [4096, 16_384, 4_194_304],
        tcp_adv_win_scale: 2,
        netdev_max_backlog: 1000,
        netdev_budget: None,
        netdev_budget_usecs: None,
        tcp_slow_start_after_idle: true,
        tcp_window_scaling: true,
        tcp_sack: true,
        tcp_fack: true,
        tcp_dsack: true,
        tcp_frto: 0,
        tcp_reordering: 3,
        tcp_early_retrans: 0,
        tcp_ecn: None,
        tcp_notsent_lowat: None,
        tcp_pacing_ss_ratio: None,
        tcp_pacing_ca_ratio: None,
        tcp_limit_output_bytes: None,
        tcp_no_metrics_save: false,
    };
}

/// CPU time per piece of work; all zero is a host that costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Copy between application and kernel, picoseconds per byte.
    pub copy_ps_per_byte: u64,
    /// Transmission of a data segment.
    pub transmit: Time,
    /// Reception of a data segment in the softirq.
    pub receive: Time,
    /// Reception of an ACK in the softirq, and what TCP does with it.
    pub ack: Time,
    /// Per skb that is looked at on walks along the send queue: for SACKs, to mark losses, to send again
    /// (Linux before 2.6.25).
    pub walk: Time,
    /// Each packet that a capture in the host sees ([`Point::Qdisc`](crate::trace::Point::Qdisc)), as it sees it: an skb that
    /// goes out, and what the softirq hands up. An skb that waits in the qdisc pays as it is put there.
    pub capture: Time,
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
    /// each write of that flow has been read this one writes once, and that flow's next write waits until all of it
    /// is read. Such a flow starts with that one; where its `bytes` are known they are those of all answers. Where a
    /// client has the connection ([`Rpc`]) it and its server write instead.
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
    },
    /// ICMP echo requests, which the other kernel answers.
    Echo {
        /// Time from one to the next.
        interval: Time,
    },
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

impl Config {
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
}

impl App {
    /// Where it pauses at `now`, so long after the flow's start: how long the pause still lasts.
    #[must_use]
    pub fn pauses(&self, since_start: Time) -> Option<Time> {
        let App::OnOff { on, off } = *self else { return None };
        let at = since_start.0 % (on + off).0.max(1);
        (at >= on.0).then(|| on + off - Time(at))
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
