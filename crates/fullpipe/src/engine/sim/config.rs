//! [`Resolved`] as the simulator's [`Config`].

use super::mounts;
use crate::scenario::{
    App, Cpu, DatagramKind, Datagrams, Flow, Host, MAX_PACING_RATE, Neighbour, Qdisc, QdiscKind,
    Resolved,
};
use fullpipe_base::units::{Framing, Rate};
use fullpipe_sim::config::{self, Config, Discipline};
use fullpipe_sim::tcp::behaviour::profile_of;

/// Options of the sending socket that the simulator has.
pub(super) const SOCKOPTS: [&str; 2] = [MAX_PACING_RATE, NOTSENT_LOWAT];
const NOTSENT_LOWAT: &str = "TCP_NOTSENT_LOWAT";

/// The configuration that means the same as `resolved`.
pub fn config(resolved: &Resolved) -> Config {
    let mut config = without_mounts(resolved);
    mounts::add(resolved, &mut config);
    config
}

/// The same, but for what stands for mounts.
fn without_mounts(resolved: &Resolved) -> Config {
    let run = resolved.surroundings();
    Config {
        seed: resolved.seed,
        end: resolved.duration,
        sample: resolved.report.sample,
        counters: Some(resolved.report.counters.unwrap_or(resolved.duration)),
        mtu: resolved.path.mtu,
        forward: resolved.path.forward.iter().map(|e| e.config(&run)).collect(),
        back: resolved.path.back.iter().map(|e| e.config(&run)).collect(),
        sender: host(&resolved.hosts.sender, resolved.path.mtu),
        receiver: host(&resolved.hosts.receiver, resolved.path.mtu),
        neighbours: resolved.host.iter().map(|own| neighbour(own, resolved.path.mtu)).collect(),
        flows: resolved.flow.iter().map(|own| flow(own, resolved)).collect(),
        datagrams: resolved.datagrams.iter().map(datagrams).collect(),
        rpc: config::Rpc::default(),
    }
}

fn neighbour(own: &Neighbour, mtu: u32) -> config::Neighbour {
    let host = host(&own.host, mtu);
    config::Neighbour { name: own.name.clone(), direction: own.direction, host }
}

/// Each kind has its pace: what is absent is of the other kind.
fn datagrams(own: &Datagrams) -> config::Datagrams {
    config::Datagrams {
        name: own.name.clone(),
        direction: own.direction,
        from: own.from.clone(),
        to: own.to.clone(),
        kind: match own.kind {
            DatagramKind::Udp => {
                config::DatagramKind::Udp { rate: own.rate.unwrap_or(Rate(0)), rcvbuf: own.rcvbuf }
            }
            DatagramKind::Ping => {
                config::DatagramKind::Echo { interval: own.interval.unwrap_or_default() }
            }
        },
        size: own.size,
        start: own.start,
        count: own.count,
        duration: own.duration,
    }
}

fn host(host: &Host, mtu: u32) -> config::Host {
    let mut meant = plain_host(host, mtu);
    let profile = profile_of(&meant);
    if let (config::Qdisc::Of(Discipline::Fq(fq), _), Ok(profile)) = (&mut meant.qdisc, profile) {
        (fq.bands, fq.paces_itself) = (profile.fq_bands, !profile.departure_times);
    }
    meant
}

/// The same, but for what its kernel makes of its queue.
fn plain_host(host: &Host, mtu: u32) -> config::Host {
    config::Host {
        kernel: host.kernel.clone(),
        behaviour: host.behaviour.clone().into_iter().collect(),
        hz: host.hz,
        timestamps: host.timestamps,
        tso: host.tso,
        initcwnd: host.initcwnd,
        sysctl: host.sysctl.modelled,
        qdisc: qdisc(host, mtu),
        qdisc_limit: host.qdisc.limit(),
        tx_ring: host.tx_ring,
        tx_coalesce: host.tx_coalesce,
        tx_stop: host.tx_stop,
        tx_wake: host.tx_wake,
        bql: host.bql,
        driver: host.driver,
        rx_ring: host.rx_ring,
        nic_rate: host.nic_rate,
        rx_coalesce: host.rx_coalesce,
        interrupt_gap: host.coalesce,
        gro: host.gro,
        gro_flush_timeout: host.gro_flush_timeout,
        receive_path: host.receive_path,
        cpu: cpu(host.cpu),
    }
}

