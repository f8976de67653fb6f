//! Remedies for the first limit of a run, where the arithmetic cure does not fill the path.

use super::super::case::Case;
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use super::super::trial::Outcome;
use super::faults::INITCWND;
use super::flows::{congestion, streams, streams_because};
use super::hosts::At;
use super::{buffers, datagrams, exchange, mounts, pace};
use crate::analysis::words;
use crate::scenario::{Discipline, Element, Host, QdiscKind, Version};

/// Paces that are tried where bursts still overflow a queue.
const LOWER_PACES: [f64; 2] = [0.95, 0.9];
/// Streams that are tried in the place of a flow.
const STREAMS: [u32; 2] = [4, MOST_TRIED];
/// Most streams that are tried where packets are lost.
pub const MOST_TRIED: u32 = 8;
/// Most parallel streams that are advised.
const MOST_FLOWS: u32 = 16;
/// Factor on the descriptors of an enlarged ring, and its largest number of descriptors.
const RING_FACTOR: u32 = 8;
const LARGEST_RING: u32 = 8192;
/// First cwnd that is tried, packets.
const LARGE_INITCWND: u32 = 32;
/// Packets of one flow of fq, where TCP's own packets were dropped.
const LONG_FLOW: u32 = 1000;
/// First kernel with fq (net/sched/sch_fq.c).
const FQ_SINCE: Version = Version::new(3, 12, 0);
/// Qdiscs that fq may replace: plain queues, and hosts' defaults.
const USUAL: [QdiscKind; 4] =
    [QdiscKind::PfifoFast, QdiscKind::Pfifo, QdiscKind::Bfifo, QdiscKind::FqCodel];
/// Factor on the size of a buffer that arithmetic makes too small.
const MORE: f64 = 1.5;

/// Lists of changes against the first limit. Each list is tried with the changes that are accepted. `paces`: programs may set a
/// pace.
pub fn remedies(
    case: &Case,
    accepted: &[Change],
    outcome: &Outcome,
    paces: bool,
) -> Vec<Vec<Change>> {
    let Some(headline) = &outcome.headline else { return Vec::new() };
    let limit = headline.limit.as_deref().unwrap_or("");
    let rule = headline.rule.as_deref().unwrap_or("");
    let place = headline.place.as_deref().unwrap_or("");
    let stage = outcome.run.stages.iter().find(|own| own.name == place);
    let kind = stage.map_or("", |own| &own.kind[..]);
    let is_cut = stage.is_some_and(|own| own.dropped + own.marked > 0);

    // The rule that found the cause goes before the place, and the place before the limit.
    let mut all = match (kind, limit) {
        _ if rule == "remembered-ssthresh" => metrics(case),
        _ if rule.starts_with("tcp-mem") => buffers::memory(case, headline),
        ("rx_ring" | "backlog", _) if is_cut => rings(case, place, kind),
        ("udp_socket", _) if is_cut => {
            let asked = case.datagrams.as_ref().map(|own| own.name.as_str());
            let own = outcome.run.datagrams.iter().find(|own| Some(&own.name[..]) == asked);
            let reading = own.and_then(|own| own.reading.as_ref());
            stage.map(|stage| datagrams::socket(case, stage, reading)).into_iter().collect()
        }
        ("delay", _) if is_cut => vec![datagrams::delay(case, place)],
        ("qdisc", _) if is_cut => qdisc(case, place),
        ("loss" | "gilbert-elliott", _) if is_cut => losses(case),
        _ if rule == "aqm" => marks(case),
        _ if rule == "program-window" => vec![exchange::more(case)],
        _ if rule == "delayed-ack" => exchange::sooner(case),
        _ if rule == "read-ahead" => vec![mounts::read_ahead(case, accepted)],
        _ if rule == "rpc-slots" => mounts::calls(case),
        _ if rule == "server-threads" => vec![mounts::threads(case)],
        _ if rule == "slow-reader" && !exchange::larger_reads(case).is_empty() => {
            vec![exchange::larger_reads(case)]
        }
        _ if ["busy-cpu", "small-reads"].contains(&rule) => {
            [vec![exchange::larger_calls(case, rule)], mtu(case, place)].concat()
        }
        _ if rule == "small-packets" => mtu(case, place),
        _ if rule == "stuck-window" => stuck_window(case),
        _ if rule == "connecting" => vec![exchange::one_connection(case)],
        // Too few round trips: fewer connections, a larger start, or a larger first window.
        _ if rule == "few-round-trips" => {
            [vec![exchange::one_connection(case)], start(case), larger(case, accepted, 1)].concat()
        }
        (_, "send_buffer") => larger(case, accepted, 0),
        (_, "receive_window") => larger(case, accepted, 1),
        (_, "application") => pauses(case),
        // A pace of the path holds a flow below it: TCP's window does.
        (_, "pacing") => vec![beyond_window(case)],
        (_, "cwnd_slow_start") => start(case),
        _ if is_cut => overflow(case, accepted, place),
        (_, limit) if limit.starts_with("cwnd") => growth(case, accepted),
        _ => Vec::new(),
    };

    // Without a pace in programs fq may pace for them.
    if !paces && (is_cut || limit.starts_with("cwnd")) {
        all.push(paced_by_fq(case));
    }
    all.retain(|changes| !changes.is_empty());
    all
}

