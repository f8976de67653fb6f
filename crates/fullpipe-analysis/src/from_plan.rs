//! Facts that the analysis needs, taken from a scenario's plan.

use super::lookup::card;
use super::settings;
use crate::main_way::{main_datagrams, main_way};
use crate::meta::{
    DatagramsMeta, Figures, FlowMeta, LoopMeta, Made, NfsMeta, RunMeta, WaitMeta, WayMeta,
};
use crate::pasted::Pasted;
use fullpipe_base::path::{Direction, QueueLimit};
use fullpipe_base::units::{Framing, Rate};
use fullpipe_scenario::profile::{self, is_unvalidated};
use fullpipe_scenario::{
    DatagramKind, Datagrams, Element, Loop, MAX_PACING_RATE, Nfs, NfsOperation, NfsVersion, Plan,
    QdiscKind, Resolved, Scenario, Station, Until,
};
use fullpipe_scenario::{are_copies, shown_system};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

impl RunMeta {
    /// Describes the run of a plan that an engine has made.
    pub fn from_plan(scenario: &Scenario, plan: &Plan, made: Made) -> RunMeta {
        let run = &plan.resolved;
        RunMeta {
            variant: plan.name(),
            set: plan.set.clone(),
            unvalidated: unvalidated(run, made.kernel.is_some()),
            flows: flows(run, made.kernel.as_deref()),
            loops: Loop::all(run).iter().filter_map(|own| of_loop(own, run)).collect(),
            waits: waits(run),
            datagrams: run.datagrams.iter().map(datagrams).collect(),
            nfs: run.mounts().map(|(own, connections)| nfs(run, own, connections)).collect(),
            chosen_qdiscs: chosen_qdiscs(run),
            tuned: tuned(run),
            engine: made.engine,
            substituted: made.substituted,
            notes: fullpipe_scenario::notes::of_run(run),
            places: settings::places(run),
            partial: made.partial,
            main_way: main_way(run),
            main_datagrams: main_datagrams(run).map(|own| own.name.clone()),
            or_settled: (run.report.until == Until::Steady).then_some(run.duration),
            mss: run.mss(),
            interval: run.report.interval,
            first_interval: run.report.first_interval,
            clock_offset: run.report.clock_offset,
            sample: run.report.sample,
            bin: run.bin(),
            ways: [
                way(run, &run.path.forward, Direction::Forward),
                way(run, &run.path.back, Direction::Backward),
            ],
            published: figures(scenario, plan),
            expectations: plan.expectations.clone(),
        }
    }
}

/// A loop of one entry of the scenario (`again`) with a time of its end.
fn of_loop(own: &Loop, run: &Resolved) -> Option<LoopMeta> {
    let ends = [own.first, *own.others.last()?];
    let [first, last] = ends.map(|at| &run.flow[at]);
    let pause = last.after.as_ref()?.pause;
    let until = own.until.filter(|_| are_copies(&first.name, &last.name))?;
    Some(LoopMeta { ends, count: own.others.len() + 1, pause, until })
}

/// Flows that follow a flow of another entry of the scenario (`after`).
fn waits(run: &Resolved) -> Vec<WaitMeta> {
    let of = |(flow, own): (usize, &fullpipe_scenario::Flow)| {
        // Loops are long, and their flows are none of these.
        own.after.as_ref().filter(|after| !are_copies(&after.flow, &own.name))?;
        let (before, after) = run.follows(own)?;
        Some(WaitMeta { flow, before, until: after.until })
    };
    run.flow.iter().enumerate().filter_map(of).collect()
}

/// Kernels without a validated profile; `real`: a kernel ran, not a profile.
fn unvalidated(run: &Resolved, real: bool) -> Vec<String> {
    let kernels = run.stations().into_iter().map(|station| station.host.config.kernel.clone());
    let mut kernels: Vec<String> = kernels.filter(|own| !real && is_unvalidated(own)).collect();
    kernels.dedup();
    let systems = run.stations().into_iter().map(|station| station.host.config.system);
    kernels.extend(systems.filter_map(shown_system).map(str::to_string));
    kernels.dedup();
    kernels
}

