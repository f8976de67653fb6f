//! Settings, taken from a resolved scenario.

use super::super::theory::losses;
use super::{Allowed, Buffer, FlowSettings, HostSettings, Pace, PlaceSettings, Places, Share};
use crate::sizing::{HEADERS, Question};
use fullpipe_base::path::{Direction, QueueLimit};
use fullpipe_base::units::{Framing, Rate, Time};
use fullpipe_scenario::Version;
use fullpipe_scenario::config::{self, Mtu, System};
use fullpipe_scenario::congestion::INITIAL_SSTHRESH;
use fullpipe_scenario::{
    App, CORK, Discipline, Element, Flow, MAX_PACING_RATE, QdiscKind, Resolved, Station,
};

/// A buffer in which data counts, up to TCP's largest window.
const DATA: Buffer = Buffer { asked: None, most: u64::MAX, tuned: 65_535 << 14, counts_data: true };

/// Settings that act on a flow.
pub(crate) fn flow(run: &Resolved, flow: &Flow) -> FlowSettings {
    let [from, to] = run.hosts_of(flow);
    let without = |has: fn(&Station) -> bool| {
        let hosts = [from, to].into_iter().filter(|station| !has(station));
        hosts.map(|station| station.name.to_string()).collect()
    };
    let first_ssthresh = flow.congestion.parameters.get(INITIAL_SSTHRESH);
    FlowSettings {
        kernels: [from, to].map(|station| station.host.config.kernel.clone()),
        systems: [from, to].map(|station| station.host.config.system),
        send: send_buffer(flow, &from.host.config),
        receive: receive_buffer(flow, &to.host.config),
        ends: ends(run, flow),
        loss: losses(run.way(flow.direction)).unwrap_or(0.0),
        without_scaling: without(|own| own.host.config.offers_scaling()),
        without_sack: without(|own| own.host.config.sysctl.tcp_sack),
        pace: pace(flow, from),
        // An ssthresh of 0 stands for none.
        first_ssthresh: first_ssthresh.and_then(|n| u32::try_from(*n).ok()).filter(|n| *n > 0),
        write: (flow.app != App::Nfs).then_some(flow.write),
        message: message(flow),
        period: flow.period(),
        is_corked: is_corked(flow),
        read: flow.reader.map(|reader| reader.read),
        hosts: [from, to].map(|station| host(run, station)),
    }
}

/// Bytes of a program's message.
fn message(flow: &Flow) -> Option<u64> {
    match flow.app {
        App::Messages { size, .. } => Some(size),
        _ => None,
    }
}

/// Whether a program corks its socket, always or around each message.
fn is_corked(flow: &Flow) -> bool {
    flow.has_option(CORK) || matches!(flow.app, App::Messages { cork: true, .. })
}

/// The send buffer of a flow at its host.
pub(crate) fn send_buffer(flow: &Flow, host: &config::Host) -> Buffer {
    let sysctl = &host.sysctl;
    match host.system {
        System::Windows(_) => Buffer { asked: flow.sndbuf, ..DATA },
        _ => Buffer {
            asked: flow.sndbuf,
            most: sysctl.wmem_max,
            tuned: sysctl.tcp_wmem[2],
            counts_data: false,
        },
    }
}

/// The receive buffer of a flow at its host.
pub(crate) fn receive_buffer(flow: &Flow, host: &config::Host) -> Buffer {
    let sysctl = &host.sysctl;
    match host.system {
        System::Linux => Buffer {
            asked: flow.rcvbuf,
            most: sysctl.rmem_max,
            tuned: sysctl.tcp_rmem[2],
            counts_data: false,
        },
        System::FixedWindow(tuned) => Buffer { tuned, ..DATA },
        System::Windows(level) => Buffer { asked: flow.rcvbuf, tuned: level.most(), ..DATA },
    }
}

