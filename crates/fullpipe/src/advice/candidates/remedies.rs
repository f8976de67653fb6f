//! Remedies for the first limit of a run, where the arithmetic cure does not fill the path.

use super::super::Case;
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use super::super::trial::Outcome;
use super::{buffers, pace};
use crate::analysis::words::{self, bytes};
use crate::scenario::{Host, Nfs};
use fullpipe_base::path::Direction;

/// Paces that are tried where bursts still overflow a queue.
const LOWER_PACES: [f64; 2] = [0.95, 0.9];
/// Streams that are tried in the place of a flow.
const STREAMS: [u32; 2] = [4, 8];
/// Most connections of a mount (`nconnect` of Linux).
const MOST_CONNECTIONS: u32 = 16;
/// Most parallel streams that are advised.
const MOST_FLOWS: u32 = 16;
/// A ring that is enlarged gets so many times its descriptors, and at most this many.
const RING_FACTOR: u32 = 8;
const LARGEST_RING: u32 = 8192;
/// First cwnd of Linux since 2.6.39, and the one that is tried, packets.
const USUAL_INITCWND: u32 = 10;
const LARGE_INITCWND: u32 = 32;
/// A buffer that is too small by arithmetic's error gets so many times its size.
const MORE: f64 = 1.5;

/// Possibilities of the engine that makes the trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Whether it has bbr.
    pub bbr: bool,
}

/// Lists of changes, each to be tried beside those that are accepted.
pub fn remedies(
    case: &Case,
    accepted: &[Change],
    outcome: &Outcome,
    offers: &Offers,
) -> Vec<Vec<Change>> {
    let Some(headline) = &outcome.headline else { return Vec::new() };
    let limit = headline.limit.as_deref().unwrap_or("");
    let rule = headline.rule.as_deref().unwrap_or("");
    let place = headline.place.as_deref().unwrap_or("");
    let stage = outcome.run.stages.iter().find(|own| own.name == place);
    let kind = stage.map_or("", |own| &own.kind[..]);
    let is_cut = stage.is_some_and(|own| own.dropped + own.marked > 0);

    let mut all = match (kind, limit) {
        _ if rule == "remembered-ssthresh" => metrics(case),
        ("rx_ring" | "backlog", _) if is_cut => rings(case, place, kind),
        ("qdisc", _) if is_cut => qdisc(case, place),
        ("loss" | "gilbert-elliott", _) if is_cut => losses(case, offers),
        _ if rule == "aqm" => marks(case),
        _ if rule == "small-packets" || rule == "busy-cpu" => mtu(case, place),
        (_, "send_buffer" | "receive_window") => larger(case, accepted),
        ("application", _) => pauses(case),
        (_, "cwnd_slow_start") => start(case),
        _ if is_cut => overflow(case, accepted, place),
        (_, limit) if limit.starts_with("cwnd") => growth(case, accepted),
        _ => Vec::new(),
    };
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
    all.push(cap(case));
    all.push(longer(case, place));
    all.push(single_segments(case));
    all.push(vec![streams(case, STREAMS[0])]);
    all
}

/// TSO off beside a pace: an skb of TSO is a burst of up to 64 KiB, which a very short queue does not hold.
fn single_segments(case: &Case) -> Vec<Change> {
    let mut all = pace::changes(case);
    for (host, own) in case.hosts(0).into_iter().filter(|(_, own)| own.config.tso) {
        all.push(Change {
            setting: "ethtool -K tso".into(),
            whose: host.into(),
            scope: Scope::Sender,
            rank: Rank::Method,
            today: "on".into(),
            advised: "off".into(),
            why: format!(
                "bursts of TSO are longer than the queue of the path; {host} spends more CPU on each packet"
            ),
            how: How::Ethtool {
                words: "-K DEV tso off".into(),
                link: vec!["TCPSegmentationOffload=no".into()],
            },
            edits: vec![Edit::host(host, &["tso"], Some((!own.config.tso).into()))],
        });
    }
    all
}

