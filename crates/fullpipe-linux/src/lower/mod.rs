//! Plan of a resolved scenario for the guest, and keys that it cannot do.

mod datagrams;
mod flows;
mod hosts;
#[cfg(test)]
mod kernel_tests;
mod nfs;

use super::kernel::{Family, Hz};
use super::nic;
use super::realise;
use super::topology::{self, Watched};
use fullpipe_base::path::Direction;
use fullpipe_base::rng::Rng;
use fullpipe_base::units::Time;
use fullpipe_guest::plan::{self, Plan, Qdisc};
use fullpipe_scenario::engine::Support;
use fullpipe_scenario::memory;
use fullpipe_scenario::{App, Host, Neighbour, Resolved, Station, profile};

/// Linux makes no segments of less than 48 bytes (net.ipv4.tcp_min_snd_mss), whatever the MTU: with 40 of headers.
const LEAST_MTU: u32 = 88;
/// Samples are no closer, ns.
const CLOSEST: u64 = 100_000;
/// Interval of counters, if the scenario has none: they cost more than other samples.
const COUNTERS: Time = Time::ms(10);
/// Needs of a run: its plan, and the kernel.
pub(super) struct Lowered {
    pub(super) plan: Plan,
    /// Parameters of modules, as words of the kernel's command line.
    pub(super) words: Vec<String>,
    /// Stages of the trace.
    pub(super) stages: Vec<Watched>,
    pub(super) memory_mib: u64,
}

/// Keys that are not done exactly, and the deviations.
type Answers = Vec<(String, Support)>;

/// The keys of `run` that this engine does not do exactly on a kernel of that family.
pub(super) fn support(run: &Resolved, family: Family) -> Answers {
    let mut answers = Answers::new();
    for station in run.stations() {
        hosts::answers(&station.key(), station.host, family, &mut answers);
    }
    one_kernel(run, &mut answers);
    one_guest(run, &mut answers);
    cards(run, &mut answers);
    if run.report.sample.0 < CLOSEST {
        answers.push(refused("report.sample", "samples are at least 0.1 ms apart"));
    }
    if run.report.packets.is_some() {
        answers
            .push(refused("report.packets", "a genuine kernel's packets are not told singly yet"));
    }
    path_answers(run, &mut answers);
    nfs::answers(run, family, &mut answers);
    flows::answers(run, &mut answers);
    datagrams::answers(run, &mut answers);
    if let Err((key, why)) = flows::words(run, family) {
        answers.push(refused(&key, &why));
    }
    answers
}

/// Checks settings that both hosts share, because they are in one kernel.
fn one_kernel(run: &Resolved, answers: &mut Answers) {
    let (sender, receiver) = (&run.hosts.sender, &run.hosts.receiver);
    let both_ways = carries(run, Direction::Forward) && carries(run, Direction::Backward);

    // Only a host that receives data uses rmem_max, so both may differ if data has one way.
    let [of_sender, of_receiver] = [sender, receiver].map(|host| host.config.sysctl.rmem_max);
    if of_sender != of_receiver && both_ways {
        let why = format!("{of_receiver}, which is the receiver's: one kernel has one for both");
        let key = "hosts.sender.sysctl.net.core.rmem_max";
        answers.push((key.into(), Support::Substituted(why)));
    }
    hosts::one_tcp_mem(run, answers);

    // A kernel has one clock of jiffies, so all of its hosts have one HZ.
    let hz = sender.config.hz;
    for station in run.stations().iter().filter(|station| station.host.config.hz != hz) {
        let why = format!(
            "{}, and {hz} at the sender; all hosts are in one kernel, so set `hz` of all to the same",
            station.host.config.hz
        );
        answers.push(refused(&format!("{}.hz", station.key()), &why));
    }
    if let Err(why) = hz.to_string().parse::<Hz>() {
        answers.push(refused("hosts.sender.hz", &format!("{hz}; {why}")));
    }
}

/// Checks the bounds of a guest.
fn one_guest(run: &Resolved, answers: &mut Answers) {
    if run.path.mtu < LEAST_MTU {
        let why =
            format!("{}; Linux sends segments of 48 bytes at least: {LEAST_MTU}", run.path.mtu);
        answers.push(refused("path.mtu", &why));
    }
    if run.flow.len() > plan::MAX_FLOWS {
        let why = format!("{} flows; one guest runs {} at most", run.flow.len(), plan::MAX_FLOWS);
        answers.push(refused("flow", &why));
    }
    neighbours(run, answers);
}

