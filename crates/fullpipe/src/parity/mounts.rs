//! Files on random mounts: how fast they were written or read, and what held them back first, on either engine.
//!
//! The first cause on real Linux is read from its own counters, whatever the model says (`instead_of_application`).

use super::case::Case;
use crate::analysis::document::Flow;
use crate::analysis::{self, Made, RunMeta};
use crate::scenario::{Nfs, NfsOperation, NfsVersion, Scenario};
use crate::trace::recording::Recording;
use fullpipe_base::trace::EventKind;
use fullpipe_base::units::Time;
use std::collections::BTreeMap;
use std::ops::Range;

/// Slots of a connection of version 3 and of a session of 4.2, where none are set (6.12 `RPC_MAX_SLOT_TABLE`, `max_session_slots`).
const CONNECTION_SLOTS: u64 = 65_536;
const SESSION_SLOTS: u64 = 64;

/// Result of a mount's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Bytes of the file over the time it took, Mb/s.
    pub mbit: f64,
    /// Limit of the connections for most of that time, and its share of the time.
    pub first: (String, f64),
}

/// Outcome of a case's mount of that number on an engine.
///
/// # Errors
/// There is none, or its file was not done by the end of the run.
pub fn outcome(
    scenario: &Scenario,
    case: &Case,
    mount: usize,
    recording: &Recording,
    real: bool,
) -> Result<Outcome, String> {
    let meta = RunMeta::from_plan(scenario, &case.plan, Made::default());
    let run = analysis::run(&meta, recording);
    let mbit = run.nfs.get(mount).and_then(|own| own.mean_mbit);
    let ((own, connections), mbit) = (case.plan.resolved.mounts().nth(mount).zip(mbit))
        .ok_or_else(|| format!("{}: not done by the run's end", case.name))?;
    let mut shares = shares(&run.flows[connections.clone()]);
    if real && let Some(share) = shares.remove("application") {
        let limit = instead_of_application(own, connections, recording);
        *shares.entry(limit.into()).or_default() += share;
    }
    Ok(Outcome { mbit, first: self::first(&shares) })
}

/// Limit of real Linux in place of `application`.
///
/// First: a link of the data's way that did not idle over the last round trip. Else the report of the kernel's sockets
/// that have the data (`tcpi_rwnd_limited`, `tcpi_sndbuf_limited`, else cwnd). Where they had nothing to send: the
/// slots, if for most of the time as many requests were out as there are slots (`sends` less `recvs` of `mountstats`).
/// Else a program that writes had WRITEs with slots which the send buffer did not take, and one that reads waited for
/// its page cache.
fn instead_of_application(
    own: &Nfs,
    connections: Range<usize>,
    recording: &Recording,
) -> &'static str {
    match own.operation {
        _ if all_slots_are_out(own, connections, recording) => "rpc_slots",
        NfsOperation::Write => "send_buffer",
        NfsOperation::Read => "page_cache",
    }
}

/// Shares of the limits in the lives of a mount's connections, which count alike; cwnd is one.
fn shares(connections: &[Flow]) -> BTreeMap<String, f64> {
    let mut shares = BTreeMap::new();
    for (name, share) in connections.iter().flat_map(|flow| &flow.limits) {
        let name = if name.starts_with("cwnd_") { "cwnd" } else { name };
        *shares.entry(name.to_string()).or_default() += share / connections.len() as f64;
    }
    shares.remove("idle");
    shares
}

fn first(shares: &BTreeMap<String, f64>) -> (String, f64) {
    let most = shares.iter().max_by(|a, b| a.1.total_cmp(b.1));
    most.map(|(name, share)| (name.clone(), *share)).unwrap_or_default()
}

/// Whether as many requests were out as there are slots at more than half of the samples between the program's first call and
/// its last. A WRITE of each connection may have a slot and be partly in the socket: it counts as sent when it is wholly.
fn all_slots_are_out(own: &Nfs, flows: Range<usize>, recording: &Recording) -> bool {
    let connections = flows.len() as u64;

    // Version 3 has slots for each connection, version 4.2 for its session.
    let slots = match own.version {
        NfsVersion::V3 => own.slots.map_or(CONNECTION_SLOTS, u64::from) * connections,
        NfsVersion::V4_2 => own.slots.map_or(SESSION_SLOTS, u64::from),
    };
    let partly = if own.operation == NfsOperation::Write { connections } else { 0 };
    let out = requests_out(own.host(), recording);

    // `events` goes on where the first search ended, so the end follows the beginning.
    let mut events = recording.events.iter().filter(|event| flows.contains(&event.flow.into()));
    let [from, to] = [EventKind::Accepted, EventKind::Finished]
        .map(|kind| events.find(|event| event.kind == kind));
    let (Some(from), Some(to)) = (from, to) else { return false };
    let within: Vec<u64> = out.range(from.time..to.time).map(|(_, out)| *out).collect();
    let full = within.iter().filter(|out| **out + partly >= slots).count();
    2 * full > within.len()
}

/// Requests of all connections of a host's mount that are out, at each sample of `mountstats`.
fn requests_out(host: &str, recording: &Recording) -> BTreeMap<Time, u64> {
    let (mut last, mut out) = (BTreeMap::new(), BTreeMap::new());
    for counter in recording.counters.iter().filter(|counter| *counter.host == *host) {
        let of = counter.name.strip_prefix("nfs.xprt-").and_then(|rest| rest.split_once('.'));
        if let Some((_, what @ ("sends" | "recvs"))) = of {
            last.insert(counter.name.clone(), (what == "sends", counter.value));
        }
        // A counter is recorded when it has changed, some of them always.
        let sum = |sends| last.values().filter(|own| own.0 == sends).map(|own| own.1).sum::<u64>();
        out.insert(counter.time, sum(true).saturating_sub(sum(false)));
    }
    out
}

/// Line of a recorded outcome: name, hash of the resolved scenario, Mb/s, first limit, its share.
pub fn line(case: &Case, outcome: &Outcome) -> String {
    let Outcome { mbit, first: (limit, share) } = outcome;
    format!("{},{},{mbit:.3},{limit},{share:.3}", case.name, case.hash())
}

/// The recorded outcome of a case among these lines; none where its scenario is another one now.
pub fn recorded(lines: &str, case: &Case) -> Option<Outcome> {
    let start = format!("{},{},", case.name, case.hash());
    let rest = lines.lines().find_map(|line| line.strip_prefix(start.as_str()))?;
    let mut fields = rest.split(',');
    let mbit = fields.next()?.parse().ok()?;
    let first = (fields.next()?.to_string(), fields.next()?.parse().ok()?);
    Some(Outcome { mbit, first })
}