/// Lower paces, a window that cannot overflow the queue, and more flows.
fn overflow(case: &Case, accepted: &[Change], place: &str) -> Vec<Vec<Change>> {
    let mut all: Vec<Vec<Change>> =
        LOWER_PACES.iter().map(|share| pace::at(case, *share)).collect();
    if accepted.iter().all(|change| change.rank != Rank::Pace) {
        all.insert(0, pace::changes(case));
    }
    all.push(buffers::caps(case));
    all.push(longer(case, place));
    all.push(bucket(case, place));
    all.push(single_segments(case));
    all.push(streams(case, STREAMS[0]));
    all
}

/// TSO off together with a pace: an skb of TSO is a burst of up to 64 KiB, which a very short queue does not hold.
fn single_segments(case: &Case) -> Vec<Change> {
    let mut all = pace::changes(case);
    if all.is_empty() {
        return all;
    }
    for (host, _) in case.hosts(0).into_iter().filter(|(_, own)| own.config.tso) {
        let at = At { host, scope: Scope::Sender };
        all.push(at.offload("tso", false).rank(Rank::Method).why(format!(
            "bursts of TSO are longer than the queue of the path; {host} spends more CPU on each packet"
        )));
    }
    all
}

/// More flows, and a congestion control that does not take loss as congestion.
fn losses(case: &Case) -> Vec<Vec<Change>> {
    let streams = STREAMS.iter().chain(mounts::also_tried(case)).map(|own| streams(case, *own));
    std::iter::once(congestion(case, "bbr")).chain(streams).collect()
}

/// ECN, where a queue of the path marks packets of ECN flows.
fn marks(case: &Case) -> Vec<Vec<Change>> {
    let name = "net.ipv4.tcp_ecn";
    vec![
        case.hosts(0)
            .into_iter()
            .filter(|own| own.1.config.sysctl.tcp_ecn != Some(1))
            .map(|(host, own)| {
                let today = own.config.sysctl.tcp_ecn.map_or("2".into(), |today| today.to_string());
                let why = "the queue of the path marks packets instead of dropping them";
                let at = At { host, scope: Scope::Sender };
                at.sysctl(name, "1", Some(1.into())).values(today, 1).why(why)
            })
            .collect(),
    ]
}

/// Full-sized packets, for the network to allow.
fn mtu(case: &Case, place: &str) -> Vec<Vec<Change>> {
    let today = case.today.path.mtu;
    let larger = [1500, 9000].into_iter().filter(|mtu| *mtu > today);
    let change = |mtu: u32| {
        let ping = format!("ping -M do -s {}", mtu - 28);
        let words = format!("MTU {mtu} on every device of the path (test: {ping})");
        Change::new("MTU", place, Scope::Path, How::Path { words })
            .rank(Rank::Method)
            .values(today, mtu)
            .why("larger packets carry more payload, and cost each CPU less")
            .edits([Edit::Set { key: vec!["path".into(), "mtu".into()], value: Some(mtu.into()) }])
    };
    larger.map(|mtu| vec![change(mtu)]).collect()
}