/// The receive buffer holds no more than the flow's part of the path.
fn cap(case: &Case) -> Vec<Change> {
    let mut all = Vec::new();
    for (host, own) in case.hosts(1) {
        let flows = case.flows.iter().filter(|flow| flow.hosts[1] == host);
        let needs = flows.filter_map(|flow| flow.needs).map(|needs| needs.receive.least).max();
        let Some(needs) = needs else { continue };
        let [least, usual, today] = own.config.sysctl.tcp_rmem;
        let most = needs.max(usual);
        if most >= today {
            continue;
        }
        let setting = "net.ipv4.tcp_rmem";
        let value = format!("{least} {usual} {most}");
        all.push(Change {
            setting: setting.into(),
            whose: host.into(),
            scope: Scope::Receiver,
            rank: Rank::Size,
            today: bytes(today),
            advised: bytes(most),
            why: "a window that is no larger than the path cannot overflow its queue".into(),
            how: How::Sysctl { name: setting.into(), value: value.clone() },
            edits: vec![Edit::host(host, &["sysctl", setting], Some(value.into()))],
        });
    }
    all
}

/// Parallel flows in the place of each; of a mount its `nconnect`.
fn streams(case: &Case, count: u32) -> Change {
    if let [mount] = &case.today.nfs[..] {
        return nconnect(mount, count);
    }
    let edits = case.flows.iter().map(|flow| Edit::Copies { flow: flow.name.clone(), count });
    Change {
        setting: "parallel streams".into(),
        whose: case.flows.first().map_or(String::new(), |flow| flow.name.clone()),
        scope: Scope::Application,
        rank: Rank::Method,
        today: "1".into(),
        advised: count.to_string(),
        why: "a loss halves one of the flows, not all".into(),
        how: How::Program { words: format!("{count} parallel streams (iperf3 -P {count})") },
        edits: edits.collect(),
    }
}

/// Connections of a mount.
fn nconnect(mount: &Nfs, count: u32) -> Change {
    let count = count.min(MOST_CONNECTIONS);
    let key = ["nfs", &mount.name, "nconnect"].map(str::to_string).to_vec();
    Change {
        setting: "nconnect".into(),
        whose: mount.name.clone(),
        scope: Scope::Application,
        rank: Rank::Method,
        today: mount.nconnect.to_string(),
        advised: count.to_string(),
        why: "requests go over several connections, each with a window of its own".into(),
        how: How::Mount { words: format!("nconnect={count}") },
        edits: vec![Edit::Set { key, value: Some(count.into()) }],
    }
}

/// More flows, and a congestion control that does not take loss as congestion, where the engine has one.
fn losses(case: &Case, offers: &Offers) -> Vec<Vec<Change>> {
    let mut all: Vec<Vec<Change>> =
        STREAMS.iter().map(|count| vec![streams(case, *count)]).collect();
    if offers.bbr {
        all.insert(0, vec![congestion(case, "bbr")]);
    }
    all
}

/// ECN, where a queue of the path marks packets of flows that have it.
fn marks(case: &Case) -> Vec<Vec<Change>> {
    let name = "net.ipv4.tcp_ecn";
    let without = |own: &(&str, &Host)| own.1.config.sysctl.tcp_ecn != Some(1);
    let change = |(host, own): (&str, &Host)| Change {
        setting: name.into(),
        whose: host.into(),
        scope: Scope::Sender,
        rank: Rank::Cosmetic,
        today: own.config.sysctl.tcp_ecn.map_or("2".into(), |today| today.to_string()),
        advised: "1".into(),
        why: "the queue of the path marks packets instead of dropping them".into(),
        how: How::Sysctl { name: name.into(), value: "1".into() },
        edits: vec![Edit::host(host, &["sysctl", name], Some(1.into()))],
    };
    vec![case.hosts(0).into_iter().filter(without).map(change).collect()]
}

/// Full-sized packets, for the network to allow.
fn mtu(case: &Case, place: &str) -> Vec<Vec<Change>> {
    let today = case.today.path.mtu;
    let larger = [1500, 9000].into_iter().filter(|mtu| *mtu > today);
    let change = |mtu: u32| Change {
        setting: "MTU".into(),
        whose: place.into(),
        scope: Scope::Path,
        rank: Rank::Method,
        today: today.to_string(),
        advised: mtu.to_string(),
        why: "larger packets carry more payload, and cost each CPU less".into(),
        how: How::Path {
            words: format!(
                "MTU {mtu} on every device of the path (test: ping -M do -s {})",
                mtu - 28
            ),
        },
        edits: vec![Edit::Set { key: vec!["path".into(), "mtu".into()], value: Some(mtu.into()) }],
    };
    larger.map(|mtu| vec![change(mtu)]).collect()
}

