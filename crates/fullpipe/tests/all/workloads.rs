//! Examples of application traffic, scenarios/workloads/*.toml: their expectations hold.

use crate::made::made;
use fullpipe::analysis::document::Run;
use fullpipe::base::units::Time;
use fullpipe::engine::{self, Support};
use fullpipe::scenario::{self, SetOption, Source};
use fullpipe_sim::trace::EventKind;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/workloads")
}

fn load(name: &str) -> scenario::Scenario {
    let source = Source::read(&folder().join(name)).unwrap_or_else(|e| panic!("{e}"));
    scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn what_the_examples_expect_holds() {
    let files = std::fs::read_dir(folder()).expect("the folder");
    let names = files.map(|file| file.expect("a file").file_name().into_string().expect("a name"));
    let mut seen = 0;
    for name in names {
        let scenario = load(&name);
        for plan in scenario.plans() {
            let (run, _) = made(&scenario, plan);
            assert!(!run.expectations.is_empty(), "{name}");
            for expectation in &run.expectations {
                assert!(expectation.passed, "{name}: {expectation:?}");
            }
        }
        seen += 1;
    }
    assert!(seen >= 4);
}

/// A resolved scenario, written as a scenario again, means the same.
#[test]
fn datagrams_are_written_as_they_were_read() {
    let scenario = load("datagrams.toml");
    let resolved = &scenario.plans()[0].resolved;
    assert_eq!(resolved.datagrams.len(), 2);
    let source = Source {
        text: resolved.to_toml(),
        ..Source::read(&folder().join("datagrams.toml")).unwrap()
    };
    let again = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.plans()[0].resolved, *resolved);
}

/// Messages, also those that nobody answers, mean the same when they are written as a scenario again.
#[test]
fn messages_are_written_as_they_were_read() {
    for name in ["messages.toml", "quickack.toml"] {
        let path = folder().join("../parity").join(name);
        let source = Source::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        for plan in scenario.plans() {
            let text = plan.resolved.to_toml();
            let again = scenario::load(&Source::text(name, &text), &[], &[]);
            let again = again.unwrap_or_else(|e| panic!("{name}, {}: {e}", plan.name()));
            assert_eq!(again.plans()[0].resolved, plan.resolved, "{name}, {}", plan.name());
        }
    }
}

/// Connections of mounts follow from the mount: they are flows, and not written.
#[test]
fn mounts_are_written_as_they_were_read() {
    let scenario = load("nfs.toml");
    for plan in scenario.plans() {
        let resolved = &plan.resolved;
        let connections = usize::from(resolved.nfs[0].nconnect);
        assert_eq!((resolved.nfs.len(), resolved.flow.len()), (1, connections));
        let text = resolved.to_toml();
        assert!(!text.contains("[[flow]]"), "{text}");
        let source = Source { text, ..Source::read(&folder().join("nfs.toml")).unwrap() };
        let again = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.plans()[0].resolved, *resolved);
    }
}

/// Features of mounts that are not modelled.
#[test]
fn the_simulator_refuses_other_kernels_and_several_files() {
    let simulator = engine::find("sim").expect("the simulator");
    let refused = |sets: &[&str]| {
        let source = Source::read(&folder().join("nfs.toml")).unwrap_or_else(|e| panic!("{e}"));
        let sets: Vec<SetOption> = sets.iter().map(|set| SetOption(set.to_string())).collect();
        let scenario = scenario::load(&source, &sets, &[]).unwrap_or_else(|e| panic!("{e}"));
        let support = simulator.support(&scenario.plans()[0].resolved).into_iter();
        let refused = support.filter(|(_, support)| matches!(support, Support::Refused(_)));
        refused.map(|(key, _)| key).collect::<Vec<_>>()
    };
    assert!(refused(&[]).is_empty());
    assert_eq!(refused(&["nfs.files.files=2"]), ["nfs.files.files"]);
    assert_eq!(refused(&["hosts.receiver.kernel=6.1"]), ["hosts.receiver.kernel"]);
    assert_eq!(refused(&["report.packets.at=link"]), ["report.packets"]);
}

