//! When the programs of mounts begin: in the model after as many round trips as a genuine mount and open take, which go through
//! the queues of the path as everything does.

use crate::made::{has_kernel, made_on};
use fullpipe::scenario::{self, NfsOperation, NfsVersion, Plan, Scenario, Source};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::EventKind;

/// An idle path of 40 ms.
const IDLE: &str = r#"
duration = "5s"
report.sample = "1ms"
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

fn load(text: &str) -> Scenario {
    scenario::load(&Source::text("mounting.toml", text), &[], &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// When the program of a flow's mount begins, s.
fn begins(recording: &Recording, flow: u16) -> f64 {
    let mut events = recording.events.iter();
    let own = events.find(|own| own.kind == EventKind::Established && own.flow == flow);
    own.expect("it begins").time.as_secs_f64()
}

/// What both engines record of a run, or nothing where there is no kernel.
fn both(scenario: &Scenario, plan: &Plan) -> Option<[Recording; 2]> {
    has_kernel(plan).then(|| ["sim", "linux"].map(|engine| made_on(engine, scenario, plan).1))
}

/// Bytes of calls that were acknowledged when the program of a mount begins, or of replies that were read.
fn before(recording: &Recording, plan: &Plan) -> u64 {
    let writes = plan.resolved.nfs[0].operation == NfsOperation::Write;
    // No data comes back for a round trip.
    let at = recording.flows.iter().filter(|own| own.time.as_secs_f64() > begins(recording, 0));
    let at = at.map(|own| own.time).min().expect("a sample");
    let then = recording.flows.iter().filter(|own| own.time == at);
    then.map(|own| if writes { own.bytes_acked } else { own.bytes_delivered }).sum()
}

/// Calls of the model that ask for nothing, where genuine Linux talks to mountd or makes a handshake, by version and connections.
fn stand_ins(plan: &Plan) -> u64 {
    let own = &plan.resolved.nfs[0];
    let mountd = if own.version == NfsVersion::V3 { 3 } else { 0 };
    mountd + u64::from(own.nconnect) - 1
}

/// The same round trips, and the same bytes but for calls that stand for others: of those each call has 44 and each reply 28.
#[test]
fn a_mount_asks_for_the_same() {
    let scenario = load(IDLE);
    for plan in scenario.plans() {
        let Some(recordings) = both(&scenario, plan) else { return };
        let [model, genuine] = recordings.each_ref().map(|own| (begins(own, 0) - 0.1) / 0.04);
        println!("{}: {model:.3} round trips, genuine {genuine:.3}", plan.name());
        assert!((model - genuine).abs() < 0.05, "{}: {model}, genuine {genuine}", plan.name());
        let [model, genuine] = recordings.each_ref().map(|own| before(own, plan));
        let each = if plan.resolved.nfs[0].operation == NfsOperation::Write { 44 } else { 28 };
        assert_eq!(model, genuine + each * stand_ins(plan), "{}, genuine {genuine}", plan.name());
    }
}
