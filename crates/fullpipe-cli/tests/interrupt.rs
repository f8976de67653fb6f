//! Ctrl-C, in a child process.

mod common;
use common::{Call, Desk};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// A run that would take very long.
const LONG: [&str; 4] = ["run", "short.toml", "--set", "flow.bulk.duration=864000s"];

fn start(desk: &Desk, more: &[&str]) -> Child {
    let arguments: Vec<&str> = LONG.iter().chain(more).copied().collect();
    let child = desk.start(&arguments);
    let begun = Instant::now();
    // The hidden directory exists as soon as runs begin.
    while !desk.names(".").iter().any(|name| name.starts_with(".out.")) {
        assert!(begun.elapsed() < Duration::from_secs(30), "the run does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    child
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let status = Command::new("kill").args(["-s", name, &id]).status().expect("kill");
    assert!(status.success());
}

#[test]
fn the_first_signal_keeps_what_there_is_and_marks_it_partial() {
    for name in ["INT", "TERM"] {
        let desk = Desk::with_short();
        let child = start(&desk, &["--out", "out", "--json"]);
        signal(&child, name);
        let call = Call::wait(child).ends_with(130).complains(&["stopping", "results: out"]);
        let document = call.json();
        assert_eq!(document["partial"], true);
        let run = &document["runs"][0];
        assert_eq!(run["partial"], true);
        assert!(run["flows"][0]["intervals"].as_array().expect("intervals").len() > 1);
        assert_eq!(desk.names("."), ["out", "short.toml"]);
        assert!(desk.path("out/base/flows.parquet").exists());
        desk.call(&["report", "out"]).ends_with(0).stdout.lines().any(|l| l.starts_with("PARTIAL"));
    }
}

#[test]
fn runs_that_have_not_begun_are_left_out() {
    let desk = Desk::new();
    let variants = "\n[[variant]]\nname = \"one\"\n[[variant]]\nname = \"two\"\n";
    desk.write("short.toml", &format!("{}{variants}", common::SHORT));
    let child = start(&desk, &["--out", "out", "--json", "--jobs", "1"]);
    signal(&child, "INT");
    let document = Call::wait(child).ends_with(130).json();
    assert_eq!(document["runs"].as_array().expect("runs").len(), 1);
    assert_eq!(document["partial"], true);
}

#[test]
fn the_second_signal_quits_and_leaves_nothing_behind() {
    let desk = Desk::with_short();
    // Samples are so rare that the first signal is not noticed before the second.
    let rare = ["--set", "report.sample=86400s", "--set", "report.interval=86400s", "--out", "out"];
    let child = start(&desk, &rare);
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "INT");
    Call::wait(child).ends_with(130);
    assert_eq!(desk.names("."), ["short.toml"]);
}