/// A longer queue at the place that drops, for the network to set.
fn longer(case: &Case, place: &str) -> Vec<Change> {
    let product = case
        .allowed
        .as_ref()
        .map(|own| (own.rate as f64 / 8.0 * case.round_trip.as_secs_f64()) as u64);
    let (Some(bytes), Some(today)) = (product, case.queue) else { return Vec::new() };
    if bytes <= today || case.allowed.as_ref().is_none_or(|own| own.place != place) {
        return Vec::new();
    }
    let way = match case.direction {
        Direction::Forward => "forward",
        Direction::Backward => "back",
    };
    let key = ["path", way, place, "queue", "limit"].map(str::to_string).to_vec();
    vec![Change {
        setting: "queue limit".into(),
        whose: place.into(),
        scope: Scope::Path,
        rank: Rank::Size,
        today: words::bytes(today),
        advised: words::bytes(bytes),
        why: "a queue of one bandwidth-delay product takes the bursts of slow start".into(),
        how: How::Path { words: format!("a queue of {} at {place}", words::bytes(bytes)) },
        edits: vec![Edit::Set { key, value: Some(format!("{bytes}B").into()) }],
    }]
}

/// Buffers by arithmetic, or larger ones where these are accepted.
fn larger(case: &Case, accepted: &[Change]) -> Vec<Vec<Change>> {
    let more = accepted.iter().filter_map(|change| buffers::scaled(case, change, MORE));
    // TCP's window ends at 1 GiB: beyond, several connections fill the path.
    let bound = case.flows.iter().filter_map(|flow| flow.needs?.connections).max();
    let more_flows = bound.and_then(|count| u32::try_from(count).ok()).map(|count| {
        let count = count.clamp(2, MOST_FLOWS);
        vec![streams(case, count)]
    });
    vec![buffers::changes(case), more.collect(), more_flows.unwrap_or_default()]
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
    let change = |(host, _): (&str, &Host)| Change {
        setting: name.into(),
        whose: host.into(),
        scope: Scope::Sender,
        rank: Rank::Cosmetic,
        today: today.into(),
        advised: value.into(),
        why: why.into(),
        how: How::Sysctl { name: name.into(), value: value.into() },
        edits: vec![Edit::host(host, &["sysctl", name], value.parse::<u64>().ok().map(Into::into))],
    };
    let differs = |own: &(&str, &Host)| {
        let sysctl = &own.1.config.sysctl;
        let is_on = match name {
            "net.ipv4.tcp_no_metrics_save" => sysctl.tcp_no_metrics_save,
            _ => sysctl.tcp_slow_start_after_idle,
        };
        is_on != (value == "1")
    };
    case.hosts(0).into_iter().filter(differs).map(change).collect()
}

/// A larger first window, for transfers that are over before slow start is.
fn start(case: &Case) -> Vec<Vec<Change>> {
    let change = |(host, own): (&str, &Host)| {
        let today = own.config.initcwnd.unwrap_or(USUAL_INITCWND);
        (today < LARGE_INITCWND).then(|| Change {
            setting: "ip route initcwnd".into(),
            whose: host.into(),
            scope: Scope::Sender,
            rank: Rank::Cosmetic,
            today: today.to_string(),
            advised: LARGE_INITCWND.to_string(),
            why: "most of the transfer is slow start, which begins with this window".into(),
            how: How::Route { words: format!("initcwnd {LARGE_INITCWND}") },
            edits: vec![Edit::host(
                host,
                &["initcwnd"],
                Some(format!("{LARGE_INITCWND} packets").into()),
            )],
        })
    };
    vec![case.hosts(0).into_iter().filter_map(change).collect()]
}

fn rings(case: &Case, place: &str, kind: &str) -> Vec<Vec<Change>> {
    let host = place.split('.').next().unwrap_or(place);
    let hosts = [0, 1].into_iter().flat_map(|end| case.hosts(end));
    let Some((_, own)) = hosts.into_iter().find(|(name, _)| *name == host) else {
        return Vec::new();
    };
    let scope = match case.flows.iter().any(|flow| flow.hosts[0] == host) {
        true => Scope::Sender,
        false => Scope::Receiver,
    };
    let (setting, key, today) = match kind {
        "backlog" => {
            ("net.core.netdev_max_backlog", "sysctl", own.config.sysctl.netdev_max_backlog)
        }
        _ => ("ethtool -G rx", "rx_ring", own.config.rx_ring),
    };
    let more = today.saturating_mul(RING_FACTOR).min(LARGEST_RING.max(today));
    if more <= today {
        return Vec::new();
    }
    let (how, edit) = match kind {
        "backlog" => (
            How::Sysctl { name: setting.into(), value: more.to_string() },
            Edit::host(host, &[key, setting], Some(more.into())),
        ),
        _ => (
            How::Ethtool {
                words: format!("-G DEV rx {more}"),
                link: vec![format!("RxBufferSize={more}")],
            },
            Edit::host(host, &[key], Some(format!("{more} descriptors").into())),
        ),
    };
    vec![vec![Change {
        setting: setting.into(),
        whose: host.into(),
        scope,
        rank: Rank::Cosmetic,
        today: today.to_string(),
        advised: more.to_string(),
        why: format!("{place} drops packets that come while the CPU is away"),
        how,
        edits: vec![edit],
    }]]
}

