//! Keys that the simulator cannot honour: they belong to real kernels alone.

use super::config::{RECEIVER_SOCKOPTS, SOCKOPTS};
use crate::engine::Support;
use crate::scenario::{
    Discipline, ENDS, Flow, Host, NFS_2008, Nfs, NfsVersion, QdiscKind, Resolved, Station,
};
use fullpipe_base::units::Time;
use fullpipe_sim::cc::{self, KernelVersion};
use fullpipe_sim::config::{self, Direction, Driver, ReceivePath};
use fullpipe_sim::tcp::sender::options;
use fullpipe_sim::tcp::{ecn, profile};

/// The first kernel with lib/dynamic_queue_limits.c.
const BQL_SINCE: &str = "3.3";
/// Since when GRO may wait beyond a poll (gro_flush_timeout).
const GRO_WAITS_SINCE: &str = "3.19";
/// Kernels with a modelled NFS client and server.
const NFS_KERNELS: [&str; 2] = ["6.12", NFS_2008];

/// The keys of `run` that it refuses.
pub(super) fn support(run: &Resolved) -> Vec<(String, Support)> {
    let stations = run.stations().into_iter();
    let of_hosts = stations.flat_map(|station| of_host(&station.key(), station.host));
    let known = cc::algorithms();

    // A congestion control of real kernels may be missing in cc/.
    let unknown = run
        .flow
        .iter()
        .filter(|flow| known.iter().all(|algorithm| algorithm.name != flow.congestion.name));
    let of_flows = unknown.map(|flow| {
        let names: Vec<&str> = known.iter().map(|algorithm| algorithm.name).collect();
        let why = format!(
            "the simulator has {}, not yet {}; --engine linux runs what its kernel has",
            names.join(", "),
            flow.congestion.name
        );
        refused(format!("flow.{}.congestion", flow.name), why)
    });
    let gso = run.path.gso.then(|| {
        let why = "the simulator's path takes single segments; --engine linux has the choice";
        refused("path.gso".into(), why.into())
    });

    // Hosts come first, then mounts, flows and the path: the order of the error's list.
    of_hosts
        .chain(run.nfs.iter().flat_map(|own| mount(own, run)))
        .chain(ecn(run))
        .chain(of_flows)
        .chain(run.flow.iter().filter_map(|flow| of_unknown_kernel(flow, run)))
        .chain(gso)
        .chain(run.lists_of_mounts().map(|(key, why)| refused(key, why.into())))
        .chain(run.flow.iter().flat_map(of_options))
        .chain(unknown_options(run))
        .chain(of_queues(run))
        .chain(packets(run))
        .collect()
}

/// A congestion control whose behaviour on the kernel of its host is not known.
fn of_unknown_kernel(flow: &Flow, run: &Resolved) -> Option<(String, Support)> {
    let name = &flow.congestion.name;
    let known = cc::limited_to(name)?;
    let [sender, _] = run.hosts_of(flow);
    let kernel = &sender.host.config.kernel;
    let why = format!(
        "the simulator's {name} is that of Linux {known}, not of {kernel}; take one of these kernels on {}",
        sender.name
    );
    (!cc::has_kernel(name, kernel)).then(|| refused(format!("flow.{}.congestion", flow.name), why))
}

