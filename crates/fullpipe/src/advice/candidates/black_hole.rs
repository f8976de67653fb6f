//! Cures of a path that drops full packets, with ICMP or without it: each alone is enough.

use super::super::case::Case;
use super::super::change::{Change, How, Scope};
use super::super::edit::Edit;
use super::hosts::At;
use crate::scenario::{Host, Mtu};
use fullpipe_sim::tcp::HEADERS;

/// The sender's search for the path MTU.
pub const PROBING: &str = "net.ipv4.tcp_mtu_probing";
/// A router that lowers the MSS of SYNs.
pub const CLAMP: &str = "MSS clamp";
/// The MTU of the sender's route.
pub const ROUTE: &str = "ip route mtu";

/// Cures of a link that drops full packets, the lightest first; none where packets are smaller. A link that sends ICMP costs
/// each connection its first window, so that the sender needs no search.
pub fn black_hole(case: &Case) -> Vec<Vec<Change>> {
    let narrow = case.today.narrow(case.direction);
    let Some(tunnel) = narrow.min_by_key(|own| own.mtu) else { return Vec::new() };
    let probing = if tunnel.icmp { Vec::new() } else { probing(case) };
    let all = [route(case, tunnel), clamp(case, tunnel), probing];
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

/// A smaller MTU of the sender's route.
fn route(case: &Case, tunnel: &Mtu) -> Vec<Change> {
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
    case.hosts(0).into_iter().take(1).map(change).collect()
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

/// Senders that search for the path MTU after timeouts.
fn probing(case: &Case) -> Vec<Change> {
    let change = |(host, _): (&str, &Host)| {
        let at = At { host, scope: Scope::Sender };
        at.sysctl(PROBING, "1", Some(1.into()))
            .values(0, 1)
            .why("a link drops larger packets, and no ICMP message says so; after some timeouts the sender tries smaller segments")
    };
    let silent = |own: &(&str, &Host)| own.1.config.sysctl.tcp_mtu_probing.unwrap_or(0) == 0;
    case.hosts(0).into_iter().filter(silent).map(change).collect()
}