/// The queue of a host on a path of that MTU. `pfifo` is what `pfifo_fast` is with packets of one priority.
fn qdisc(host: &Host, mtu: u32) -> config::Qdisc {
    let Qdisc { kind, limit, flow_limit, initial_quantum, maxrate, codel, red, netem } =
        &host.qdisc;
    let largest = mtu + Framing::Ethernet.overhead();
    let codel = codel.map(|codel| codel.config(largest));
    let packet = u64::from(mtu + Framing::EthernetWire.overhead());
    let discipline = match kind {
        QdiscKind::PfifoFast | QdiscKind::Pfifo => None,
        QdiscKind::Bfifo => Some(Discipline::Fifo),
        QdiscKind::Fq => {
            let flow_limit = flow_limit.unwrap_or(u32::MAX);
            let usual = config::Fq::new(flow_limit, largest);
            let initial_quantum = initial_quantum.unwrap_or(usual.initial_quantum);
            Some(Discipline::Fq(config::Fq { initial_quantum, max_rate: *maxrate, ..usual }))
        }
        QdiscKind::Codel => codel.map(Discipline::Codel),
        QdiscKind::FqCodel => codel.map(Discipline::FqCodel),
        QdiscKind::Red => {
            red.map(|red| Discipline::Red(red.config(host.nic_rate.time_for(packet))))
        }
        QdiscKind::Netem => netem
            .map(|netem| Discipline::Netem(config::Netem { delay: netem.delay, loss: netem.loss })),
    };
    discipline.map_or(config::Qdisc::PfifoFast, |discipline| config::Qdisc::Of(discipline, *limit))
}

fn cpu(cpu: Cpu) -> config::Cpu {
    config::Cpu {
        copy_ps_per_byte: cpu.copy,
        transmit: cpu.transmit,
        receive: cpu.receive,
        ack: cpu.ack,
        walk: cpu.sack_walk,
        capture: cpu.capture,
    }
}

/// Options are within their bounds, which fit these types.
fn sockopt(flow: &Flow) -> config::Sockopt {
    let value = |name| flow.sockopt.get(name).copied();
    config::Sockopt {
        max_pacing_rate: value(MAX_PACING_RATE).map(|rate| rate.max(0) as u64),
        notsent_lowat: value(NOTSENT_LOWAT).and_then(|bytes| u32::try_from(bytes).ok()),
    }
}

fn flow(flow: &Flow, run: &Resolved) -> config::Flow {
    let parameters = flow.congestion.parameters.iter();
    config::Flow {
        name: flow.name.clone(),
        direction: flow.direction,
        from: flow.from.clone(),
        to: flow.to.clone(),
        answers: run.answered_by(flow),
        congestion: flow.congestion.name.clone(),
        parameters: parameters.map(|(name, value)| (name.clone(), *value)).collect(),
        slow_start: flow.slow_start.as_ref().map(|own| config::SlowStart {
            name: own.name.clone(),
            parameters: own.parameters.iter().map(|(name, value)| (name.clone(), *value)).collect(),
        }),
        sndbuf: flow.sndbuf,
        rcvbuf: flow.rcvbuf,
        sockopt: sockopt(flow),
        start: flow.start,
        app: match flow.app {
            // The client of a mount and its server write.
            App::Bulk | App::Nfs => config::App::Bulk,
            App::Rate { rate } => config::App::Rate(rate),
            App::OnOff { on, off } => config::App::OnOff { on, off },
        },
        bytes: flow.bytes,
        duration: flow.duration.filter(|_| flow.reply_to.is_none()),
        write: flow.write,
        reader: flow.reader.map(|reader| config::Reader { rate: reader.rate, read: reader.read }),
    }
}