/// Refuses extra hosts that a guest cannot have: it has them at the sender's end alone, and only with mounts.
fn neighbours(run: &Resolved, answers: &mut Answers) {
    for own in &run.host {
        if own.direction == Direction::Backward {
            let why = "hosts of a guest stand beside the sender; the simulator has others";
            answers.push(refused(&format!("host.{}.beside", own.name), why));
        }
        let is_its = |end: &Option<String>| end.as_ref() == Some(&own.name);
        let mut flows = run.flow.iter().filter(|flow| flow.app != App::Nfs);
        if flows.any(|flow| is_its(&flow.from) || is_its(&flow.to)) {
            let why = "a guest's host beside the sender has mounts (`nfs`), no flows of its own yet; the simulator has them";
            answers.push(refused(&format!("host.{}", own.name), why));
        }
    }
}

/// Whether data of flows or datagrams go there.
fn carries(run: &Resolved, direction: Direction) -> bool {
    run.has(direction) || run.datagrams.iter().any(|own| own.direction == direction)
}

/// Where packets wait for cards.
fn cards(run: &Resolved, answers: &mut Answers) {
    let backward = carries(run, Direction::Backward);
    let (sender, receiver) = (&run.hosts.sender, &run.hosts.receiver);
    if receiver.config.nic_rate < sender.config.nic_rate && !backward {
        let what =
            Support::Substituted("no queue is full of the ACKs that wait for the card".into());
        answers.push(("hosts.receiver.nic_rate".into(), what));
    }

    // Packets for a slow card fill its ring first; the guest has the qdisc alone.
    for station in run.stations() {
        let Station { direction, host, .. } = station;
        let way = match direction {
            Direction::Forward => &run.path.forward,
            Direction::Backward => &run.path.back,
        };
        let slowest = way.iter().filter_map(|element| Some(element.rate()?.0)).min();
        let is_slower = slowest.is_none_or(|slowest| host.config.nic_rate < slowest);
        // A packet on the wire has the only descriptor: waiting packets are in the qdisc already.
        let nothing_waits = host.config.tx_ring == 1 && !host.config.tso;
        if is_slower && !nothing_waits && (direction == Direction::Forward || backward) {
            let what = "all that waits for the card is in the qdisc".to_string();
            // Where the scenario says nothing about this outgoing side, its card and ring are the defaults.
            let asked = slowest.is_some() || !is_default(host, run);
            let what = if asked { Support::Substituted(what) } else { Support::Noted(what) };
            answers.push((format!("{}.tx_ring", station.key()), what));
        }
    }
}

/// Whether a host's card and its ring have their default values.
fn is_default(host: &Host, run: &Resolved) -> bool {
    let ring = profile::kernel(&host.config.kernel).map(|kernel| kernel.ring);
    ring == Some(host.config.tx_ring) && host.config.nic_rate == run.path.default_nic_rate()
}

/// Answers about each element by itself, then about all in their order.
fn path_answers(run: &Resolved, answers: &mut Answers) {
    let ways = [("forward", &run.path.forward), ("back", &run.path.back)];
    let elements = ways.iter().flat_map(|(way, elements)| elements.iter().map(move |e| (way, e)));
    let around = run.surroundings();
    let mut wrong = false;
    for (way, element) in elements {
        let impairment = element.impairment(&around);
        if let Some((part, what)) = realise::instead(&impairment) {
            let key = format!("path.{way}.{}.{part}", element.name());
            answers.push((key, Support::Substituted(what.into())));
        }
        if let Err(why) = realise::realise(&impairment, topology::wire(run)) {
            wrong = true;
            answers.push(refused(&format!("path, element {}", element.name()), &why));
        }
    }

    // The routers can be counted only where each element can be had.
    match topology::routers(run) {
        Err((name, why)) if !wrong => {
            answers.push(refused(&format!("path, element {name}"), &why));
        }
        Ok((routers, _)) if routers.len() + run.host.len() > plan::MAX_ROUTERS => {
            let why = format!(
                "its elements and hosts need {} routers, and one guest has {} at most; leave some out, or make one of several \
                 (delays behind each other are one longer delay)",
                routers.len() + run.host.len(),
                plan::MAX_ROUTERS
            );
            answers.push(refused("path", &why));
        }
        _ => {}
    }
}

fn refused(key: &str, why: &str) -> (String, Support) {
    (key.into(), Support::Refused(why.into()))
}

