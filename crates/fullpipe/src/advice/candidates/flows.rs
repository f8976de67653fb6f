//! Other flows in the place of today's: parallel ones, or ones with another congestion control.

use super::super::case::Case;
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use super::mounts;
use crate::scenario::{Flow, Host};
use std::collections::BTreeSet;

/// Parallel flows in the place of each; of mounts their `nconnect`.
pub fn streams(case: &Case, count: u32) -> Vec<Change> {
    if !case.today.nfs.is_empty() {
        return mounts::more_connections(case, count);
    }
    let edits = case.flows.iter().map(|flow| Edit::Copies { flow: flow.name.clone(), count });
    // Connections of a loop take turns, so that a loop is one stream.
    let flows = case.at_once() as u32;
    let names: Vec<&str> = case.flows.iter().map(|own| &own.name[..]).collect();
    let whose = counted(case, &names);
    let each = if names.len() > 1 { " for each of them" } else { "" };
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

/// "bulk", "8 flows", "2 loops": the flows or mounts with these names. All connections of a loop are one program's.
pub fn counted(case: &Case, names: &[&str]) -> String {
    if let [one] = names {
        return one.to_string();
    }
    // A mount's one connection has the mount's name.
    if names.iter().all(|name| case.today.nfs.iter().any(|own| own.name == *name)) {
        return format!("{} mounts", names.len());
    }
    let own = || case.today.flow.iter().filter(|flow| names.contains(&&flow.name[..]));
    let follows = |flow: &&Flow| flow.after.is_some();
    let is_begun = |flow: &Flow| {
        own().any(|next| next.after.as_ref().is_some_and(|own| own.flow == flow.name))
    };

    // Each loop begins with one connection, which follows none.
    let first: Vec<&Flow> = own().filter(|flow| !follows(flow)).collect();
    let loops: Vec<&&Flow> = first.iter().filter(|flow| is_begun(flow)).collect();
    match &loops[..] {
        [] => format!("{} flows", names.len()),
        [one] if first.len() == 1 => format!("the loop of {}", one.name),
        all if all.len() == first.len() => format!("{} loops", all.len()),
        _ => format!("{} programs", first.len()),
    }
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
        let today: BTreeSet<&str> = others.clone().map(|own| &own.congestion[..]).collect();
        let today = (!today.is_empty()).then(|| Vec::from_iter(today).join(", "))?;
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