/// What is modelled of mounts: clients and servers of two kernels, and one file at a time.
fn mount(own: &Nfs, run: &Resolved) -> Vec<(String, Support)> {
    let receiver =
        Station { name: ENDS[1], direction: Direction::Backward, host: &run.hosts.receiver };
    let hosts = [run.client(own), receiver];
    let others = hosts.iter().filter(|own| !NFS_KERNELS.contains(&own.host.config.kernel.as_str()));

    // Sizes of calls and timers are modelled for these kernels alone.
    let mut answers: Vec<_> = others
        .map(|station| {
            let why = format!(
                "of NFS the simulator has the client and the server of Linux {}, not those of {}; take one of these kernels",
                NFS_KERNELS.join(" and "),
                station.host.config.kernel
            );
            refused(format!("{}.kernel", station.key()), why)
        })
        .collect();

    // The old kernel lacks later features of NFS.
    let is_old = |station: &&Station| station.host.config.kernel == NFS_2008;
    if let Some(old) = hosts.iter().find(is_old).filter(|_| own.version != NfsVersion::V3) {
        let why = format!("{NFS_2008} ({}) has no NFS 4.2", old.name);
        answers.push(refused(format!("nfs.{}.version", own.name), why));
    }
    if own.nconnect > 1 && is_old(&&hosts[0]) {
        let why = format!("a client of {NFS_2008} has one connection (nconnect: since 5.3)");
        answers.push(refused(format!("nfs.{}.nconnect", own.name), why));
    }
    let sysctl = &run.hosts.receiver.config.sysctl;
    let most = [("wmem_max", sysctl.wmem_max), ("rmem_max", sysctl.rmem_max)];

    // nfsd sets its buffers without regard to the sysctls; the simulator's socket obeys them.
    for ((name, most), asked) in most.into_iter().zip(own.server_buffers(&run.hosts.receiver)) {
        if let Some(bytes) = asked.filter(|bytes| *bytes > most) {
            let why = format!(
                "the server's threads need {bytes} bytes, which it has whatever this says; the simulator asks for no less here"
            );
            answers.push(refused(format!("hosts.receiver.sysctl.net.core.{name}"), why));
        }
    }
    if own.files > 1 {
        let why = "in the simulator a program has one file; --engine linux has several";
        answers.push(refused(format!("nfs.{}.files", own.name), why.into()));
    }
    answers
}

/// Packets can be kept where captures can be made.
fn packets(run: &Resolved) -> Option<(String, Support)> {
    run.report.packets.as_ref()?;
    let why = match () {
        () if run.flow.iter().any(|flow| flow.reply_to.is_some()) || !run.nfs.is_empty() => {
            "the simulator does not keep packets of connections with data both ways yet (`reply_to`, `nfs`)"
        }
        () if !run.datagrams.is_empty() => {
            "the simulator does not keep packets of runs with datagrams yet (`datagrams`)"
        }
        () => return None,
    };
    Some(refused("report.packets".into(), why.into()))
}

/// Socket options that the simulator does not have.
fn of_options(flow: &Flow) -> Vec<(String, Support)> {
    let own = flow.sockopt.keys().filter(|name| !SOCKOPTS.contains(name));
    let own = own.map(|name| format!("sockopt.{name}"));
    let others = flow.receiver_sockopt.keys().filter(|name| !RECEIVER_SOCKOPTS.contains(name));
    let others = others.map(|name| format!("receiver_sockopt.{name}"));
    let why = format!(
        "of socket options the simulator has {} of the sender and {} of the receiver; --engine linux has others",
        SOCKOPTS.join(", "),
        RECEIVER_SOCKOPTS.join(", ")
    );
    own.chain(others).map(|key| refused(format!("flow.{}.{key}", flow.name), why.clone())).collect()
}

/// Options and sysctls of sending sockets that are not modelled of its kernel.
fn unknown_options(run: &Resolved) -> Vec<(String, Support)> {
    let unknown = options::unknown(&super::config(run)).unwrap_or_default();
    unknown.into_iter().map(|(key, why)| refused(key, why)).collect()
}

/// ECN on kernels with rules for it that are not modelled.
fn ecn(run: &Resolved) -> Option<(String, Support)> {
    let config = super::config(run);
    let why = ecn::check(&config).err()?;
    let asks = config.flows.iter().map(|flow| config.hosts_of(flow)[0]);
    let asks = asks.into_iter().find(|station| ecn::asks(station.host, 0))?;
    let known = run.stations().into_iter().find(|station| station.name == asks.name)?;
    Some(refused(format!("{}.sysctl.net.ipv4.tcp_ecn", known.key()), why))
}

fn of_queues(run: &Resolved) -> impl Iterator<Item = (String, Support)> {
    let elements = run.path.forward.iter().chain(&run.path.back);
    let others = elements.filter(|element| {
        let discipline = element.queue().map(|queue| &queue.discipline);
        matches!(discipline, Some(Discipline::Pie(_) | Discipline::Cake(_)))
    });
    others.map(|element| {
        let key = format!("path, element {}, queue.discipline", element.name());
        let why =
            "the simulator has droptail, fq, codel, fq_codel and red; --engine linux has others";
        refused(key, why.into())
    })
}

