//! Cures of a path that drops full packets, with ICMP or without it: each alone is enough.

use super::super::case::Case;
use super::super::change::{Change, How, Scope};
use super::super::edit::Edit;
use super::hosts::At;
use crate::scenario::{Host, Mtu};
use fullpipe_sim::tcp::HEADERS;

/// The sender's search for the path MTU.
pub const PROBING: &str = "net.ipv4.tcp_mtu_probing";
/// Levels of that search, and what each does.
const PROBES: [(u32, &str); 2] = [
    (1, "after some timeouts the sender tries smaller segments"),
    (2, "each connection begins with segments of tcp_base_mss, and tries larger ones"),
];
/// A router that lowers the MSS of SYNs.
pub const CLAMP: &str = "MSS clamp";
/// The MTU of the sender's route.
pub const ROUTE: &str = "ip route mtu";

/// Cures of a link that drops full packets, the lightest first; none where packets are smaller. A link that sends ICMP costs
/// each connection its first window, so that the sender needs no search.
pub fn black_hole(case: &Case) -> Vec<Vec<Change>> {
    let narrow = case.today.narrow(case.direction);
    let Some(tunnel) = narrow.min_by_key(|own| own.mtu) else { return Vec::new() };
    let mut all = vec![route(case, tunnel), clamp(case, tunnel)];
    if !tunnel.icmp {
        all.extend(PROBES.map(|(level, when)| probing(case, level, when)));
    }
    all.into_iter().filter(|own| !own.is_empty()).collect()
}

/// Loss of packets that the link does not pass, and the message about it.
fn dropped(tunnel: &Mtu) -> &'static str {
    match tunnel.icmp {
        true => {
            "a link drops larger packets, and its ICMP message comes when the first window is lost"
        }
        false => "a link drops larger packets, and no ICMP message says so",
    }
}

/// A smaller MTU of the sender's route. A scenario gives it to all hosts, so it says nothing of one of several senders.
fn route(case: &Case, tunnel: &Mtu) -> Vec<Change> {
    let hosts = case.hosts(0);
    if hosts.len() > 1 {
        return Vec::new();
    }
    let (today, mtu) = (case.today.path.mtu, tunnel.mtu);
    let how = How::Route { words: format!("mtu {mtu}") };
    let key = vec!["path".to_string(), "mtu".to_string()];
    let change = |(host, _): (&str, &Host)| {
        Change::new(ROUTE, host, Scope::Sender, how.clone())
            .values(today, mtu)
            .why(format!(
                "{}; the route's MTU also bounds what the other end sends",
                dropped(tunnel)
            ))
            .edits([Edit::Set { key: key.clone(), value: Some(mtu.into()) }])
    };
    hosts.into_iter().map(change).collect()
}

/// A clamp of the MSS in front of the link, for the network to set.
fn clamp(case: &Case, tunnel: &Mtu) -> Vec<Change> {
    let place = &tunnel.name;
    let mss = tunnel.mtu.saturating_sub(HEADERS);
    let words = format!(
        "a clamp of the MSS at {place} (iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss {mss}; undo: -D in the place of -A)"
    );
    let today = case.today.mss_clamp();
    let today = today.map_or("none".into(), |today| format!("{today} bytes"));
    let change = Change::new(CLAMP, place, Scope::Path, How::Path { words })
        .values(today, format!("{mss} bytes"))
        .why(format!("{}; with the clamp both ends send segments that pass", dropped(tunnel)))
        .edits([Edit::element(case.direction, place, &["mss_clamp"], Some(mss.into()))]);
    vec![change]
}

/// Senders that search for the path MTU, by a higher level of the sysctl than today's.
fn probing(case: &Case, level: u32, when: &str) -> Vec<Change> {
    let change = |(host, own): (&str, &Host)| {
        let today = own.config.sysctl.tcp_mtu_probing.unwrap_or(0);
        let at = At { host, scope: Scope::Sender };
        let change = at.sysctl(PROBING, &level.to_string(), Some(level.into()));
        (today < level).then(|| {
            change
                .values(today, level)
                .why(format!("a link drops larger packets, and no ICMP message says so; {when}"))
        })
    };
    case.hosts(0).into_iter().filter_map(change).collect()
}