/// Two ways, two versions: the trace has the connections as flows and the events and counters that real Linux records.
#[test]
fn the_simulator_counts_mounts_as_real_linux_does() {
    const TEXT: &str = r#"
duration = "6s"
[path]
rate = "100Mbit"
delay = { forward = "10ms", back = "10ms" }
queue = { limit = "4MB" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[nfs]]
name = "files"
operation = "write"
file = "5MiB"
nconnect = 2
[[variant]]
name = "written"
[[variant]]
name = "read"
set = { "nfs.files.operation" = "read", "nfs.files.version" = "3" }
"#;
    let source = Source::text("mounts.toml", TEXT);
    let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    for (plan, calls) in scenario.plans().iter().zip(["WRITE", "READ"]) {
        let (run, recording) = made(&scenario, plan);
        let names: Vec<&str> = run.flows.iter().map(|flow| &flow.name[..]).collect();
        assert_eq!(names, ["files-1", "files-2"], "{calls}");
        assert!(recording.flows.iter().all(|sample| sample.flow < 2), "{calls}");
        let own = &run.nfs[0];
        let mbit = own.mean_mbit.unwrap_or_else(|| panic!("{calls}: it is done"));
        // Mb/s on real Linux 6.12 (this scenario with `--engine linux`). The parity suite allows a run to be a tenth
        // apart.
        let linux = if calls == "READ" { 49.7 } else { 75.2 };
        assert!((mbit / linux - 1.0).abs() < 0.1, "{calls}: {mbit} Mb/s, Linux {linux}");
        assert_eq!(own.requests.map(|requests| requests.count), Some(5), "{calls}");
        let counter = |name: &str| {
            let name = format!("nfs.{calls}.{name}");
            let own = recording.counters.iter().rev().find(|counter| *counter.name == *name);
            // A counter of 0 is not recorded.
            own.map_or(0, |counter| counter.value)
        };
        let apart = counter("execute").abs_diff(counter("queue") + counter("rtt"));
        assert!(counter("rtt") >= 5 * 20 && apart <= 1, "{calls}");
        for kind in [EventKind::Established, EventKind::Accepted, EventKind::Finished] {
            let own = recording.events.iter().filter(|event| event.kind == kind);
            let flows: Vec<_> = own.map(|event| (event.flow, event.value)).collect();
            let value = if kind == EventKind::Finished { 5 << 20 } else { 0 };
            assert_eq!(flows, [(0, value), (1, value)], "{calls}, {kind:?}");
        }
    }
}

#[test]
fn real_linux_refuses_pings() {
    let linux = engine::find("linux").expect("the engine");
    let support = linux.support(&load("datagrams.toml").plans()[0].resolved);
    let why = support.iter().find(|(key, _)| key == "datagrams.ping.kind").map(|(_, why)| why);
    assert!(matches!(why, Some(Support::Refused(_))), "{support:?}");
}

/// Connections of 100 kB take a handshake and three round trips of 20 ms each (10, 20 and 40 segments): ten are over after 0.8 s, and a
/// hundred not before 3 s.
#[test]
fn a_loop_says_that_its_count_ended_it() {
    let notes = |again: &str| {
        let scenario = crate::made::loaded(&format!(
            "duration = \"10s\"\n[path]\nrate = \"100Mbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\n\
             [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
             [[flow]]\nname = \"file\"\nbytes = \"100kB\"\nagain = {{ {again} }}\n"
        ));
        let (run, _) = made(&scenario, &scenario.plans()[0]);
        let about_loops = run.notes.into_iter().filter(|note| note.contains("the loop of"));
        about_loops.collect::<Vec<String>>()
    };

    let said = notes("count = 10, until = \"3s\"");
    let [one] = &said[..] else { panic!("{said:?}") };
    assert!(one.starts_with("the loop of file-1 to file-10 ended at 0.8"), "{one}");
    assert!(
        one.ends_with("its `count` of 10 connections was used up before `until`, 3.000 s"),
        "{one}"
    );

    // The time ends the first loop, and the next connection of the second would begin too late.
    for again in [
        "count = 100, until = \"3s\"",
        "count = 2, pause = \"2900ms\", until = \"3s\"",
        "count = 10",
    ] {
        assert_eq!(notes(again), [""; 0], "{again}");
    }
}

