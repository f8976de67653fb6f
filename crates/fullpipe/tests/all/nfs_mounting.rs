//! When the programs of mounts begin: after as many round trips in the model as on real Linux. The calls of a mount and
//! an open pass the queues of the path, as everything does.

use crate::made::{has_kernel, loaded, made_on};
use fullpipe::engine::sim::mounting;
use fullpipe::scenario::{NfsVersion, Plan, Scenario};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::rpc::MARKER;
use fullpipe_sim::trace::EventKind;
use std::collections::BTreeSet;

/// An idle path of 40 ms.
const IDLE: &str = r#"
duration = "5s"
[path]
rate = "1Gbit"
delay = { forward = "10ms", back = "30ms" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[nfs]]
name = "files"
operation = "write"
version = "3"
file = "1MiB"
start = "100ms"
[[variant]]
name = "written by version 3"
[[variant]]
name = "read by version 3"
set = { "nfs.files.operation" = "read" }
[[variant]]
name = "written by version 4.2"
set = { "nfs.files.version" = "4.2" }
[[variant]]
name = "read by version 4.2"
set = { "nfs.files.version" = "4.2", "nfs.files.operation" = "read" }
[[variant]]
name = "written by version 3 over four connections"
set = { "nfs.files.nconnect" = 4 }
[[variant]]
name = "read by version 4.2 over four connections"
set = { "nfs.files.version" = "4.2", "nfs.files.operation" = "read", "nfs.files.nconnect" = 4 }
"#;

/// When the program of a flow's mount begins, s.
fn begins(recording: &Recording, flow: u16) -> f64 {
    let mut events = recording.events.iter();
    let own = events.find(|own| own.kind == EventKind::Established && own.flow == flow);
    own.expect("it begins").time.as_secs_f64()
}

/// Recordings of a run on both engines; none where there is no kernel.
fn both(scenario: &Scenario, plan: &Plan) -> Option<[Recording; 2]> {
    has_kernel(plan).then(|| ["sim", "linux"].map(|engine| made_on(engine, scenario, plan).1))
}

/// Number of calls that real Linux counts before the program's first, and their bytes: of calls and of replies.
fn counted(recording: &Recording) -> [u64; 3] {
    let last = |name: &str| {
        let mut counters = recording.counters.iter().rev();
        counters.find(|own| &*own.host == "sender" && &*own.name == name).map_or(0, |own| own.value)
    };
    let names = recording.counters.iter().map(|own| &*own.name);
    let calls: BTreeSet<&str> = names.filter_map(|name| name.strip_suffix(".ops")).collect();
    let later = ["nfs.READ", "nfs.WRITE", "nfs.COMMIT", "nfs.CLOSE"];
    let before: Vec<_> = calls.into_iter().filter(|call| !later.contains(call)).collect();
    ["ops", "bytes_sent", "bytes_recv"]
        .map(|what| before.iter().map(|call| last(&format!("{call}.{what}"))).sum())
}

/// Number of the model's calls before the program's first, and their bytes, without calls that stand for others: each
/// has 44 bytes, and 24 of a reply.
fn modelled(plan: &Plan) -> [u64; 3] {
    let calls = mounting::calls(&plan.resolved.nfs[0]);
    let sum = |at: usize| calls.iter().map(|call| u64::from(call[at])).sum::<u64>();
    let (count, stand_ins) = (calls.len() as u64, stand_ins(plan));
    [
        count - stand_ins,
        sum(0) - 44 * stand_ins,
        // mountstats counts no marker of replies.
        sum(1) - MARKER * count - 24 * stand_ins,
    ]
}

/// Calls of the model that ask for nothing, where real Linux talks to mountd or makes a handshake, by version and
/// connections.
fn stand_ins(plan: &Plan) -> u64 {
    let own = &plan.resolved.nfs[0];
    let mountd = if own.version == NfsVersion::V3 { 3 } else { 0 };
    mountd + u64::from(own.nconnect) - 1
}

/// Model and kernel need the same number of round trips, and make the same calls except those that stand for others.
#[test]
fn a_mount_asks_for_the_same() {
    let scenario = loaded(IDLE);
    for plan in scenario.plans() {
        let Some(recordings) = both(&scenario, plan) else { return };
        let [model, real] = recordings.each_ref().map(|own| (begins(own, 0) - 0.1) / 0.04);
        println!("{}: {model:.3} round trips, genuine {real:.3}", plan.name());
        assert!((model - real).abs() < 0.05, "{}: {model}, genuine {real}", plan.name());
        assert_eq!(modelled(plan), counted(&recordings[1]), "{}", plan.name());
    }
}