/// Qdiscs of sending hosts that differ from their kernels' defaults.
fn chosen_qdiscs(run: &Resolved) -> Vec<String> {
    let senders: Vec<_> = run.flow.iter().map(|flow| run.hosts_of(flow)[0].name).collect();
    let hosts = run.stations().into_iter().filter(|station| senders.contains(&station.name));
    let chosen = hosts.filter(|Station { host, .. }| {
        let of_kernel = profile::kernel(&host.config.kernel).map(|kernel| kernel.qdisc_limit);
        let limit = of_kernel.map(QueueLimit::Packets);
        host.qdisc.kind != QdiscKind::PfifoFast || Some(host.qdisc.limit) != limit
    });
    chosen.map(|station| format!("{}.qdisc", station.name)).collect()
}

/// Buffers that the kernel tunes, up to the maximum of tcp_wmem or tcp_rmem each. A buffer that a flow has requested is
/// doubled (Linux `sock_setsockopt`).
fn tuned(run: &Resolved) -> BTreeMap<String, u64> {
    let (mut bounds, mut are_tuned) = (BTreeMap::new(), BTreeSet::new());
    for flow in &run.flow {
        // Flows of one host share a stage: their bounds add up.
        let [from, to] = run.hosts_of(flow);
        let buffers = [
            (format!("{}.send_buffer", from.name), settings::send_buffer(flow, &from.host.config)),
            (
                format!("{}.receive_buffer", to.name),
                settings::receive_buffer(flow, &to.host.config),
            ),
        ];
        for (stage, buffer) in buffers {
            *bounds.entry(stage.clone()).or_default() += buffer.allows();
            if buffer.asked.is_none() {
                are_tuned.insert(stage);
            }
        }
    }

    // A stage where every flow has asked for a size has no tuned part.
    bounds.retain(|stage, _| are_tuned.contains(stage));
    bounds
}

fn nfs(run: &Resolved, own: &Nfs, connections: Range<usize>) -> NfsMeta {
    NfsMeta {
        name: own.name.clone(),
        version: match own.version {
            NfsVersion::V3 => "3",
            NfsVersion::V4_2 => "4.2",
        },
        host: own.host().into(),
        reads: own.operation == NfsOperation::Read,
        bytes: own.bytes(),
        timeo: own.retry().map(|own| own.timeo),
        call: match own.operation {
            NfsOperation::Read => own.rsize,
            NfsOperation::Write => own.wsize,
        },
        read_ahead: own.read_ahead(run.client(own).host.config.kernel.as_str()),
        threads: own.threads,
        service: own.service,
        connection: connections.start,
    }
}

fn datagrams(own: &Datagrams) -> DatagramsMeta {
    DatagramsMeta {
        name: own.name.clone(),
        echo: own.kind == DatagramKind::Ping,
        backward: own.direction == Direction::Backward,
        size: own.size,
        start: own.start,
        lasts: own.end() - own.start,
        rate: own.rate.map(|rate| rate.0),
        rcvbuf: own.rcvbuf,
    }
}

fn flows(run: &Resolved, real: Option<&str>) -> Vec<FlowMeta> {
    let reverse_of = reverse_flows(run);
    let flow = |(index, flow): (usize, &fullpipe_scenario::Flow)| FlowMeta {
        name: flow.name.clone(),
        congestion: flow.congestion.name.clone(),
        direction: flow.direction,
        hosts: run.hosts_of(flow).map(|station| station.name.into()),
        kernel: real.unwrap_or(&run.hosts_of(flow)[0].host.config.kernel).into(),
        start: flow.start,
        follows: run.opens(flow).after.is_some(),
        stop: flow.duration.map(|duration| flow.start + duration),
        bytes: flow.bytes,
        base_rtt: Some(run.round_trip(flow)),
        reverse_flow: reverse_of[index],
        shaper: shaper(flow, run.hosts_of(flow)[0]),
        settings: settings::flow(run, flow),
        earlier: None,
        pasted: Pasted::default(),
    };
    run.flow.iter().enumerate().map(flow).collect()
}

