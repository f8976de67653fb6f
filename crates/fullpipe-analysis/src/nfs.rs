//! Fate of the files on an NFS mount, from the events of its connections and the client's counters.

use super::document::{Flow, Nfs, Requests};
use super::lookup::{Lives, mbit};
use crate::meta::{NfsMeta, RunMeta};
use fullpipe_base::units::Time;
use fullpipe_trace::recording::Recording;

/// Entry of each mount in the scenario.
pub(super) fn nfs(meta: &RunMeta, recording: &Recording, lives: &Lives) -> Vec<Nfs> {
    meta.nfs.iter().map(|own| one(own, recording, lives)).collect()
}

/// Rates of connections without data of calls that were sent again, or never answered; with several connections, an
/// equal part of each.
pub(super) fn leave_out_repetitions(
    meta: &RunMeta,
    mounts: &[Nfs],
    lives: &Lives,
    flows: &mut [Flow],
) {
    for (at, (own, about)) in mounts.iter().zip(&meta.nfs).enumerate() {
        let useful = own.useful();
        if useful == 1.0 {
            continue;
        }

        // A mount's connections lie side by side, up to the next mount's first.
        let end = meta.nfs.get(at + 1).map_or(flows.len(), |next| next.connection);
        let connections = about.connection..end;
        let sum: f64 = connections.clone().map(|at| flows[at].mean_mbit).sum();
        // A mount with a finished program has the rate of its file: answers arrive after that, too.
        let is_done = connections.clone().all(|at| lives.flows[at].complete);
        let mean = own.mean_mbit.filter(|_| is_done && sum > 0.0).map(|mbit| mbit / sum);
        for flow in &mut flows[connections] {
            flow.mean_mbit *= mean.unwrap_or(useful);
            // A plateau has no file to compare with: only repetitions leave it.
            flow.plateau_mbit = flow.plateau_mbit.map(|mbit| mbit * useful);
        }
    }
}

/// Whether calls of a mount that reads were sent again, and none was answered; `timeo` is the wait before that, and `lived`
/// the life of the mount.
///
/// A call is sent again once its answer is late, so a life of two waits has seen that. Calls that write may wait to be
/// sent all the time.
pub fn are_unanswered(answered: u64, timeo: Option<Time>, lived: Time) -> bool {
    answered == 0 && timeo.is_some_and(|timeo| lived.0 / 2 > timeo.0)
}

fn one(own: &NfsMeta, recording: &Recording, lives: &Lives) -> Nfs {
    let life = lives.flows.get(own.connection);
    let took = life.filter(|life| life.complete).map(|life| life.end.saturating_sub(life.clock));
    let operation = if own.reads { "READ" } else { "WRITE" };
    let requests = requests((&own.host, operation), recording);
    let lived = life.map_or(Time::ZERO, |life| life.end.saturating_sub(life.clock));
    let timeo = own.timeo.filter(|_| own.reads);
    Nfs {
        name: own.name.clone(),
        version: own.version.into(),
        operation: if own.reads { "read" } else { "write" }.into(),
        bytes: own.bytes,
        took_s: took.map(|took| took.as_secs_f64()),
        mean_mbit: took.map(|took| mbit(own.bytes, took)),
        requests,
        unanswered: are_unanswered(requests.map_or(0, |calls| calls.count), timeo, lived),
    }
}

/// Requests of one operation from one host; none where its client has made no such request.
fn requests((host, operation): (&str, &str), recording: &Recording) -> Option<Requests> {
    let last = |what: &str| {
        let name = format!("nfs.{operation}.{what}");

        // Counters are cumulative: the latest one holds the sum.
        let mut counters = recording.counters.iter().rev();
        let own = counters.find(|counter| *counter.name == *name && *counter.host == *host);
        own.map_or(0, |counter| counter.value)
    };
    let count = last("ops");
    let mean = |what| last(what) as f64 / count as f64;
    (count > 0).then(|| Requests {
        count,
        sent_again: last("ntrans").saturating_sub(count),
        mean_queue_ms: mean("queue"),
        mean_rtt_ms: mean("rtt"),
        mean_execute_ms: mean("execute"),
    })
}