/// A longer queue at the place that drops, for the network to set.
fn longer(case: &Case, place: &str) -> Vec<Change> {
    // The product of rate and round trip, as routers are usually sized.
    let product = case
        .allowed
        .as_ref()
        .map(|own| (own.rate as f64 / 8.0 * case.round_trip.as_secs_f64()) as u64);
    let (Some(bytes), Some(today)) = (product, case.queue) else { return Vec::new() };

    // Another place than the bottleneck needs no such queue.
    if bytes <= today || case.allowed.as_ref().is_none_or(|own| own.place != place) {
        return Vec::new();
    }
    let words = format!("a queue of {} at {place}", words::bytes(bytes));
    let change = Change::new("queue limit", place, Scope::Path, How::Path { words })
        .rank(Rank::Size)
        .values(words::bytes(today), words::bytes(bytes))
        .why("a queue of one bandwidth-delay product takes the bursts of slow start")
        .edits([Edit::element(
            case.direction,
            place,
            &["queue", "limit"],
            Some(format!("{bytes}B").into()),
        )]);
    vec![change]
}

/// A larger bucket of the policer that drops, for the network to set.
fn bucket(case: &Case, place: &str) -> Vec<Change> {
    let change = |element: &Element| {
        let Element::Policer(own) = element else { return None };
        let bytes = (own.rate.0 as f64 / 8.0 * case.round_trip.as_secs_f64()) as u64;
        let [today, advised] = [own.burst, bytes].map(words::bytes);
        let words = format!("a burst of {advised} at {place} (tc police ... burst {bytes})");
        let change = Change::new("policer burst", place, Scope::Path, How::Path { words })
            .rank(Rank::Size)
            .values(today, advised)
            .why("a bucket of one bandwidth-delay product takes the bursts of slow start")
            .edits([Edit::element(
                case.direction,
                place,
                &["burst"],
                Some(format!("{bytes}B").into()),
            )]);
        (bytes > own.burst).then_some(change)
    };
    let there = case.today.way(case.direction).iter().filter(|own| own.name() == place);
    there.filter_map(change).collect()
}

/// A first receive buffer that is large enough for autotuning to begin, or packets as large as the path's.
fn stuck_window(case: &Case) -> Vec<Vec<Change>> {
    let path = case.today.path.mtu;
    let smaller = |(host, own): (&str, &Host)| {
        let today = own.config.mtu.filter(|mtu| *mtu > path)?;
        let at = At { host, scope: Scope::Receiver };
        let why = "the receiver expects packets of its own MTU, and gets those of the path";
        Some(at.mtu(path).values(today, path).why(why))
    };
    let mtu = case.hosts(1).into_iter().filter_map(smaller).collect();
    vec![buffers::first(case), mtu]
}

/// Buffers by arithmetic. Where these are accepted, larger ones; and larger ones at the `end` that holds the flow.
fn larger(case: &Case, accepted: &[Change], end: usize) -> Vec<Vec<Change>> {
    let more = accepted.iter().filter_map(|change| buffers::scaled(case, change, MORE));
    let beyond = [0, 1].map(|end| buffers::beyond(case, end, MORE));

    // A larger buffer at one end may do nothing without one at the other.
    let both = if beyond.iter().any(Vec::is_empty) { Vec::new() } else { beyond.concat() };
    vec![buffers::changes(case), more.collect(), beyond[end].clone(), both, beyond_window(case)]
}

/// Parallel streams where a flow needs more than TCP's largest window, 1 GiB, with buffers for the part of each.
fn beyond_window(case: &Case) -> Vec<Change> {
    let bound = case.flows.iter().filter_map(|flow| flow.needs?.connections).max();
    let count = bound.and_then(|count| u32::try_from(count).ok());
    let Some(count) = count.map(|count| count.clamp(2, MOST_FLOWS)) else { return Vec::new() };
    let mut each = case.clone();
    for flow in &mut each.flows {
        let sharing = flow.needs.map_or(1, |needs| needs.sharing);
        let sharing = u32::try_from(sharing).unwrap_or(u32::MAX).saturating_mul(count);
        flow.needs = flow.settings.needs(sharing, &flow.congestion);
    }

    let why = "TCP's window ends at 1 GiB, and the path needs more";
    let mut all = buffers::changes(&each);
    all.extend(streams_because(case, count, why));
    all
}

