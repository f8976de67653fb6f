//! Facts about an observation that its trace does not hold.

use super::{Observation, SOURCE, Subject};
use crate::analysis::pasted::Pasted;
use crate::analysis::settings::{Buffer, FlowSettings, HostSettings};
use crate::analysis::{Earlier, FlowMeta, RunMeta, WayMeta};
use crate::base::path::Direction;
use crate::base::units::Time;
use crate::numbers;
use fullpipe_observe::live::{HOST, Host};
use serde_json::Map;
use std::collections::BTreeMap;

/// Length of the report's intervals.
const INTERVAL: Time = Time::secs(1);
/// Length of the bins of series.
const BIN: Time = Time::ms(250);

/// Facts about the run of the connection at that place; `sends`: this host's data is what it is about.
pub(super) fn of(own: &Observation, subject: usize, sends: bool) -> RunMeta {
    let subjects = own.order(subject).into_iter().map(|at| &own.followed.subjects[at]);
    let flows: Vec<FlowMeta> =
        subjects.enumerate().flat_map(|(place, it)| flows(own, it, place)).collect();
    let judged = &own.followed.subjects[subject];
    let mss = if sends { judged.last.info.snd_mss } else { judged.last.info.rcv_mss };
    let every = Time(own.manner.every.as_nanos() as u64);
    RunMeta {
        notes: notes(own, subject, sends),
        main_way: Some(if sends { Direction::Forward } else { Direction::Backward }),
        ..of_sockets(&name(judged, true), SOURCE, flows, mss, every)
    }
}

/// Facts about looks at sockets: nothing is known but the flows, which go forward.
pub fn of_sockets(
    name: &str,
    engine: &str,
    flows: Vec<FlowMeta>,
    mss: u32,
    sample: Time,
) -> RunMeta {
    RunMeta {
        variant: name.into(),
        set: Map::new(),
        engine: engine.into(),
        substituted: Vec::new(),
        unvalidated: Vec::new(),
        chosen_qdiscs: Vec::new(),
        tuned: BTreeMap::new(),
        notes: Vec::new(),
        places: BTreeMap::new(),
        partial: false,
        main_way: Some(Direction::Forward),
        main_datagrams: None,
        or_settled: None,
        flows,
        loops: Vec::new(),
        waits: Vec::new(),
        datagrams: Vec::new(),
        nfs: Vec::new(),
        mss: mss.max(1),
        interval: INTERVAL,
        first_interval: INTERVAL,
        clock_offset: Time::ZERO,
        sample,
        bin: BIN,
        ways: [WayMeta::default(), WayMeta::default()],
        published: None,
        expectations: Vec::new(),
    }
}

/// Both ends of a connection in the order of its data.
fn name(own: &Subject, sends: bool) -> String {
    let [from, to] = match sends {
        true => [own.first.here, own.first.there],
        false => [own.first.there, own.first.here],
    };
    format!("{from} > {to}")
}

/// The two flows of a connection: own data first.
fn flows(all: &Observation, own: &Subject, place: usize) -> [FlowMeta; 2] {
    let host = &all.followed.host;
    let there = own.first.there.ip().to_string();
    let first = &own.first.info;
    let earlier =
        |bytes: u64, retransmitted: u64| (bytes > 0).then_some(Earlier { bytes, retransmitted });
    let sent = FlowMeta {
        name: name(own, true),
        direction: Direction::Forward,
        hosts: [HOST.into(), there.clone()],
        congestion: own.first.congestion.clone(),
        kernel: host.sysctls.kernel.clone(),
        start: Time::ZERO,
        follows: false,
        stop: None,
        bytes: None,
        base_rtt: None,
        reverse_flow: Some(2 * place + 1),
        shaper: None,
        settings: settings(host, own, 0),
        earlier: earlier(first.bytes_acked, first.total_retrans),
        pasted: Pasted { always_writes: all.manner.always_writes, ..Pasted::default() },
    };
    let received = FlowMeta {
        name: name(own, false),
        direction: Direction::Backward,
        hosts: [there, HOST.into()],
        congestion: String::new(),
        kernel: String::new(),
        reverse_flow: Some(2 * place),
        settings: settings(host, own, 1),
        earlier: earlier(first.bytes_received, 0),
        ..sent.clone()
    };
    [sent, received]
}

/// Settings of this host, which is the end of that number (0: it sends). Those of the other host are not seen.
fn settings(host: &Host, own: &Subject, end: usize) -> FlowSettings {
    let sysctls = &host.sysctls;
    let most = |own: Option<[u64; 3]>| own.map_or(u64::MAX, |own| own[2]);
    let known = |own: Option<u64>| own.unwrap_or(u64::MAX);
    let mut settings = FlowSettings::default();
    settings.kernels[end] = sysctls.kernel.clone();
    settings.hosts[end] = around(host);
    let (asked, tuned) = (own.sndbuf, most(sysctls.tcp_wmem));
    match end {
        0 => {
            settings.send =
                Buffer { asked, most: known(sysctls.wmem_max), tuned, counts_data: false }
        }
        _ => {
            let (most, tuned) = (known(sysctls.rmem_max), most(sysctls.tcp_rmem));
            settings.receive = Buffer { asked: None, most, tuned, counts_data: false };
        }
    }
    let disabled = |own: Option<bool>| match own {
        Some(false) => vec![HOST.to_string()],
        _ => Vec::new(),
    };
    settings.without_scaling = disabled(sysctls.window_scaling);
    settings.without_sack = disabled(sysctls.sack);
    settings
}

/// Queue and card of this host.
fn around(host: &Host) -> HostSettings {
    let qdisc = host.qdisc.as_ref();
    HostSettings {
        qdisc: qdisc.map_or_else(String::new, |own| own.kind.clone()),
        qdisc_limit: qdisc.and_then(|own| own.limit),
        maxrate: qdisc.and_then(|own| own.maxrate).map(|bytes| u64::from(bytes) * 8),
        tcp_mem: host.sysctls.tcp_mem,
        mtu_probing: host.sysctls.mtu_probing.unwrap_or(false),
        mtu: host.device.as_ref().map_or(0, |own| own.mtu),
        card: host.device.as_ref().and_then(|own| own.speed).map_or(0, |mbit| mbit * 1_000_000),
        ..HostSettings::default()
    }
}

/// Notes on the observation itself.
fn notes(own: &Observation, subject: usize, sends: bool) -> Vec<String> {
    let late = own.followed.lateness;
    if late.looks == 0 {
        return own.warnings(subject);
    }
    let ms = |ns: u64| format!("{} ms", numbers::short(ns as f64 / 1e6));
    let lasted = own.followed.lasted.as_secs_f64().max(1e-9);
    let cost = late.cpu as f64 / 1e9 / lasted * 100.0;
    let mut notes = vec![format!(
        "{} looks at the sockets, {} late in the median and {} at most; they took {} % of a CPU",
        numbers::count(late.looks),
        ms(late.median),
        ms(late.most),
        numbers::short(cost)
    )];
    notes.extend(own.warnings(subject));
    if sends {
        notes.push(
            "bytes delivered are those acknowledged: the receiving program is not seen".into(),
        );
    }
    notes
}