/// Queue and card of a host.
fn host(run: &Resolved, station: Station) -> HostSettings {
    let (own, qdisc) = (&station.host.config, &station.host.qdisc);
    HostSettings {
        qdisc: kind(qdisc.kind).into(),
        qdisc_limit: match qdisc.limit {
            QueueLimit::Packets(limit) => Some(limit),
            QueueLimit::Bytes(_) => None,
        },
        maxrate: qdisc.maxrate.map(|rate| rate.0),
        tcp_mem: own.sysctl.tcp_mem,
        mtu_probing: own.sysctl.tcp_mtu_probing.unwrap_or(0) > 0,
        card: own.nic_rate.0,
        mtu: run.path.mtu,
        tx_ring: own.tx_ring,
        tx_coalesce_us: own.tx_coalesce.as_us(),
        rx_ring: own.rx_ring,
        rx_wait_us: own.rx_coalesce.max(own.interrupt_gap).as_us(),
    }
}

/// Kind of a qdisc, as tc spells it.
fn kind(own: QdiscKind) -> &'static str {
    match own {
        QdiscKind::PfifoFast => "pfifo_fast",
        QdiscKind::Pfifo => "pfifo",
        QdiscKind::Bfifo => "bfifo",
        QdiscKind::Fq => "fq",
        QdiscKind::FqCodel => "fq_codel",
        QdiscKind::Codel => "codel",
        QdiscKind::Red => "red",
        QdiscKind::Netem => "netem",
    }
}

/// The lower one of the socket's pace (SO_MAX_PACING_RATE) and the sender's fq rate (maxrate).
fn pace(flow: &Flow, from: Station) -> Option<Pace> {
    let asked = flow.sockopt.get(MAX_PACING_RATE).and_then(|bytes| u64::try_from(*bytes).ok());
    let socket =
        asked.map(|bytes| Pace { rate: bytes.saturating_mul(8), by: "SO_MAX_PACING_RATE" });
    let qdisc = from.host.qdisc.maxrate.map(|rate| Pace { rate: rate.0, by: "fq maxrate" });
    socket.into_iter().chain(qdisc).min_by_key(|pace| pace.rate)
}

/// The path as both ends of a flow see it; none where the path has no length, or a host no version.
fn ends(run: &Resolved, flow: &Flow) -> Option<[Question; 2]> {
    let way = allowed(run, flow.direction)?;
    let question = |station: Station| {
        Some(Question {
            rate: Rate(way.rate.max(1)),
            rtt: run.round_trip(flow),
            mtu: way.mtu,
            framing: framing(way.overhead),
            kernel: station.host.config.kernel.parse::<Version>().ok()?,
            timestamps: run.hosts.sender.config.timestamps && run.hosts.receiver.config.timestamps,
        })
    };
    let [from, to] = run.hosts_of(flow);
    Some([question(from)?, question(to)?])
}

fn framing(overhead: u32) -> Framing {
    let all = [Framing::Ip, Framing::Ethernet, Framing::EthernetWire];
    all.into_iter().find(|framing| framing.overhead() == overhead).unwrap_or(Framing::EthernetWire)
}

/// Largest packets that reach the end of a way.
pub(crate) struct Packets {
    /// Bytes of an IP packet.
    pub(crate) mtu: u32,
    /// Payload of one, bytes; at least 1.
    pub(crate) mss: u32,
}

/// Largest packets of a way: the least MTU of the path and of its elements bounds them, and a clamp of the MSS on either way.
pub(crate) fn packets(run: &Resolved, direction: Direction) -> Packets {
    let narrow = |elements: &[Element], of: fn(&Mtu) -> Option<u32>| {
        let all = elements.iter().filter_map(|element| match element {
            Element::Mtu(own) => of(own),
            _ => None,
        });
        all.min().unwrap_or(u32::MAX)
    };

    // SYNs of both ways carry the option, and its value counts no options of data.
    let clamp =
        |elements| narrow(elements, |own| own.mss_clamp.map(|mss| mss.saturating_add(HEADERS)));
    let least = narrow(run.way(direction), |own| Some(own.mtu));
    let clamps = clamp(&run.path.forward).min(clamp(&run.path.back));
    let mtu = run.path.mtu.min(least).min(clamps);
    let headers = run.path.mtu.saturating_sub(run.mss());
    Packets { mtu, mss: mtu.saturating_sub(headers).max(1) }
}

