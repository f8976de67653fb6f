//! Ctrl-C, in a child process.

use crate::common;
use crate::common::guests::signal;
use crate::common::{Call, Desk};
use std::process::Child;
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

#[test]
fn the_first_signal_keeps_what_there_is_and_marks_it_partial() {
    for name in ["INT", "TERM"] {
        let desk = Desk::with_short();
        let child = start(&desk, &["--out", "out", "--json"]);
        signal(child.id(), name);
        let call = Call::wait(child).ends_with(130).complains(&["stopping", "results: out"]);
        let document = call.json();
        assert_eq!(document["partial"], true);
        let run = &document["runs"][0];
        assert_eq!(run["partial"], true);
        assert!(run["flows"][0]["intervals"].as_array().expect("intervals").len() > 1);
        assert_eq!(desk.names("."), ["out", "short.toml"]);
        assert!(desk.path("out/base/flows.parquet").exists());
        let text = desk.call(&["report", "out"]).ends_with(0).stdout;
        assert!(text.lines().any(|line| line.starts_with("PARTIAL")), "{text}");
    }
}

#[test]
fn runs_that_have_not_begun_are_left_out() {
    let desk = Desk::new();
    let variants = "\n[[variant]]\nname = \"one\"\n[[variant]]\nname = \"two\"\n";
    desk.write("short.toml", &format!("{}{variants}", common::SHORT));
    let child = start(&desk, &["--out", "out", "--json", "--jobs", "1"]);
    signal(child.id(), "INT");
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
    signal(child.id(), "INT");
    std::thread::sleep(Duration::from_millis(300));
    signal(child.id(), "INT");
    Call::wait(child).ends_with(130);
    assert_eq!(desk.names("."), ["short.toml"]);
}

#[test]
fn what_a_killed_run_left_goes_at_the_next_start() {
    let desk = Desk::with_short();
    let start = |more: &[&str]| {
        let long = ["run", "short.toml", "--quiet", "--set", "flow.bulk.duration=864000s"];
        desk.start(&[&long[..], more].concat())
    };
    let hidden = |directory: &str| {
        desk.names(directory).into_iter().filter(|name| name.starts_with('.')).collect::<Vec<_>>()
    };
    let wait_for = |directory: &str, child: &Child| {
        let begun = Instant::now();
        let name = format!(".{}.tmp", child.id());
        while !desk.path(directory).exists()
            || !hidden(directory).iter().any(|n| n.ends_with(&name))
        {
            assert!(begun.elapsed() < Duration::from_secs(30), "no run begins in {directory}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let (mut killed, mut named) = (start(&[]), start(&["--out", "a"]));
    wait_for("fullpipe-results", &killed);
    wait_for(".", &named);
    for child in [&mut killed, &mut named] {
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
    // not ours: another program's, another result's, a whole result that lacks its name
    for other in
        [".b.1073741824.tmp", ".a.tmp", ".a.1073741824.tmp", "fullpipe-results/.c.1073741824.tmp"]
    {
        std::fs::create_dir(desk.path(other)).expect("a directory");
    }
    desk.write(".a.1073741824.tmp/summary.json", "{}");
    let mut alive = start(&["--out", "a"]);
    wait_for(".", &alive);
    assert_eq!(hidden(".").len(), 4);
    desk.call(&["run", "short.toml", "--out", "a"]).ends_with(0);
    assert_eq!(hidden(".").len(), 4);
    alive.kill().expect("it runs");
    alive.wait().expect("it ends");
    desk.call(&["run", "short.toml"]).ends_with(0);
    assert_eq!(desk.names("fullpipe-results"), ["latest", "short"]);
    desk.call(&["run", "short.toml", "--out", "a2"]).ends_with(0);
    assert_eq!(hidden(".").len(), 4);
    std::fs::remove_dir_all(desk.path("a")).expect("a result");
    desk.call(&["run", "short.toml", "--out", "a"]).ends_with(0);
    assert_eq!(hidden("."), [".a.1073741824.tmp", ".a.tmp", ".b.1073741824.tmp"]);
}
