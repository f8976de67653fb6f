//! [`Resolved`] as the simulator's [`Config`].

use crate::scenario::{App, Cpu, Flow, Host, Resolved};
use fullpipe_sim::config::{self, Config};

/// The configuration that means the same as `resolved`.
pub fn config(resolved: &Resolved) -> Config {
    Config {
        seed: resolved.seed,
        end: resolved.duration,
        sample: resolved.report.sample,
        mtu: resolved.path.mtu,
        forward: resolved.path.forward.iter().map(|e| e.config(resolved)).collect(),
        back: resolved.path.back.iter().map(|e| e.config(resolved)).collect(),
        sender: host(&resolved.hosts.sender),
        receiver: host(&resolved.hosts.receiver),
        flows: resolved.flow.iter().map(flow).collect(),
    }
}

fn host(host: &Host) -> config::Host {
    config::Host {
        kernel: host.kernel.clone(),
        behaviour: host.behaviour.clone().into_iter().collect(),
        hz: host.hz,
        timestamps: host.timestamps,
        tso: host.tso,
        sysctl: host.sysctl.modelled,
        qdisc_limit: host.qdisc.limit,
        tx_ring: host.tx_ring,
        rx_ring: host.rx_ring,
        nic_rate: host.nic_rate,
        coalesce: host.coalesce,
        receive_path: host.receive_path,
        cpu: cpu(host.cpu),
    }
}

fn cpu(cpu: Cpu) -> config::Cpu {
    config::Cpu {
        copy_ps_per_byte: cpu.copy,
        transmit: cpu.transmit,
        receive: cpu.receive,
        ack: cpu.ack,
        walk: cpu.sack_walk,
    }
}

fn flow(flow: &Flow) -> config::Flow {
    let parameters = flow.congestion.parameters.iter();
    config::Flow {
        name: flow.name.clone(),
        congestion: flow.congestion.name.clone(),
        parameters: parameters.map(|(name, value)| (name.clone(), *value)).collect(),
        slow_start: flow.slow_start.as_ref().map(|own| config::SlowStart {
            name: own.name.clone(),
            parameters: own.parameters.iter().map(|(name, value)| (name.clone(), *value)).collect(),
        }),
        sndbuf: flow.sndbuf,
        rcvbuf: flow.rcvbuf,
        start: flow.start,
        app: match flow.app {
            App::Bulk => config::App::Bulk,
            App::Rate { rate } => config::App::Rate(rate),
        },
        bytes: flow.bytes,
        duration: flow.duration,
        write: flow.write,
    }
}
