//! A resolved scenario as what the guest is asked, and what it cannot be asked.

use super::way::{self, Watched};
use crate::engine::Support;
use crate::scenario::{App, Cpu, Flow, Host, Resolved, profile};
use fullpipe_guest::plan::{self, Plan, Qdisc, Router};
use fullpipe_sim::cc;
use fullpipe_sim::units::Time;
use std::collections::BTreeMap;

/// The kernel that this engine runs.
pub(super) const VERSION: &str = "6.12";
/// Samples are no closer, ns.
const CLOSEST: u64 = 100_000;
/// Memory of a guest that has little in flight, MiB, and the most that one gets.
const MEMORY_MIB: (u64, u64) = (1024, 8192);
/// Memory that a byte in flight, queued or kept for retransmission takes, with what surrounds it.
const MEMORY_PER_BYTE: u64 = 4;
/// Pages of memory for all of TCP: no limit.
const TCP_MEM: &str = "100000000 100000000 100000000";

/// Module parameters of Linux 6.12, by congestion control.
const PARAMETERS: &[(&str, &[&str])] = &[
    (
        "cubic",
        &[
            "fast_convergence",
            "beta",
            "initial_ssthresh",
            "bic_scale",
            "tcp_friendliness",
            "hystart",
            "hystart_detect",
            "hystart_low_window",
        ],
    ),
    (
        "bic",
        &[
            "fast_convergence",
            "max_increment",
            "low_window",
            "beta",
            "initial_ssthresh",
            "smooth_part",
        ],
    ),
];

/// What a run needs.
pub(super) struct Asked {
    pub(super) plan: Plan,
    /// Parameters of modules, as words of the kernel's command line.
    pub(super) words: Vec<String>,
    /// Stages of the trace.
    pub(super) stages: Vec<Watched>,
    pub(super) memory_mib: u64,
}

/// Keys that are not done exactly, and what becomes of them.
type Answers = Vec<(String, Support)>;

/// The keys of `run` that this engine does not do exactly.
pub(super) fn support(run: &Resolved) -> Answers {
    let mut answers = Answers::new();
    for (name, host) in [("sender", &run.hosts.sender), ("receiver", &run.hosts.receiver)] {
        host_answers(&format!("hosts.{name}"), host, &mut answers);
    }
    if run.hosts.sender.hz != run.hosts.receiver.hz {
        answers.push(refused("hosts.receiver.hz", "both hosts are in one kernel, with one HZ"));
    }
    let (sender, receiver) = (run.hosts.sender.nic_rate, run.hosts.receiver.nic_rate);
    if receiver < sender {
        let what = Support::Substituted("ACKs leave the receiver as they are sent".into());
        answers.push(("hosts.receiver.nic_rate".into(), what));
    }
    let slowest = run.path.forward.iter().filter_map(|element| Some(element.rate()?.0)).min();
    if slowest.is_none_or(|slowest| sender < slowest) {
        let what = Support::Substituted("all that waits for the card is in the qdisc".into());
        answers.push(("hosts.sender.tx_ring".into(), what));
    }
    if run.report.sample.0 < CLOSEST {
        answers.push(refused("report.sample", "samples are at least 0.1 ms apart"));
    }
    if let Err((name, why)) = way::routers(run) {
        answers.push(refused(&format!("path, element {name}"), &why));
    }
    if let Err((key, why)) = words(run) {
        answers.push(refused(&key, &why));
    }
    answers
}

fn host_answers(key: &str, host: &Host, answers: &mut Answers) {
    let substituted =
        |part: &str, why: String| (format!("{key}.{part}"), Support::Substituted(why));
    if host.kernel != VERSION {
        answers.push(substituted("kernel", format!("Linux {VERSION} for {}", host.kernel)));
    }
    if !host.behaviour.is_empty() {
        answers.push(refused(&format!("{key}.behaviour"), "a genuine kernel behaves as it does"));
    }
    let Cpu { copy, transmit, receive, ack, sack_walk, .. } = host.cpu;
    let costs = [transmit, receive, ack, sack_walk].iter().any(|cost| *cost > Time::ZERO);
    if copy > 0 || costs {
        answers.push(substituted("cpu", "its CPU takes no time".into()));
    }
    if host.coalesce > Time::ZERO {
        answers.push(substituted("coalesce", "packets are received as they come".into()));
    }
}

fn refused(key: &str, why: &str) -> (String, Support) {
    (key.into(), Support::Refused(why.into()))
}

/// What the guest is asked for `run`, of which [`support`] refuses nothing.
///
/// # Errors
/// What it refuses after all.
pub(super) fn ask(run: &Resolved) -> Result<Asked, String> {
    let told = |(key, why): (String, String)| format!("{key}: {why}");
    let (routers, mut stages) = way::routers(run).map_err(told)?;
    let (sender, receiver) = (&run.hosts.sender, &run.hosts.receiver);
    stages.insert(0, way::card_stage(sender.qdisc.limit));
    for (index, stage) in stages.iter_mut().enumerate() {
        stage.info.index = index as u16;
    }
    let card = way::card(sender.nic_rate, sender.qdisc.limit, run.path.mtu, sender.tso);
    let plan = Plan {
        end_ns: run.duration.0,
        sample_ns: run.report.sample.0,
        mtu: run.path.mtu,
        seed: run.seed,
        sysctl: vec![
            ("net/ipv4/tcp_mem".into(), TCP_MEM.into()),
            ("net/core/netdev_max_backlog".into(), "1000000".into()),
        ],
        sender: plan::Host {
            out: plan::Way { qdiscs: card, ..plan::Way::default() },
            ..host(sender)
        },
        routers: seeded(routers, run.seed),
        receiver: host(receiver),
        flows: run.flow.iter().map(|flow| asked_flow(flow, run)).collect(),
    };
    let memory_mib = memory_mib(run);
    Ok(Asked { plan, words: words(run).map_err(told)?, stages, memory_mib })
}