/// Flow of the other direction of each flow's connection, by index.
fn reverse_flows(run: &Resolved) -> Vec<Option<usize>> {
    let mut reverse_of = vec![None; run.flow.len()];
    for (answers, flow) in run.flow.iter().enumerate() {
        if let Some(asks) = run.answered_by(flow) {
            (reverse_of[asks], reverse_of[answers]) = (Some(answers), Some(asks));
        }
    }
    reverse_of
}

/// The sender's fq where it has a rate to hold the flow to: its own (`maxrate`) or the socket's (SO_MAX_PACING_RATE).
fn shaper(flow: &fullpipe_scenario::Flow, from: Station) -> Option<String> {
    let qdisc = &from.host.qdisc;
    let asked = qdisc.maxrate.is_some() || flow.sockopt.contains_key(MAX_PACING_RATE);
    (qdisc.kind == QdiscKind::Fq && asked).then(|| format!("{}.qdisc", from.name))
}

/// The slowest links of a direction, in the packets' order, with the card of the host in front of it, and the
/// direction's capacity in full segments. With a real kernel the card is part of its host's qdisc.
///
/// A card that is slower than all links is the bottleneck, and packets wait in its ring and in the qdisc. Then no rate
/// is given, because neither of them holds all packets that wait.
fn way(run: &Resolved, elements: &[Element], direction: Direction) -> WayMeta {
    let (host, nic_rate) = match direction {
        Direction::Forward => ("sender", run.hosts.sender.config.nic_rate),
        Direction::Backward => ("receiver", run.hosts.receiver.config.nic_rate),
    };
    let beside = run.stations().into_iter().filter(|station| station.direction == direction);
    let cards: Vec<String> = beside.flat_map(|station| card(station.name)).collect();
    let links: Vec<_> =
        elements.iter().filter_map(|e| Some((e.rate()?.0, e.name().to_string()))).collect();
    let slowest = links.iter().map(|(rate, _)| *rate).min();
    let slow = links.into_iter().filter(|(rate, _)| Some(*rate) == slowest);
    let slow: Vec<String> = slow.map(|(_, name)| name).collect();

    // Only a link of constant rate turns its queue's length into a delay.
    let is_constant = elements
        .iter()
        .any(|e| matches!(e, Element::Link(_)) && e.rate().map(|(rate, _)| rate) == slowest);

    // Without a link the card alone sets the rate.
    let is_card = slowest.is_none_or(|rate| nic_rate < rate);
    let of_card = Some((nic_rate, Framing::EthernetWire)).filter(|_| is_card && slowest.is_some());
    let rates = elements.iter().filter_map(Element::rate).chain(of_card);
    let packets = settings::packets(run, direction);
    WayMeta {
        rate: slowest.filter(|_| is_constant && !is_card).map(|rate| rate.0),
        queues: if is_card { card(host).to_vec() } else { slow.iter().take(1).cloned().collect() },
        bottlenecks: slow.into_iter().chain(cards).collect(),
        capacity_mbit: rates
            .map(|(rate, framing)| payload_mbit(&packets, rate, framing))
            .min_by(f64::total_cmp),
        allowed: settings::allowed(run, direction),
    }
}

/// Payload of full segments at a rate with a framing, Mb/s (10^6).
fn payload_mbit(packets: &settings::Packets, rate: Rate, framing: Framing) -> f64 {
    let on_the_wire = f64::from(packets.mtu + framing.overhead());
    rate.0 as f64 / 1e6 * f64::from(packets.mss) / on_the_wire
}

fn figures(scenario: &Scenario, plan: &Plan) -> Option<Figures> {
    let data = scenario.published.as_ref()?;
    let run = data.run(plan.published_run.as_deref()?)?;
    let hosts = &plan.resolved.hosts;
    Some(Figures {
        source: data.source.clone(),
        run: run.clone(),
        calibrated: hosts.sender.calibrated || hosts.receiver.calibrated,
    })
}