/// A qdisc of the sending host that drops TCP's own packets.
fn qdisc(case: &Case, place: &str) -> Vec<Vec<Change>> {
    let host = place.split('.').next().unwrap_or(place);
    let known = case.hosts(0).into_iter().find(|(name, _)| *name == host);
    if let Some((_, own)) = known.filter(|(_, own)| own.qdisc.netem.is_some()) {
        return vec![netem(case, host, own)];
    }
    let edits = vec![Edit::host(
        host,
        &["qdisc"],
        Some(serde_json::json!({ "kind": "fq", "flow_limit": "1000 packets" })),
    )];
    let fq = Change {
        setting: "qdisc".into(),
        whose: host.into(),
        scope: Scope::Sender,
        rank: Rank::Cosmetic,
        today: "as it is".into(),
        advised: "fq flow_limit 1000".into(),
        why: format!("{place} drops TCP's own packets"),
        how: How::Qdisc { words: "fq flow_limit 1000".into() },
        edits,
    };
    let paced = pace::changes(case);
    [vec![fq], paced].into_iter().filter(|changes| !changes.is_empty()).collect()
}

/// netem that emulates the path on the sending host holds the product of rate and delay.
fn netem(case: &Case, host: &str, own: &Host) -> Vec<Change> {
    let today = own.qdisc.limit();
    let window = case.flows.iter().filter_map(|flow| flow.alone).map(|own| own.window).max();
    let mss = case.allowed.as_ref().map_or(1448, |own| own.mss.max(1));
    let packets = window.unwrap_or(0).saturating_mul(2) / u64::from(mss);
    let packets = u32::try_from(packets).unwrap_or(u32::MAX).min(1_000_000_000);
    if packets <= today {
        return Vec::new();
    }
    vec![Change {
        setting: "netem limit".into(),
        whose: host.into(),
        scope: Scope::Sender,
        rank: Rank::Cosmetic,
        today: format!("{today} packets"),
        advised: format!("{packets} packets"),
        why: "netem drops what it cannot hold while it delays".into(),
        how: How::Qdisc { words: format!("netem limit {packets} (and the delay as it is)") },
        edits: vec![Edit::host(
            host,
            &["qdisc", "limit"],
            Some(format!("{packets} packets").into()),
        )],
    }]
}

/// A congestion control that grows faster, and a pace.
fn growth(case: &Case, accepted: &[Change]) -> Vec<Vec<Change>> {
    let mut all = Vec::new();
    let is_other = case.flows.iter().any(|flow| flow.congestion != "cubic");
    if is_other {
        all.push(vec![congestion(case, "cubic")]);
    }
    if accepted.iter().any(|change| change.rank == Rank::Pace) {
        return all;
    }
    all.push(pace::changes(case));
    all.push(vec![streams(case, STREAMS[0])]);
    all
}

fn congestion(case: &Case, name: &str) -> Change {
    let today: Vec<&str> = case.flows.iter().map(|flow| flow.congestion.as_str()).collect();
    let edits =
        case.flows.iter().map(|flow| Edit::flow(&flow.name, &["congestion"], Some(name.into())));
    Change {
        setting: "net.ipv4.tcp_congestion_control".into(),
        whose: case.flows.first().map_or(String::new(), |flow| flow.hosts[0].clone()),
        scope: Scope::Sender,
        rank: Rank::Method,
        today: today.first().copied().unwrap_or("").into(),
        advised: name.into(),
        why: format!("{name} grows back to a large window in less time"),
        how: How::Sysctl { name: "net.ipv4.tcp_congestion_control".into(), value: name.into() },
        edits: edits.collect(),
    }
}