/// Gives every netem a seed of its own.
fn seeded(mut routers: Vec<Router>, run_seed: u64) -> Vec<Router> {
    let ways = routers.iter_mut().flat_map(|router| [&mut router.forward, &mut router.back]);
    for (number, qdisc) in ways.flat_map(|way| &mut way.qdiscs).enumerate() {
        if let Qdisc::Netem(netem) = qdisc {
            netem.seed =
                run_seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number as u64 + 1);
        }
    }
    routers
}

fn host(host: &Host) -> plan::Host {
    let sysctl = &host.sysctl;
    let triple = |three: [u64; 3]| three.map(|n| n.to_string()).join(" ");
    let switch = |on: bool| u32::from(on).to_string();
    let values = [
        ("tcp_timestamps", switch(host.timestamps)),
        ("tcp_rmem", triple(sysctl.tcp_rmem)),
        ("tcp_wmem", triple(sysctl.tcp_wmem)),
        ("tcp_adv_win_scale", sysctl.tcp_adv_win_scale.to_string()),
        ("tcp_slow_start_after_idle", switch(sysctl.tcp_slow_start_after_idle)),
        ("tcp_window_scaling", switch(sysctl.tcp_window_scaling)),
        ("tcp_sack", switch(sysctl.tcp_sack)),
        ("tcp_dsack", switch(sysctl.tcp_dsack)),
        ("tcp_frto", sysctl.tcp_frto.to_string()),
        ("tcp_reordering", sysctl.tcp_reordering.to_string()),
        ("tcp_early_retrans", sysctl.tcp_early_retrans.to_string()),
        ("tcp_no_metrics_save", switch(sysctl.tcp_no_metrics_save)),
    ];
    plan::Host {
        sysctl: values.map(|(name, value)| (format!("net/ipv4/{name}"), value)).into(),
        gso_max_segs: (!host.tso).then_some(1),
        out: plan::Way::default(),
    }
}

fn asked_flow(flow: &Flow, run: &Resolved) -> plan::Flow {
    let hosts = &run.hosts;
    // What setsockopt grants (net.core.wmem_max, rmem_max), which in this kernel both hosts share.
    let granted = |asked: Option<u64>, most: u64| asked.map(|bytes| bytes.min(most));
    plan::Flow {
        congestion: flow.congestion.name.clone(),
        sndbuf: granted(flow.sndbuf, hosts.sender.sysctl.wmem_max),
        rcvbuf: granted(flow.rcvbuf, hosts.receiver.sysctl.rmem_max),
        start_ns: flow.start.0,
        bytes: flow.bytes,
        duration_ns: flow.duration.map(|time| time.0),
        write: flow.write,
        rate: match flow.app {
            App::Bulk => None,
            App::Rate { rate } => Some(rate.0),
        },
    }
}

/// Congestion controls' parameters that differ from what the scenario's kernel has by default. A kernel has
/// one value of each for all flows.
fn words(run: &Resolved) -> Result<Vec<String>, (String, String)> {
    let mut values = BTreeMap::new();
    for flow in &run.flow {
        let name = flow.congestion.name.as_str();
        let key = |parameter: &str| format!("flow.{}.congestion.{parameter}", flow.name);
        let known = PARAMETERS.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, list)| list);
        for (parameter, value) in changed(flow, &run.hosts.sender.kernel) {
            if !known.contains(&parameter.as_str()) {
                let why = format!("{name} of Linux {VERSION} has no such parameter");
                return Err((key(&parameter), why));
            }
            let word = format!("tcp_{name}.{parameter}");
            if values.insert(word, value).is_some_and(|other| other != value) {
                let why =
                    format!("flows with other values: one kernel has one for all {name} flows");
                return Err((key(&parameter), why));
            }
        }
    }
    Ok(values.into_iter().map(|(word, value)| format!("{word}={value}")).collect())
}

fn changed(flow: &Flow, kernel: &str) -> Vec<(String, i64)> {
    let algorithm = cc::algorithms().into_iter().find(|a| a.name == flow.congestion.name);
    let defaults = algorithm.map(|a| profile::defaults(&a, kernel)).unwrap_or_default();
    let differs = |(name, value): &(&String, &i64)| defaults.get(*name) != Some(value);
    let parameters = flow.congestion.parameters.iter().filter(differs);
    parameters.map(|(name, value)| (name.clone(), *value)).collect()
}

/// The same on every machine, for it changes what the kernel's tables are like.
fn memory_mib(run: &Resolved) -> u64 {
    let most = |asked: Option<u64>, tuned: u64| asked.map_or(tuned, |bytes| 2 * bytes);
    let (sender, receiver) = (&run.hosts.sender.sysctl, &run.hosts.receiver.sysctl);
    let buffers = run.flow.iter().map(|flow| {
        most(flow.sndbuf, sender.tcp_wmem[2])
            .saturating_add(most(flow.rcvbuf, receiver.tcp_rmem[2]))
    });
    let bytes: u64 = buffers.fold(0, u64::saturating_add);
    let wanted = bytes.saturating_mul(MEMORY_PER_BYTE) >> 20;
    (MEMORY_MIB.0 + wanted).next_multiple_of(512).min(MEMORY_MIB.1)
}