/// The plan of the guest for `run`, of which [`support`] refuses nothing.
///
/// # Errors
/// The key that is refused after all.
pub(super) fn lower(run: &Resolved, family: Family) -> Result<Lowered, String> {
    let text = |(key, why): (String, String)| format!("{key}: {why}");
    let (routers, mut stages) = topology::routers(run).map_err(text)?;
    let (sender, receiver) = (&run.hosts.sender, &run.hosts.receiver);
    let stage_of = |name: &str, goes, host: &Host, namespace| topology::Watched {
        serial: Some(nic::serial(host, run.path.mtu)),
        ..nic::card_stage(name, goes, &host.qdisc, namespace)
    };

    // Packets pass a card before the path, so stages of cards come first.
    let last = routers.len() + 1;
    let beside = run.host.iter().zip(last + 1..);
    let beside = beside.map(|(own, at)| stage_of(&own.name, own.direction, &own.host, at));
    let of_sender = stage_of("sender", Direction::Forward, sender, 0);
    let cards: Vec<_> = std::iter::once(of_sender).chain(beside).collect();
    stages.splice(0..0, cards);

    // The receiver's card is a stage only where the receiver sends data.
    let backward = carries(run, Direction::Backward);
    if backward {
        let back = stages.iter().position(|stage| stage.info.direction == "back");
        let own = stage_of("receiver", Direction::Backward, receiver, last);
        stages.insert(back.unwrap_or(stages.len()), own);
    }
    for (index, stage) in stages.iter_mut().enumerate() {
        stage.info.index = index as u16;
    }
    let of_card = |host: &Host| nic::card(host, run.path.mtu);
    // A card that sends nothing but ACKs is no limit.
    let of_receiver = if backward { of_card(receiver) } else { nic::open(&receiver.qdisc) };
    let receives = if carries(run, Direction::Forward) { receiver } else { sender };
    let connections = run.flow.iter().filter(|flow| flow.app != App::Nfs);
    let mut plan = Plan {
        end_ns: run.duration.0,
        sample_ns: run.report.sample.0,
        counters_ns: run.report.counters.unwrap_or(COUNTERS).0,
        mtu: run.path.mtu,
        gso: run.path.gso,
        seed: run.seed,
        sysctl: vec![
            ("net/ipv4/tcp_mem".into(), hosts::tcp_mem(run)),
            ("net/core/netdev_max_backlog".into(), "1000000".into()),
            // The window scale that the receiver offers follows from it (tcp_select_initial_window).
            ("net/core/rmem_max".into(), receives.config.sysctl.rmem_max.to_string()),
        ],
        sender: plan::Host {
            out: plan::Way {
                qdiscs: seeded(of_card(sender), run.seed, "sender.qdisc"),
                ..plan::Way::default()
            },
            ..hosts::host(sender)
        },
        routers,
        receiver: plan::Host {
            out: plan::Way {
                qdiscs: seeded(of_receiver, run.seed, "receiver.qdisc"),
                ..plan::Way::default()
            },
            ..hosts::host(receiver)
        },
        beside: run.host.iter().map(|own| beside_sender(own, run)).collect(),
        flows: connections.map(|flow| flows::flow(flow, run)).collect(),
        nfs: run.nfs.iter().map(|own| nfs::mount(own, run)).collect(),
        datagrams: run.datagrams.iter().map(|own| datagrams::datagrams(own, run)).collect(),
        watched: topology::watches(&stages),
        real_time: false,
    };

    // Any host may have a mount or a server, so all get the settings of NFS.
    let beside = plan.beside.iter_mut().map(|own| &mut own.host);
    for host in [&mut plan.sender, &mut plan.receiver].into_iter().chain(beside) {
        host.sysctl.extend(nfs::sysctl(run));
    }
    let memory_mib = memory::of_kernel_mib(run);
    Ok(Lowered { plan, words: flows::words(run, family).map_err(text)?, stages, memory_mib })
}

/// The plan of a guest in real time: two hosts and a router between them, without qdiscs and elements.
pub(super) fn bare(run: &Resolved) -> Plan {
    Plan {
        end_ns: run.duration.0,
        sample_ns: run.report.sample.0,
        counters_ns: run.report.counters.unwrap_or(COUNTERS).0,
        mtu: run.path.mtu,
        gso: true,
        seed: run.seed,
        sysctl: Vec::new(),
        sender: hosts::host(&run.hosts.sender),
        routers: vec![plan::Router::default()],
        receiver: hosts::host(&run.hosts.receiver),
        beside: Vec::new(),
        flows: run.flow.iter().map(|flow| flows::flow(flow, run)).collect(),
        nfs: Vec::new(),
        datagrams: run.datagrams.iter().map(|own| datagrams::datagrams(own, run)).collect(),
        watched: Vec::new(),
        real_time: true,
    }
}

/// An extra host at the sender's end.
fn beside_sender(own: &Neighbour, run: &Resolved) -> plan::Beside {
    let of_card = nic::card(&own.host, run.path.mtu);
    let qdiscs = seeded(of_card, run.seed, &format!("{}.qdisc", own.name));
    let out = plan::Way { qdiscs, ..plan::Way::default() };
    plan::Beside { name: own.name.clone(), host: plan::Host { out, ..hosts::host(&own.host) } }
}

/// A host's qdiscs, with the random numbers of a run with that seed.
fn seeded(mut qdiscs: Vec<Qdisc>, seed: u64, name: &str) -> Vec<Qdisc> {
    for qdisc in &mut qdiscs {
        if let Qdisc::Netem(netem) = qdisc {
            netem.seed = Rng::new(seed, name).next_u64();
        }
    }
    qdiscs
}
