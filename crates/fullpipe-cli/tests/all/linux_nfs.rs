//! Files on an NFS mount, on a kernel that has been built with NFS; without one these tests are skipped, unless
//! FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::Desk;
use fullpipe::trace::recording::Recording;
use fullpipe::trace::table;
use serde_json::Value;

/// 20 MB over 100 Mb/s and 20 ms.
const SCENARIO: &str = r#"
title = "NFS"
duration = "6s"
[report]
sample = "10ms"
counters = "100ms"
[path]
rate = "100Mbit"
framing = "ethernet"
delay = { forward = "10ms", back = "10ms" }
queue = { limit = "4MB" }
[hosts.sender]
kernel = "6.12"
[hosts.receiver]
kernel = "6.12"
[[nfs]]
name = "files"
operation = "write"
file = "20MB"
start = "100ms"
"#;

/// A desk with the scenario, where a kernel with NFS has been built.
fn desk() -> Option<Desk> {
    let desk = Desk::new();
    desk.write("my.toml", SCENARIO);
    let short = ["--set", "duration=200ms", "--set", "nfs.files.file=4KiB", "--out", "probe", "-q"];
    let probe = desk.call(&arguments(&short));
    let none = probe.code == Some(3) && probe.stderr.contains("fullpipe kernel build");
    if none && std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_none() {
        assert!(probe.stderr.contains("--config nfs"), "{}", probe.stderr);
        println!("skipped: no kernel has been built (fullpipe kernel build --config nfs)");
        return None;
    }
    assert_eq!(probe.code, Some(0), "{}", probe.stderr);
    Some(desk)
}

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["run", "my.toml", "--engine", "linux"].iter().chain(more).copied().collect()
}

/// The first run of a result with these changes.
fn run(desk: &Desk, out: &str, more: &[&str]) -> Value {
    let arguments = arguments(&[&["--json", "-q", "--out", out], more].concat());
    desk.call(&arguments).ends_with(0).json()["runs"][0].clone()
}

/// The last value of a host's counter.
fn counter(trace: &Recording, host: &str, name: &str) -> u64 {
    let own = trace.counters.iter().filter(|own| *own.host == *host && *own.name == *name);
    own.fold(0, |_, own| own.value)
}

/// Fifteen READs of 1 MiB wait for 1.26 s of 100 Mb/s, and `timeo` is 0.7 s.
///
/// Until the program first asks for attributes again (3 s after it has begun) the client sends as many calls on both
/// engines, and as many of them again. With one thread nfsd answers in order.
#[test]
fn calls_that_time_out_are_sent_again_alike() {
    let Some(desk) = desk() else { return };
    let sets = [
        "duration=3s",
        "nfs.files.start=0s",
        "nfs.files.version=3",
        "nfs.files.operation=read",
        "nfs.files.file=128MiB",
        "nfs.files.readahead=15MiB",
        "nfs.files.threads=1",
        "nfs.files.timeo=700ms",
        "path.back=[{ kind = \"link\", name = \"port\", rate = \"100Mbit\", queue = { limit = \"128kB\" } }, \
         { kind = \"delay\", name = \"way\", delay = \"1ms\" }]",
        "path.forward=[{ kind = \"delay\", name = \"there\", delay = \"1ms\" }]",
    ];
    let scenario = SCENARIO.lines().filter(|line| {
        let key = line.split(' ').next().unwrap_or("");
        !["rate", "framing", "delay", "queue"].contains(&key)
    });
    desk.write("my.toml", &scenario.collect::<Vec<_>>().join("\n"));
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    run(&desk, "kernel", &sets);
    let simulated = ["run", "my.toml", "--json", "-q", "--out", "simulator"];
    desk.call(&[&simulated[..], &sets].concat()).ends_with(0);

    let [simulator, kernel] = ["simulator", "kernel"].map(|out| {
        let trace = table::read_all(&desk.path(&format!("{out}/base"))).expect("tables");
        ["ops", "ntrans"].map(|what| counter(&trace, "sender", &format!("nfs.READ.{what}")))
    });
    assert_eq!(simulator, kernel, "READs that were answered, and how often these were sent");
    assert!(kernel[1] >= kernel[0] + 10, "few calls were sent again: {kernel:?}");
}