/// Nothing of an earlier connection is kept.
fn metrics(case: &Case) -> Vec<Vec<Change>> {
    let why = "an earlier connection left an ssthresh that ends slow start early";
    vec![each_sender(case, "net.ipv4.tcp_no_metrics_save", "1", why)]
}

/// cwnd stays as it is while the program pauses.
fn pauses(case: &Case) -> Vec<Vec<Change>> {
    let why = "cwnd goes back to its beginning after each pause of the program";
    vec![each_sender(case, "net.ipv4.tcp_slow_start_after_idle", "0", why)]
}

/// A switch of all sending hosts that do not have this value.
fn each_sender(case: &Case, name: &str, value: &str, why: &str) -> Vec<Change> {
    let today = if value == "1" { "0" } else { "1" };
    case.hosts(0)
        .into_iter()
        .filter(|own| {
            let sysctl = &own.1.config.sysctl;
            let is_on = match name {
                "net.ipv4.tcp_no_metrics_save" => sysctl.tcp_no_metrics_save,
                _ => sysctl.tcp_slow_start_after_idle,
            };
            is_on != (value == "1")
        })
        .map(|(host, _)| {
            let key = value.parse::<u64>().ok().map(Into::into);
            let at = At { host, scope: Scope::Sender };
            at.sysctl(name, value, key).values(today, value).why(why)
        })
        .collect()
}

/// A larger first window, for transfers that are over before slow start is.
fn start(case: &Case) -> Vec<Vec<Change>> {
    vec![
        case.hosts(0)
            .into_iter()
            .filter_map(|(host, own)| {
                let today = own.config.initcwnd.unwrap_or(INITCWND);
                let why = "most of the transfer is slow start, which begins with this window";
                let at = At { host, scope: Scope::Sender };
                let larger = at.initcwnd(LARGE_INITCWND).values(today, LARGE_INITCWND).why(why);
                (today < LARGE_INITCWND).then_some(larger)
            })
            .collect(),
    ]
}

fn rings(case: &Case, place: &str, kind: &str) -> Vec<Vec<Change>> {
    let host = place.split('.').next().unwrap_or(place);
    let hosts = [0, 1].into_iter().flat_map(|end| case.hosts(end));
    let Some((_, own)) = hosts.into_iter().find(|(name, _)| *name == host) else {
        return Vec::new();
    };
    let scope = match case.hosts(0).iter().any(|(name, _)| *name == host) {
        true => Scope::Sender,
        false => Scope::Receiver,
    };
    let config = &own.config;
    let today = if kind == "backlog" { config.sysctl.netdev_max_backlog } else { config.rx_ring };
    let more = today.saturating_mul(RING_FACTOR).min(LARGEST_RING.max(today));
    if more <= today {
        return Vec::new();
    }
    let at = At { host, scope };
    let change = match kind {
        "backlog" => at.sysctl("net.core.netdev_max_backlog", &more.to_string(), Some(more.into())),
        _ => at.ring("rx", more),
    };
    let why = format!("{place} drops packets that come while the CPU is away");
    vec![vec![change.values(today, more).why(why)]]
}

/// A qdisc of the sending host that drops TCP's own packets.
fn qdisc(case: &Case, place: &str) -> Vec<Vec<Change>> {
    let host = place.split('.').next().unwrap_or(place);
    let known = case.hosts(0).into_iter().find(|(name, _)| *name == host);

    // netem drops by its own limit, which no other qdisc setting reaches.
    if let Some((_, own)) = known.filter(|(_, own)| own.qdisc.netem.is_some()) {
        return vec![netem(case, host, own)];
    }

    // Two ways out: a longer queue, or a pace that keeps it short.
    let longer = known.filter(|(_, own)| has_fq(own)).map(|(_, own)| {
        fq(host, own, Some(LONG_FLOW)).why(format!("{place} drops TCP's own packets"))
    });
    let paced = pace::changes(case);
    [longer.into_iter().collect(), paced]
        .into_iter()
        .filter(|changes| !changes.is_empty())
        .collect()
}