/// Rate that a way allows: the least of its elements and of the cards that send into it. A link that varies counts with its highest
/// rate, and its shares say the rest.
pub fn allowed(run: &Resolved, direction: Direction) -> Option<Allowed> {
    let Packets { mtu, mss } = packets(run, direction);
    let rated =
        run.way(direction).iter().filter_map(|element| Some((element.name(), element.rate()?)));
    let elements = rated.map(|(name, (rate, framing))| (name.to_string(), rate, framing));
    let slowest = elements.chain(cards(run, direction)).min_by(|a, b| {
        // A rate that counts more bytes carries less.
        let of = |(_, rate, framing): &(String, Rate, Framing)| carries(mtu, *rate, *framing);
        of(a).total_cmp(&of(b))
    });
    slowest.map(|(place, rate, framing)| Allowed {
        rate: rate.0,
        overhead: framing.overhead(),
        mtu,
        mss,
        place,
        shares: shares(run, direction, carries(mtu, rate, framing), mtu),
    })
}

/// Full packets that a rate carries a second.
fn carries(mtu: u32, rate: Rate, framing: Framing) -> f64 {
    rate.0 as f64 / 8.0 / f64::from(mtu + framing.overhead())
}

/// Shares of the highest rate, `most` full packets a second, that the slowest link of a way carries at each time.
fn shares(run: &Resolved, direction: Direction, most: f64, mtu: u32) -> Vec<Share> {
    let varying = || {
        run.way(direction).iter().filter_map(|element| match element {
            Element::VaryingLink(own) => Some(own),
            _ => None,
        })
    };
    let mut times: Vec<Time> =
        varying().flat_map(|own| own.steps.iter().map(|step| step.at)).collect();
    times.sort_unstable();
    times.dedup();
    let share = |at: Time| {
        let rates = varying().map(|own| {
            let begun = own.steps.partition_point(|step| step.at <= at);
            let rate = begun.checked_sub(1).map_or(Rate(0), |at| own.steps[at].rate);
            carries(mtu, rate, own.framing)
        });
        Share { at, share: (rates.fold(most, f64::min) / most.max(1e-9)).min(1.0) }
    };
    let all: Vec<Share> = times.into_iter().map(share).collect();
    if all.iter().all(|own| own.share >= 1.0) { Vec::new() } else { all }
}

/// The cards of all hosts that send into that way, as one.
fn cards(run: &Resolved, direction: Direction) -> Option<(String, Rate, Framing)> {
    let beside: Vec<Station> =
        run.stations().into_iter().filter(|station| station.direction == direction).collect();

    // Only cards of hosts that send data bound the flows.
    let mut senders: Vec<Station> = beside
        .iter()
        .copied()
        .filter(|station| {
            let flows = run.flow.iter().filter(|flow| flow.direction == direction);
            flows.map(|flow| run.hosts_of(flow)[0].name).any(|name| name == station.name)
        })
        .collect();

    // A way without flows carries ACKs of its own end.
    if senders.is_empty() {
        senders.extend(beside.first());
    }

    // Cards of several hosts send side by side.
    let rate =
        senders.iter().fold(0_u64, |sum, own| sum.saturating_add(own.host.config.nic_rate.0));
    let first = senders.first()?;
    Some((format!("{}.tx_ring", first.name), Rate(rate), Framing::EthernetWire))
}

/// Settings of all elements, by name.
pub(crate) fn places(run: &Resolved) -> Places {
    let elements = run.path.forward.iter().chain(&run.path.back);
    elements.map(|element| (element.name().to_string(), place(element))).collect()
}

/// Settings of an element.
fn place(element: &Element) -> PlaceSettings {
    PlaceSettings {
        rate: element.rate().map(|(rate, _)| rate.0),
        burst: match element {
            Element::Policer(own) => Some(own.burst),
            _ => None,
        },
        mtu: match element {
            Element::Mtu(own) if !own.icmp => Some(own.mtu),
            _ => None,
        },
        discipline: element.queue().and_then(|queue| discipline(&queue.discipline)),
    }
}

/// Name of a discipline that is not drop-tail.
fn discipline(own: &Discipline) -> Option<&'static str> {
    Some(match own {
        Discipline::DropTail => return None,
        Discipline::Fq(_) => "fq",
        Discipline::Codel(_) => "codel",
        Discipline::FqCodel(_) => "fq_codel",
        Discipline::Pie(_) => "pie",
        Discipline::Red(_) => "red",
        Discipline::Cake(_) => "cake",
    })
}
