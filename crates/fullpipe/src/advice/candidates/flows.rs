//! Other flows in the place of today's: parallel ones, or ones with another congestion control.

use super::super::case::Case;
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use super::mounts;
use crate::scenario::Host;

/// Parallel flows in the place of each; of mounts their `nconnect`.
pub fn streams(case: &Case, count: u32) -> Vec<Change> {
    if !case.today.nfs.is_empty() {
        return mounts::more_connections(case, count);
    }
    let edits = case.flows.iter().map(|flow| Edit::Copies { flow: flow.name.clone(), count });
    let flows = case.flows.len() as u32;
    let (whose, each) = match &case.flows[..] {
        [one] => (one.name.clone(), String::new()),
        _ => (format!("{flows} flows"), " for each of them".into()),
    };
    let words = format!("{count} parallel streams{each} (iperf3 -P {count})");
    let all = count.saturating_mul(flows);
    let change =
        Change::new("parallel streams", &whose, Scope::Application, How::Program { words })
            .rank(Rank::Method)
            .values(flows, all)
            .why("a loss cuts one of the flows, not all")
            .edits(edits);
    vec![change]
}

/// So many parallel flows in the place of each one, for the reason `why`.
pub fn streams_because(case: &Case, count: u32, why: &str) -> Vec<Change> {
    streams(case, count).into_iter().map(|own| own.why(why)).collect()
}

/// The congestion control `name` on each host whose flows have another one.
pub fn congestion(case: &Case, name: &str) -> Vec<Change> {
    let setting = "net.ipv4.tcp_congestion_control";
    let change = |(host, _): (&str, &Host)| {
        let others = case.flows.iter().filter(|own| own.hosts[0] == host && own.congestion != name);
        let today = &others.clone().next()?.congestion;
        let how = How::Sysctl { name: setting.into(), value: name.into() };
        let why = match name {
            "bbr" => "bbr does not take a lost packet for a full queue".into(),
            name => format!("{name} grows back to a large window in less time"),
        };

        // All connections of a mount have one congestion control.
        let mut edits: Vec<Edit> = others
            .map(|flow| match mounts::of_connection(case, &flow.name) {
                Some(mount) => mounts::congestion(mount, name),
                None => Edit::flow(&flow.name, &["congestion"], Some(name.into())),
            })
            .collect();
        edits.dedup();
        let change = Change::new(setting, host, Scope::Sender, how).rank(Rank::Method);
        Some(change.values(today, name).why(why).edits(edits))
    };
    case.hosts(0).into_iter().filter_map(change).collect()
}

/// Changes that give all flows one congestion control.
pub fn alike(case: &Case) -> Vec<Change> {
    let why = "flows of one congestion control share a queue alike";
    congestion(case, "cubic").into_iter().map(|own| own.why(why)).collect()
}