/// Both versions, both operations: the files arrive, no faster than the wire, and the kernel's counts agree.
#[test]
fn files_are_written_and_read() {
    let Some(desk) = desk() else { return };
    for (out, version, operation) in
        [("a", "3", "write"), ("b", "3", "read"), ("c", "4.2", "write"), ("d", "4.2", "read")]
    {
        let version = format!("nfs.files.version={version}");
        let what = format!("nfs.files.operation={operation}");
        let run = run(&desk, out, &["--set", &version, "--set", &what]);
        let own = &run["nfs"][0];
        let mbit = own["mean_mbit"].as_f64().unwrap_or_else(|| panic!("{out}: {own}"));
        // There is no link on the way back, which reads take.
        let most = if operation == "write" { 100.0 * 1448.0 / 1514.0 } else { 1e4 };
        assert!((30.0..most).contains(&mbit), "{out}: {mbit} Mb/s");
        assert_eq!(own["bytes"], 20_000_000);
        let flow = &run["flows"][0];
        assert_eq!(flow["name"], "files");
        let trace = table::read_all(&desk.path(&format!("{out}/base"))).expect("tables");
        let (programs, wire, calls, served) = match operation {
            "write" => ("NORMALWRITTENBYTES", "SERVERWRITTENBYTES", "WRITE", "write"),
            _ => ("NORMALREADBYTES", "SERVERREADBYTES", "READ", "read"),
        };
        for (host, name) in [
            ("sender", format!("nfs.{programs}")),
            ("sender", format!("nfs.{wire}")),
            ("receiver", format!("nfsd.io.{served}")),
        ] {
            assert_eq!(counter(&trace, host, &name), 20_000_000, "{out}: {name}");
        }
        let calls = counter(&trace, "sender", &format!("nfs.{calls}.ops"));
        assert_eq!(own["requests"]["count"].as_u64(), Some(calls));
        assert!(calls >= 20, "{out}: {calls} requests");
    }
}

/// The bytes of a round trip are those of the slots. 4 of 64 KiB and 20 ms are 105 Mb/s, and half as many are half of
/// it.
#[test]
fn slots_and_sizes_bound_what_is_under_way() {
    let Some(desk) = desk() else { return };
    for (out, version) in [("a", "3"), ("b", "4.2")] {
        let version = format!("nfs.files.version={version}");
        let set = |key: &str| format!("nfs.files.{key}");
        let (slots, size) = (set("slots=2"), set("wsize=64KiB"));
        let run = run(&desk, out, &["--set", &version, "--set", &slots, "--set", &size]);
        let mbit = run["nfs"][0]["mean_mbit"].as_f64().unwrap_or_else(|| panic!("{run}"));
        // In addition to the round trip a request takes its time on the wire, 5.5 ms; the two slots share a part of
        // it.
        assert!((30.0..52.5).contains(&mbit), "{out}: {mbit} Mb/s");
        let limits = &run["flows"][0]["limits"];
        assert!(limits["application"].as_f64() > Some(0.3), "{out}: {limits}");
    }
}

/// Three connections are three flows, all of them used, and two equal runs give equal traces.
#[test]
fn connections_are_flows_and_two_runs_are_the_same() {
    let Some(desk) = desk() else { return };
    let set = [
        "--set",
        "nfs.files.nconnect=3",
        "--set",
        "nfs.files.files=2",
        "--set",
        "nfs.files.export=async",
    ];
    let first = run(&desk, "a", &set);
    let second = run(&desk, "b", &set);
    assert_eq!(first, second);
    let flows = first["flows"].as_array().expect("flows");
    let names: Vec<&str> = flows.iter().filter_map(|flow| flow["name"].as_str()).collect();
    assert_eq!(names, ["files-1", "files-2", "files-3"]);
    for flow in flows {
        assert!(flow["bytes"].as_u64() > Some(5_000_000), "{flow}");
    }
    for file in ["flows", "stages", "events", "counters"] {
        let read = |out: &str| {
            std::fs::read(desk.path(&format!("{out}/base/{file}.parquet"))).expect("a table")
        };
        assert!(read("a") == read("b"), "{file}");
    }
}

/// Read-ahead is a setting of reads: as much as is in flight.
#[test]
fn reading_ahead_fills_the_path() {
    let Some(desk) = desk() else { return };
    let took = |out: &str, readahead: &str| {
        let readahead = format!("nfs.files.readahead={readahead}");
        let set = [
            "--set",
            "nfs.files.operation=read",
            "--set",
            "nfs.files.record=64KiB",
            "--set",
            &readahead,
        ];
        run(&desk, out, &set)["nfs"][0]["took_s"].as_f64().expect("it is done")
    };
    let (little, much) = (took("a", "64KiB"), took("b", "4MiB"));
    assert!(little > 1.5 * much, "{little} and {much} s");
}