fn of_host(key: &str, host: &Host) -> Vec<(String, Support)> {
    let sysctls = host.real_sysctl.keys().map(|name| {
        let why = "the simulator does not model it; --engine linux does it";
        refused(format!("{key}.sysctl.{name}"), why.into())
    });

    // In the simulator TCP of older kernels sets no pace for fq to keep.
    let paces = profile::find(&host.config.kernel)
        .is_some_and(|profile| profile.departure_times || profile.fq_paces);

    // fq still serves flows in turn: a substitution, not a refusal.
    let qdisc = (host.qdisc.kind == QdiscKind::Fq && !paces).then(|| {
        let what = format!(
            "flows are served in turn and not paced: TCP of Linux {} sets no pace in the simulator",
            host.config.kernel
        );
        (format!("{key}.qdisc.kind"), Support::Substituted(what))
    });

    // A later kernel brought byte queue limits.
    let has_bql = KernelVersion::parse(&host.config.kernel) >= KernelVersion::parse(BQL_SINCE);
    let bql = (host.config.bql && !has_bql).then(|| {
        let why = format!(
            "Linux {} has no byte queue limits, {BQL_SINCE} and later have them",
            host.config.kernel
        );
        refused(format!("{key}.bql"), why)
    });
    let gro = waiting_gro(host).map(|why| refused(format!("{key}.gro_flush_timeout"), why));
    let driver = requeueing(host).map(|why| refused(format!("{key}.driver"), why));
    let stops = stopping(host).map(|(part, why)| refused(format!("{key}.{part}"), why));
    qdisc.into_iter().chain(stops).chain(bql).chain(driver).chain(gro).chain(sysctls).collect()
}

/// Why a driver cannot requeue as it is asked to.
fn requeueing(host: &Host) -> Option<String> {
    // Only these queues keep a requeued skb in front.
    let fifo = matches!(host.qdisc.kind, QdiscKind::PfifoFast | QdiscKind::Pfifo);

    // Reasons go in the order in which a user would mend them.
    let why = match () {
        () if host.config.driver == Driver::Stops => return None,
        () if !fifo => {
            "of the queues pfifo_fast and pfifo take a refused skb back; set `qdisc.kind`"
        }
        () if host.config.tso => {
            "an skb of many segments is not known there, and `tso` is on; set `tso = false`"
        }
        () if host.config.bql => "byte queue limits stop the queue before; leave `bql` out",
        () => return None,
    };
    Some(why.into())
}

/// Which key keeps a driver from stopping its queue as it is asked to, and why.
fn stopping(host: &Host) -> Option<(&'static str, String)> {
    let config::Host { tx_stop: stop, tx_wake: wake, tx_ring: ring, .. } = &host.config;
    let unusual = if *stop > 1 { "tx_stop" } else { "tx_wake" };
    match () {
        // Waking must come after stopping, and must be possible at all.
        () if stop > wake => Some((
            "tx_stop",
            format!(
                "a queue that stops below {stop} free descriptors and wakes at {wake} would never rest; set it to at most `tx_wake`"
            ),
        )),
        () if wake > ring => Some((
            unusual,
            format!(
                "the ring has {ring} descriptors, and {wake} are never free; set it to at most `tx_ring`"
            ),
        )),
        () if host.config.driver == Driver::Requeues && *wake > 1 => Some((
            unusual,
            "a driver that requeues stops no queue; leave it out, or `driver`".into(),
        )),
        () => None,
    }
}

/// Why GRO cannot wait as it is asked to.
fn waiting_gro(host: &Host) -> Option<String> {
    if host.config.gro_flush_timeout == Time::ZERO {
        return None;
    }
    if KernelVersion::parse(&host.config.kernel) < KernelVersion::parse(GRO_WAITS_SINCE) {
        let kernel = &host.config.kernel;
        return Some(format!("Linux {kernel} does not wait, {GRO_WAITS_SINCE} and later may"));
    }
    let polled = host.config.receive_path == ReceivePath::Napi;
    (!host.config.gro || !polled)
        .then(|| "it is GRO's, which `gro` or `receive_path` rule out".into())
}

fn refused(key: String, why: String) -> (String, Support) {
    (key, Support::Refused(why))
}
