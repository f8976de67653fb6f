//! [`Resolved`] as the simulator's [`Config`].

use super::mounts;
use crate::scenario::{
    App, CORK, DatagramKind, DatagramReader, Datagrams, Flow, MAX_PACING_RATE, NODELAY, Neighbour,
    QUICKACK, Resolved,
};
use fullpipe_base::units::Rate;
use fullpipe_sim::config::{self, Config};

/// Options of the sending socket that the simulator has.
pub(super) const SOCKOPTS: [&str; 4] = [MAX_PACING_RATE, CORK, NODELAY, NOTSENT_LOWAT];
/// Options of the receiving socket that the simulator has.
pub(super) const RECEIVER_SOCKOPTS: [&str; 1] = [QUICKACK];
const NOTSENT_LOWAT: &str = "TCP_NOTSENT_LOWAT";

/// The configuration that means the same as `resolved`.
pub fn config(resolved: &Resolved) -> Config {
    let mut config = without_mounts(resolved);
    mounts::add(resolved, &mut config);
    config
}

/// The configuration of `resolved` without its mounts.
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
        sender: resolved.hosts.sender.config.clone(),
        receiver: resolved.hosts.receiver.config.clone(),
        neighbours: resolved.host.iter().map(neighbour).collect(),
        flows: resolved.flow.iter().map(|own| flow(own, resolved)).collect(),
        datagrams: resolved.datagrams.iter().map(datagrams).collect(),
        rpc: config::Rpc::default(),
    }
}

fn neighbour(own: &Neighbour) -> config::Neighbour {
    let (name, host) = (own.name.clone(), own.host.config.clone());
    config::Neighbour { name, direction: own.direction, host }
}

/// Pace of the datagrams: each kind has its own key, and the absent one belongs to the other kind.
fn datagrams(own: &Datagrams) -> config::Datagrams {
    config::Datagrams {
        name: own.name.clone(),
        direction: own.direction,
        from: own.from.clone(),
        to: own.to.clone(),
        kind: match own.kind {
            DatagramKind::Udp => config::DatagramKind::Udp {
                rate: own.rate.unwrap_or(Rate(0)),
                rcvbuf: own.rcvbuf,
                reader: own.reader.map(datagram_reader),
            },
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

fn datagram_reader(own: DatagramReader) -> config::DatagramReader {
    let pauses = own.on.zip(own.off).map(|(on, off)| config::Pauses { on, off });
    config::DatagramReader { rate: own.rate, pauses }
}

/// Options are within their bounds, which fit these types.
fn sockopt(flow: &Flow) -> config::Sockopt {
    let value = |name| flow.sockopt.get(name).copied();
    config::Sockopt {
        max_pacing_rate: value(MAX_PACING_RATE).map(|rate| rate.max(0) as u64),
        notsent_lowat: value(NOTSENT_LOWAT).and_then(|bytes| u32::try_from(bytes).ok()),
        nodelay: value(NODELAY).is_some_and(|on| on != 0),
        cork: value(CORK).is_some_and(|on| on != 0),
    }
}

fn quickack(flow: &Flow) -> Option<config::Quickack> {
    let on = flow.receiver_sockopt.get(QUICKACK)?;
    Some(config::Quickack { on: *on != 0, each_read: !flow.quickack.is_once() })
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
        // Maps of the scenario become lists with the same order.
        parameters: parameters.map(|(name, value)| (name.clone(), *value)).collect(),
        slow_start: flow.slow_start.as_ref().map(|own| config::SlowStart {
            name: own.name.clone(),
            parameters: own.parameters.iter().map(|(name, value)| (name.clone(), *value)).collect(),
        }),
        sndbuf: flow.sndbuf,
        rcvbuf: flow.rcvbuf,
        sockopt: sockopt(flow),
        quickack: quickack(flow),
        start: flow.start,
        after: run.follows(flow).map(|(flow, own)| config::After {
            flow,
            pause: own.pause,
            until: own.until,
        }),
        app: match flow.app {
            // The client of a mount and its server write.
            App::Bulk | App::Nfs => config::App::Bulk,
            App::Rate { rate } => config::App::Rate(rate),
            App::OnOff { on, off } => config::App::OnOff { on, off },
            App::Messages { size, in_flight, period, cork } => {
                config::App::Messages { size, in_flight, period, corks: cork }
            }
        },
        bytes: flow.bytes,
        // An answer ends with the flow that it answers.
        duration: flow.duration.filter(|_| flow.reply_to.is_none()),
        write: flow.write,
        reader: flow.reader.map(|reader| config::Reader { rate: reader.rate, read: reader.read }),
    }
}