/// A run of connections of 100 kB in turn over 20 ms, with these keys of the report.
fn in_turn(again: &str, report: &str) -> (Run, Time) {
    let scenario = crate::made::loaded(&format!(
        "duration = \"3s\"\n[path]\nrate = \"100Mbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\n\
         [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n[report]\n{report}\n\
         [[flow]]\nname = \"file\"\nbytes = \"100kB\"\nagain = {{ {again} }}\n"
    ));
    let sample = scenario.plans()[0].resolved.report.sample;
    (made(&scenario, &scenario.plans()[0]).0, sample)
}

/// Shares of lives are those of the connections that ran: neither the most that a loop may make nor the time between samples moves them.
#[test]
fn shares_of_a_loop_depend_neither_on_its_bound_nor_on_samples() {
    let (whole, sample) = in_turn("count = 30", "");
    let (many, of_many) = in_turn("count = 1000", "");
    assert_eq!([sample, of_many], [Time::ms(1); 2]);

    // A connection lives for four round trips without the way back of its last ACK.
    let first = &whole.flows[0].limits;
    assert!((first["connecting"] - 20.0 / 78.0).abs() < 0.02, "{first:?}");
    let coarse = in_turn("count = 30", "sample = \"70ms\"").0;
    for run in [&many, &coarse] {
        for (own, exact) in run.flows.iter().zip(&whole.flows) {
            for (limit, share) in &exact.limits {
                let other = own.limits[limit];
                assert!((share - other).abs() < 0.02, "{} {limit}: {share}, {other}", own.name);
            }
        }
    }
}

/// A flow has samples from its beginning until the next one begins: a bound that nothing reaches makes no trace longer.
#[test]
fn connections_that_never_begin_have_no_samples() {
    let rows = |count: u32| {
        let scenario = crate::made::loaded(&format!(
            "duration = \"1s\"\n[path]\nrate = \"100Mbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\n\
             [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
             [[flow]]\nname = \"file\"\nbytes = \"100kB\"\nagain = {{ count = {count} }}\n"
        ));
        made(&scenario, &scenario.plans()[0]).1.flows.len()
    };
    let (few, many) = (rows(20), rows(900));
    assert_eq!(few, many);
    // One connection at a time, and the last sample of each.
    assert!((1000..1020).contains(&few), "{few}");
}

/// Flows that wait for another one are not left out without a word.
#[test]
fn a_flow_that_does_not_begin_is_said() {
    let notes = |after: &str, bytes: &str| {
        let scenario = crate::made::loaded(&format!(
            "duration = \"3s\"\n[path]\nrate = \"10Mbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\n\
             [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
             [[flow]]\nname = \"first\"\nbytes = \"{bytes}\"\n\
             [[flow]]\nname = \"second\"\nbytes = \"100kB\"\nafter = {{ flow = \"first\"{after} }}\n\
             [[flow]]\nname = \"third\"\nbytes = \"100kB\"\nafter = {{ flow = \"second\" }}\n"
        ));
        made(&scenario, &scenario.plans()[0]).0.notes
    };
    let late = notes(", until = \"1s\"", "2MB");
    let [one] = &late[..] else { panic!("{late:?}") };
    assert!(one.starts_with("second and third did not begin: first ended at 1."), "{one}");
    assert!(one.ends_with(" s, and `until` is 1.000 s"), "{one}");
    assert_eq!(
        notes("", "20MB"),
        ["second and third did not begin: first was not over by the run's end"]
    );
    assert_eq!(notes(", until = \"2900ms\"", "2MB"), [""; 0]);
}
