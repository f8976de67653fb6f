//! Fate of the files on an NFS mount, from the events of its connections and the client's counters.

use super::document::{Flow, Nfs, Requests};
use super::lookup::{Lives, mbit};
use crate::meta::{NfsMeta, RunMeta};
use fullpipe_base::units::Time;
use fullpipe_trace::recording::Recording;
use std::ops::Range;

/// Entry of each mount in the scenario.
pub(super) fn nfs(meta: &RunMeta, recording: &Recording, lives: &Lives) -> Vec<Nfs> {
    let mounts = meta.nfs.iter().enumerate();
    mounts
        .map(|(at, own)| {
            let connections = meta.connections(at, lives.flows.len());
            one(own, connections, recording, lives)
        })
        .collect()
}

/// Rates of connections without data of calls that were sent again, or never answered; with several connections, an
/// equal part of each.
pub(super) fn leave_out_repetitions(
    meta: &RunMeta,
    mounts: &[Nfs],
    lives: &Lives,
    flows: &mut [Flow],
) {
    for (at, own) in mounts.iter().enumerate() {
        let useful = own.useful();
        if useful == 1.0 {
            continue;
        }

        let connections = meta.connections(at, flows.len());
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

/// Whether calls of a mount were sent again, and none was answered; `timeo` is the wait before that, and `waited` the
/// time since the first call could be answered.
///
/// A call is sent again once its answer is late, so two waits have seen that. A call that reads can be answered from the
/// beginning, a call that writes once the server has its data.
pub fn are_unanswered(answered: u64, timeo: Option<Time>, waited: Time) -> bool {
    answered == 0 && timeo.is_some_and(|timeo| waited.0 / 2 > timeo.0)
}

fn one(own: &NfsMeta, connections: Range<usize>, recording: &Recording, lives: &Lives) -> Nfs {
    let life = lives.flows.get(own.connection);
    let took = life.filter(|life| life.complete).map(|life| life.end.saturating_sub(life.clock));
    let operation = if own.reads { "READ" } else { "WRITE" };
    let requests = requests(&own.host, operation, recording);

    // The server has all it needs for its first answer from this time on.
    let from = match own.reads {
        true => life.map(|life| life.clock),
        false => first_call(own, connections, recording),
    };
    let waited = life.zip(from).map_or(Time::ZERO, |(life, from)| life.end.saturating_sub(from));
    Nfs {
        name: own.name.clone(),
        version: own.version.into(),
        operation: if own.reads { "read" } else { "write" }.into(),
        bytes: own.bytes,
        took_s: took.map(|took| took.as_secs_f64()),
        mean_mbit: took.map(|took| mbit(own.bytes, took)),
        requests,
        unanswered: are_unanswered(requests.map_or(0, |calls| calls.count), own.timeo, waited),
    }
}

/// Time at which one of the connections has carried a whole call that writes; none where no connection has.
fn first_call(own: &NfsMeta, connections: Range<usize>, recording: &Recording) -> Option<Time> {
    let call = own.bytes.min(own.call.into());
    let mut samples = recording.flows.iter();
    let first = samples.find(|sample| {
        connections.contains(&usize::from(sample.flow)) && sample.bytes_acked >= call
    });
    first.map(|sample| sample.time)
}

/// Requests of one operation from one host; none where its client has made no such request.
fn requests(host: &str, operation: &str, recording: &Recording) -> Option<Requests> {
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