/// fq in the place of a host's qdisc, with its own bound on the packets of a flow or with another one.
fn fq(name: &str, host: &Host, flow_limit: Option<u32>) -> Change {
    let mut key = serde_json::json!({ "kind": "fq" });
    let mut words = String::from("fq");
    if let Some(packets) = flow_limit {
        key["flow_limit"] = format!("{packets} packets").into();
        words += &format!(" flow_limit {packets}");
    }
    Change::new("qdisc", name, Scope::Sender, How::Qdisc { words: words.clone() })
        .values(host.qdisc.kind.name(), words)
        .edits([Edit::host(name, &["qdisc"], Some(key))])
}

/// Whether a host's kernel has fq.
fn has_fq(host: &Host) -> bool {
    let version: Option<Version> = host.config.kernel.parse().ok();
    version.is_some_and(|own| own >= FQ_SINCE)
}

/// fq on the sending hosts: TCP then spreads its packets over the round trip.
fn paced_by_fq(case: &Case) -> Vec<Change> {
    let hosts = case.hosts(0).into_iter();
    let usual = hosts.filter(|(_, own)| USUAL.contains(&own.qdisc.kind) && has_fq(own));
    let why = "with fq TCP spreads its packets over the round trip, so that fewer bursts overflow a queue";
    usual.map(|(name, own)| fq(name, own, None).rank(Rank::Method).why(why)).collect()
}

/// netem that emulates the path on the sending host holds the product of rate and delay.
fn netem(case: &Case, host: &str, own: &Host) -> Vec<Change> {
    let today = own.qdisc.limit();
    let window = case.flows.iter().filter_map(|flow| flow.alone).map(|own| own.window).max();
    let mss = case.allowed.as_ref().map_or(1448, |own| own.mss.max(1));

    // Twice the window: netem holds the packets that are on their way, and a burst.
    let packets = window.unwrap_or(0).saturating_mul(2) / u64::from(mss);
    let packets = u32::try_from(packets).unwrap_or(u32::MAX).min(1_000_000_000);
    if packets <= today {
        return Vec::new();
    }
    let netem = own.qdisc.netem.as_ref();
    let delay = netem.map_or(0, |own| own.delay.as_us());
    let loss = netem.map_or(0.0, |own| own.loss) * 100.0;
    let lost = if loss > 0.0 { format!(" loss {loss}%") } else { String::new() };
    let words = format!("netem limit {packets} delay {delay}us{lost}");
    let limit = format!("{packets} packets");
    let change = Change::new("netem limit", host, Scope::Sender, How::Qdisc { words })
        .values(format!("{today} packets"), &limit)
        .why("netem drops what it cannot hold while it delays")
        .edits([Edit::host(host, &["qdisc", "limit"], Some(limit.into()))]);
    vec![change]
}

/// A congestion control that grows faster, and a pace.
fn growth(case: &Case, accepted: &[Change]) -> Vec<Vec<Change>> {
    let mut all = Vec::new();
    all.push(congestion(case, "cubic"));
    if accepted.iter().any(|change| change.rank == Rank::Pace) {
        return all;
    }
    all.push(pace::changes(case));
    all.push(streams_because(case, STREAMS[0], "several windows grow side by side"));
    all
}

/// A queue of the path that keeps itself short, for the network to set.
pub fn short_queue(case: &Case) -> Vec<Change> {
    let Some(allowed) = &case.allowed else { return Vec::new() };
    let place = &allowed.place;
    let elements = case.today.way(case.direction).iter();
    let mut queues = elements.filter(|own| own.name() == place).filter_map(Element::queue);
    if queues.any(|own| matches!(own.discipline, Discipline::FqCodel(_))) {
        return Vec::new();
    }
    let words = format!(
        "fq_codel in front of {place} (tc qdisc replace dev DEV root fq_codel; DEV is the device of that router)"
    );
    let value = serde_json::json!({ "discipline": "fq_codel" });
    let change = Change::new("queue", place, Scope::Path, How::Path { words })
        .rank(Rank::Method)
        .values("as it is", "fq_codel")
        .why("fq_codel keeps the queue there at 5 ms, and other flows do not wait behind this one")
        .edits([Edit::element(case.direction, place, &["queue"], Some(value))]);
    vec![change]
}
