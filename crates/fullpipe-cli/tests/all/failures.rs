//! Runs that fail among others: what is done is kept. On the simulator.

use crate::common::guests::behind;
use crate::common::{Call, Desk, SHORT};

/// With a capture.
const CAPTURED: [&str; 2] = ["--pcap", "x.pcapng"];

/// A file that becomes larger than 1 MB cannot be written.
fn call(desk: &Desk, more: &[&str]) -> Call {
    let arguments = ["run", "my.toml", "-q", "--json", "--jobs", "1", "--out", "out"];
    let call = desk.command(&[&arguments[..], more].concat());
    let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 2000; exec \"$0\" \"$@\""];
    Call::of(behind(&limited, &call, desk).output().expect("it starts"))
}

/// What an engine cannot do is told as what the parser finds: with file, line and column of the key.
#[test]
fn what_an_engine_cannot_do_has_a_place() {
    let desk = Desk::new();
    let ecn = "sysctl = { \"net.ipv4.tcp_ecn\" = 1 }\n";
    let text = format!(
        "duration = \"1s\"\n[path]\nrate = \"1Gbit\"\ndelay = {{ forward = \"1ms\", back = \"1ms\" }}\n\
         [hosts.sender]\nkernel = \"3.14\"\n{ecn}[hosts.receiver]\nkernel = \"6.12\"\n{ecn}\
         [[flow]]\nname = \"bulk\"\nduration = \"1s\"\n"
    );
    desk.write("my.toml", &text);
    let call = desk.call(&["run", "my.toml"]).ends_with(2);
    assert_eq!(call.stderr.matches("hosts.sender").count(), 1, "{}", call.stderr);
    let why = "ECN is modelled of 6.1 and later, not of Linux 3.14, which the sender has\n";
    call.complains(&["hosts.sender.sysctl.net.ipv4.tcp_ecn: ", why, "--> my.toml:7:12"]);
}

fn desk() -> Desk {
    let desk = Desk::new();
    let variant = |name: &str, seconds: &str| {
        format!(
            "[[variant]]\nname = \"{name}\"\nset = {{ \"flow.bulk.duration\" = \"{seconds}\" }}\n"
        )
    };
    let all = [("short", "0.1s"), ("too long", "20s"), ("never", "0.1s")];
    let variants: String = all.map(|(name, seconds)| variant(name, seconds)).concat();
    desk.write("my.toml", &format!("{SHORT}\n{variants}"));
    desk
}

#[test]
fn a_failing_run_leaves_those_that_are_done() {
    let desk = desk();
    let call = call(&desk, &CAPTURED).ends_with(3).complains(&[
        "error: too long: ",
        "File too large",
        "1 of 3 runs failed, 1 were not begun; what was done is kept: out\n",
    ]);
    let document = call.json();
    assert_eq!(document["partial"], true);
    assert_eq!(document["missing"], serde_json::json!(["too long", "never"]));
    let runs = document["runs"].as_array().expect("runs");
    assert_eq!((runs.len(), &runs[0]["variant"]), (1, &"short".into()));
    assert_eq!(desk.names("."), ["my.toml", "out", "x-short.pcapng"]);
    assert!(desk.path("out/short/flows.parquet").exists());
    let again = desk.call(&["report", "out"]).ends_with(0).stdout;
    assert!(again.contains("missing: too long; never"), "{again}");
}

/// Of a run whose tables cannot be written nothing is kept.
#[test]
fn tables_that_do_not_fit_leave_the_runs_that_are_done() {
    let desk = desk();
    let text = desk.read("my.toml").replace("\"20s\"", "\"20s\", \"report.sample\" = \"50us\"");
    desk.write("my.toml", &text);
    let call = call(&desk, &[]).ends_with(3);
    let call = call.complains(&["error: too long: ", "File too large", "is kept: out\n"]);
    assert_eq!(call.json()["missing"], serde_json::json!(["too long", "never"]));
    assert_eq!(desk.names("out"), ["report.html", "run.json", "short", "summary.json"]);
}

#[test]
fn a_single_run_that_fails_leaves_no_result() {
    let desk = desk();
    let call = call(&desk, &[&CAPTURED[..], &["--variant", "too long"]].concat()).ends_with(3);
    let call = call.complains(&["error: too long: "]);
    assert!(!call.stderr.contains("kept") && call.stdout.is_empty(), "{}", call.stderr);
    assert_eq!(desk.names("."), ["my.toml"]);
}

#[test]
fn an_engine_is_named_once() {
    let desk = Desk::with_short();
    for engines in [&["--engine", "sim,sim"][..], &["--engine", "sim", "--engine", "sim"]] {
        let call = desk.call(&[&["run", "short.toml", "--out", "out"], engines].concat());
        call.ends_with(2).complains(&["error: --engine names sim twice"]);
    }
    assert_eq!(desk.names("."), ["short.toml"]);
}
